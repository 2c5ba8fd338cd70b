#include "ref/graph/well_formed.h"

#include <algorithm>
#include <bit>
#include <functional>
#include <limits>

#include "ref/graph/error.h"
#include "ref/graph/schema.h"
#include "ref/graph/text_names.h"

namespace writeback {
namespace {

/// The hashes of names. A table of all names is out of the cache in large programs, bits for their hashes are not: only names whose
/// hashes meet must be compared.
class MetNames {
 public:
  explicit MetNames(std::size_t count) : mask_(std::bit_ceil(16 * (count + 1)) - 1), met_(mask_ + 1), again_(mask_ + 1) {
    hashes_.reserve(count);
  }
  void meet(const std::string& name) {
    const std::size_t hash = std::hash<std::string>()(name) & mask_;
    hashes_.push_back(static_cast<std::uint32_t>(hash));
    if (met_[hash] || name.empty()) again_[hash] = true;
    met_[hash] = true;
  }
  /// The name that was met as the v-th is empty, or may be another's too.
  bool must_look(std::size_t v) const { return again_[hashes_[v]]; }

 private:
  const std::size_t mask_;
  std::vector<bool> met_, again_;
  std::vector<std::uint32_t> hashes_;
};

class Checker {
 public:
  explicit Checker(const Program& program) : program_(program), schemas_(SchemaTable::with(program.schemas)) {
    for (const Target& target : program.targets) {
      found_.push_back(schemas_.find(target));
      const bool complete = target.is_op() && (target.ns == "aten" || target.ns == "prims");
      unknown_.push_back(complete && found_.back() == nullptr);
      getitem_.push_back(target.is_getitem());
    }
  }

  std::vector<Breach> check() {
    check_graph(program_.graph, "");
    check_specs();
    check_mutations();
    check_aliases();
    for (const ShareAllocation& share : program_.share_allocations) check_share(share);
    check_births();
    return std::move(breaches_);
  }

 private:
  void add(BreachKind kind, std::string place, std::string message) {
    breaches_.push_back({kind, std::move(place), std::move(message)});
  }

  // --- one graph ---

  /// One walk over the nodes: a large program is out of the cache.
  void check_graph(const Graph& graph, const std::string& path) {
    MetNames names(graph.value_count());
    for (const Placeholder& p : graph.placeholders) names.meet(p.name);
    bool attributes = false;
    for (std::size_t n = 0; n < graph.nodes.size(); ++n) {
      names.meet(graph.nodes[n].name);
      check_node(graph, n, path);
      attributes = attributes || graph.nodes[n].kind == Node::Kind::get_attr;
    }
    check_names(graph, names, path);
    for (std::size_t i = 0; i < graph.outputs.size(); ++i) {
      for_each_value(graph.outputs[i], [&](ValueId v) {
        if (index_of(v) >= graph.value_count())
          add(BreachKind::value_out_of_range, path + "output " + std::to_string(i), no_such(v));
      });
    }
    if (attributes) check_attributes(graph, path);
    for (const Subgraph& subgraph : graph.subgraphs) check_graph(subgraph.graph, path + subgraph.attribute + ": ");
  }

  void check_names(const Graph& graph, const MetNames& met, const std::string& path) {
    text::Names names;
    for (std::size_t v = 0; v < graph.value_count(); ++v) {
      if (!met.must_look(v)) continue;
      const std::string& name = graph.name_of(value_id(v));
      const bool node = !graph.is_placeholder(value_id(v));
      const auto place = [&] { return path + (node ? "node %" : "placeholder %") + name; };
      if (name.empty())
        add(BreachKind::duplicate_name, place() + "(value " + std::to_string(v) + ")", "expected a name");
      else if (!names.add(name, value_id(v)))
        add(BreachKind::duplicate_name, place(), "another value has the same name");
    }
  }

  void check_node(const Graph& graph, std::size_t n, const std::string& path) {
    const Node& node = graph.nodes[n];
    const auto place = [&] { return path + "node %" + node.name; };
    const std::size_t own = index_of(graph.result_of(node_id(n)));
    const auto check = [&](ValueId v) {
      if (index_of(v) >= graph.value_count())
        add(BreachKind::value_out_of_range, place(), no_such(v));
      else if (index_of(v) >= own)
        add(BreachKind::use_before_definition, place(), "uses %" + graph.name_of(v) + " before its definition");
    };
    for (const Argument& a : node.args) for_each_value(a, check);
    for (const KeywordArgument& a : node.kwargs) for_each_value(a.value, check);
    if (index_of(node.target) >= program_.targets.size()) {
      return add(BreachKind::target_out_of_range, place(),
                 "calls target " + std::to_string(index_of(node.target)) + ", which the program does not have");
    }
    if (node.kind != Node::Kind::call) return;
    if (unknown_[index_of(node.target)]) {
      add(BreachKind::unknown_operator, place(),
          "expected an operator, found " + program_.target(node).qualified_name() + "; a '# schema:' line can tell of it");
    }
    if (getitem_[index_of(node.target)]) check_getitem(graph, node, place);
  }

  static std::string no_such(ValueId v) { return "names value " + std::to_string(index_of(v)) + ", which the graph does not have"; }

  template <typename Place>
  void check_getitem(const Graph& graph, const Node& node, const Place& place) {
    const ValueId* of = node.args.size() == 2 ? as_value(node.args[0]) : nullptr;
    const std::int64_t* index = node.args.size() == 2 ? as_int(node.args[1]) : nullptr;
    if (of == nullptr || index == nullptr || *index < 0) {
      return add(BreachKind::getitem_index, place(), "expected getitem(value, number from 0)");
    }
    if (index_of(*of) >= graph.value_count() || graph.is_placeholder(*of)) return;
    const std::optional<std::size_t> count = result_count(graph.node(graph.producer_of(*of)));
    if (!count || static_cast<std::size_t>(*index) < *count) return;
    add(BreachKind::getitem_index, place(),
        "picks result " + std::to_string(*index) + " of %" + graph.name_of(*of) + ", which has " + std::to_string(*count));
  }

  /// nullopt where the results are a list, or nothing is known of the op.
  std::optional<std::size_t> result_count(const Node& node) const {
    const std::size_t target = index_of(node.target);
    if (node.kind != Node::Kind::call || target >= found_.size() || found_[target] == nullptr) return std::nullopt;
    const auto& returns = found_[target]->returns;
    if (returns.size() == 1) return std::nullopt;
    return returns.size();
  }

  /// A module that the text does not show may stand as an argument of a higher-order op, which is opaque then, and nowhere else.
  /// An attribute that is told to be a tensor is a constant.
  void check_attributes(const Graph& graph, const std::string& path) {
    std::vector<bool> unknown(graph.value_count(), false);
    for (std::size_t n = 0; n < graph.nodes.size(); ++n) {
      const Node& node = graph.nodes[n];
      if (node.kind != Node::Kind::get_attr || index_of(node.target) >= program_.targets.size()) continue;
      const std::string& attribute = program_.target(node).name;
      const auto same = [&](const Subgraph& s) { return s.attribute == attribute; };
      const bool constant = tensor_meta(node.meta) != nullptr;
      unknown[index_of(graph.result_of(node_id(n)))] =
          !constant && std::none_of(graph.subgraphs.begin(), graph.subgraphs.end(), same);
    }
    if (std::find(unknown.begin(), unknown.end(), true) == unknown.end()) return;
    const auto report = [&](const std::string& place) {
      return [&, place](ValueId v) {
        if (index_of(v) >= unknown.size() || !unknown[index_of(v)]) return;
        add(BreachKind::unknown_subgraph, path + place,
            "takes %" + graph.name_of(v) + ", an attribute that the program does not have");
      };
    };
    for (const Node& node : graph.nodes) {
      if (index_of(node.target) >= program_.targets.size() || program_.target(node).kind == Target::Kind::higher_order) continue;
      const auto check = report("node %" + node.name);
      for (const Argument& a : node.args) for_each_value(a, check);
      for (const KeywordArgument& a : node.kwargs) for_each_value(a.value, check);
    }
    for (std::size_t i = 0; i < graph.outputs.size(); ++i) for_each_value(graph.outputs[i], report("output " + std::to_string(i)));
  }

  // --- specs ---

  void check_specs() {
    const auto check = [&](std::string place, std::size_t specs, std::size_t values, const char* what) {
      if (specs == values) return;
      add(BreachKind::spec_count_mismatch, std::move(place),
          "expected " + std::to_string(values) + " specs, one for each " + what + ", found " + std::to_string(specs));
    };
    check("input specs", program_.input_specs.size(), program_.graph.placeholders.size(), "placeholder");
    check("output specs", program_.output_specs.size(), program_.graph.outputs.size(), "output");
  }

  void check_mutations() {
    const std::size_t count = std::min(program_.output_specs.size(), program_.graph.outputs.size());
    const auto placeholders = placeholders_of_outputs(program_);
    for (std::size_t i = 0; i < count; ++i) {
      const OutputSpec& spec = program_.output_specs[i];
      if (!is_mutation(spec.kind)) continue;
      const std::string place = "output " + std::to_string(i);
      if (!placeholders[i]) {
        add(BreachKind::mutation_of_unknown_target, place, "mutates '" + spec.target + "', which is no input of the program");
      }
      if (as_value(program_.graph.outputs[i]) == nullptr) {
        add(BreachKind::mutation_output_is_no_value, place, "a mutation of '" + spec.target + "' must be a value of the graph");
      }
    }
  }

  // --- annotations ---

  void check_aliases() {
    std::vector<bool> grouped(program_.graph.placeholders.size(), false);
    for (const auto& group : program_.alias_groups) {
      for (const AliasMember& member : group) {
        if (index_of(member.value) >= grouped.size()) {
          add(BreachKind::alias_of_unknown_value, "alias group",
              "value " + std::to_string(index_of(member.value)) + " is no placeholder");
          continue;
        }
        const std::string place = "alias of %" + program_.graph.name_of(member.value);
        if (grouped[index_of(member.value)])
          add(BreachKind::alias_of_unknown_value, place, "stands in two places of the alias groups");
        grouped[index_of(member.value)] = true;
        if (member.geometry) check_geometry(*member.geometry, tensor_meta(program_.graph.meta_of(member.value)), place);
      }
    }
  }

  void check_geometry(const AliasMember::Geometry& geometry, const TensorMeta* meta, const std::string& place) {
    const auto fail = [&](const std::string& message) { add(BreachKind::alias_geometry, place, message); };
    if (geometry.sizes.size() != geometry.strides.size()) return fail("expected as many strides as sizes");
    const auto negative = [](std::int64_t number) { return number < 0; };
    if (geometry.offset < 0 || std::any_of(geometry.sizes.begin(), geometry.sizes.end(), negative) ||
        std::any_of(geometry.strides.begin(), geometry.strides.end(), negative)) {
      return fail("expected an offset, sizes and strides from 0");
    }
    __int128 last = geometry.offset;
    for (std::size_t i = 0; i < geometry.sizes.size(); ++i) {
      last += __int128(std::max<std::int64_t>(geometry.sizes[i], 1) - 1) * geometry.strides[i];
      if (last > std::numeric_limits<std::int64_t>::max()) return fail("expected a region within the range of int64");
    }
    if (meta == nullptr) return;
    bool same = meta->sizes.size() == geometry.sizes.size();
    for (std::size_t i = 0; same && i < meta->sizes.size(); ++i) {
      same = !meta->sizes[i].is_number() || meta->sizes[i].number() == geometry.sizes[i];
    }
    if (!same) fail("expected the sizes of the placeholder");
  }

  void check_share(const ShareAllocation& share) {
    const Graph& graph = program_.graph;
    if (index_of(share.node) >= graph.nodes.size()) {
      return add(BreachKind::share_allocation_argument, "share_alloc",
                 "node " + std::to_string(index_of(share.node)) + " does not exist");
    }
    const Node& node = graph.node(share.node);
    if (share.argument < node.args.size() && as_value(node.args[share.argument]) != nullptr) return;
    add(BreachKind::share_allocation_argument, "node %" + node.name,
        "expected a value as positional argument " + std::to_string(share.argument));
  }

  void check_births() {
    std::vector<bool> born(program_.graph.nodes.size(), false);
    for (const Birth& birth : program_.births) {
      const bool fits = index_of(birth.node) < born.size() && !born[index_of(birth.node)] &&
                        index_of(birth.target) < program_.graph.placeholders.size();
      if (!fits) {
        add(BreachKind::birth_in_no_placeholder, "born_in",
            "expected a node, named once, and a placeholder, found node " + std::to_string(index_of(birth.node)) + " and value " +
                std::to_string(index_of(birth.target)));
      } else {
        born[index_of(birth.node)] = true;
      }
    }
  }

  const Program& program_;
  SchemaTable schemas_;
  std::vector<const Schema*> found_;     ///< by target
  std::vector<bool> unknown_, getitem_;  ///< by target: an operator of a complete table that is not in it; a getitem
  std::vector<Breach> breaches_;
};

}  // namespace

std::string_view name_of(BreachKind kind) {
  switch (kind) {
    case BreachKind::duplicate_name:
      return "duplicate name";
    case BreachKind::use_before_definition:
      return "use before definition";
    case BreachKind::value_out_of_range:
      return "value out of range";
    case BreachKind::spec_count_mismatch:
      return "spec count mismatch";
    case BreachKind::mutation_of_unknown_target:
      return "mutation of unknown target";
    case BreachKind::mutation_output_is_no_value:
      return "mutation output is no value";
    case BreachKind::getitem_index:
      return "getitem index";
    case BreachKind::unknown_subgraph:
      return "unknown subgraph";
    case BreachKind::unknown_operator:
      return "unknown operator";
    case BreachKind::alias_of_unknown_value:
      return "alias of unknown value";
    case BreachKind::alias_geometry:
      return "alias geometry";
    case BreachKind::share_allocation_argument:
      return "share allocation argument";
    case BreachKind::birth_in_no_placeholder:
      return "birth in no placeholder";
    case BreachKind::target_out_of_range:
      return "target out of range";
  }
  return "";
}

std::vector<Breach> breaches(const Program& program) { return Checker(program).check(); }

void require_well_formed(const Program& program) {
  const std::vector<Breach> all = breaches(program);
  if (!all.empty()) throw InputError(all[0].place, std::string(name_of(all[0].kind)) + ": " + all[0].message);
}

}  // namespace writeback
