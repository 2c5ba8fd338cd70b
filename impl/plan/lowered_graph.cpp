#include "impl/plan/lowered_graph.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <set>

#include "impl/plan/executorch.h"
#include "ref/graph/effects.h"
#include "ref/graph/region.h"
#include "ref/graph/schema.h"
#include "ref/graph/view_geometry.h"

namespace writeback::impl::plan {
namespace {

constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();

bool is_aten(const Target& t, std::string_view name) { return t.is_op() && t.ns == "aten" && t.name == name; }

/// Ops that vanish before planning (RemoveGraphAsserts).
bool is_removed_assert(const Target& t) {
  static const std::set<std::string_view> names{"_assert_async", "_assert_scalar", "_assert_tensor_metadata", "sym_constrain_range",
                                                "sym_constrain_range_for_size"};
  return t.is_op() && t.ns == "aten" && names.count(t.name) > 0;
}

/// ExecuTorch tells in-place ops by their name: one underscore at the end, and a first argument that is written.
bool is_in_place(const Target& t, const Schema* schema) {
  if (!t.is_op() || t.name.size() < 2 || t.name.back() != '_' || t.name[t.name.size() - 2] == '_') return false;
  if (schema == nullptr || schema->arguments.empty()) return is_aten(t, "copy_");
  const auto& alias = schema->arguments.front().type.alias;
  return alias && alias->write;
}

/// The bytes of a tensor with every symbol at its upper bound; nullopt where it has none.
std::optional<std::int64_t> bytes_of(const TensorMeta& meta, const std::map<std::string, SymRange>& ranges,
                                     const std::map<std::string, std::int64_t>& symbols) {
  constexpr std::int64_t kMost = std::int64_t{1} << 50;
  std::map<std::string, SymRange> given = ranges;
  for (const auto& [name, value] : symbols) given[name] = {value, value};
  std::int64_t bytes = static_cast<std::int64_t>(byte_size(meta.dtype));
  for (const SymInt& size : meta.sizes) {
    const std::int64_t upper = size.is_number() ? size.number() : size.bounds(given).max;
    if (upper < 0 || upper > kMost) return std::nullopt;
    if (upper != 0 && bytes > kMost / upper) return std::nullopt;
    bytes *= upper;
  }
  return bytes;
}

std::vector<std::string> all_schemas(const Program& program, const Options& options) {
  std::vector<std::string> lines = program.schemas;
  lines.insert(lines.end(), options.schemas.begin(), options.schemas.end());
  return lines;
}

/// Lowers one graph. Nodes are known by ValueId of the source graph until the end.
class Lowering {
 public:
  Lowering(const Program& program, const Graph& graph, bool top, const Options& options, const LoweringInput& input)
      : program_(program),
        graph_(graph),
        top_(top),
        options_(options),
        input_(input),
        schemas_(SchemaTable::with(all_schemas(program, options))),
        node_of_(graph.value_count(), kNone) {}

  LoweredGraph run() {
    if (top_) effects_.emplace(program_, options_);
    find_view_bases();
    find_live();
    find_elements();
    for (std::size_t i = 0; i < graph_.placeholders.size(); ++i) add_placeholder(i);
    for (std::size_t n = 0; n < graph_.nodes.size(); ++n) {
      if (live_[graph_.placeholders.size() + n]) add_node(node_id(n));
    }
    add_output();
    if (lowers()) share_allocations();
    return std::move(result_);
  }

 private:
  const Target& target(ValueId v) const { return program_.target(graph_.node(graph_.producer_of(v))); }
  bool lowers() const { return options_.lowering == writeback::Lowering::executorch; }
  /// A view_copy that later passes turn into a view.
  bool is_view_copy(ValueId v) const { return lowers() && !graph_.is_placeholder(v) && is_aten(target(v), "view_copy"); }

  /// A view_copy of a view_copy reads the first one that is none (NormalizeViewCopyBasePass).
  void find_view_bases() {
    base_.resize(graph_.value_count());
    for (std::size_t i = 0; i < graph_.value_count(); ++i) {
      const ValueId v = value_id(i);
      base_[i] = v;
      if (!is_view_copy(v)) continue;
      const auto& args = graph_.node(graph_.producer_of(v)).args;
      const ValueId* base = args.empty() ? nullptr : as_value(args[0]);
      if (base != nullptr) base_[i] = is_view_copy(*base) ? base_[index_of(*base)] : *base;
    }
  }

  /// Calls f for the values that a node uses once chains are re-based.
  template <typename F>
  void for_each_use(NodeId n, F f) const {
    const Node& node = graph_.node(n);
    const ValueId v = graph_.result_of(n);
    if (is_view_copy(v)) return f(base_[index_of(v)]);
    for (const Argument& a : node.args) for_each_value(a, f);
    for (const KeywordArgument& a : node.kwargs) for_each_value(a.value, f);
  }

  void find_live() {
    live_.assign(graph_.value_count(), false);
    is_output_.assign(graph_.value_count(), false);
    for (const Argument& a : graph_.outputs) {
      for_each_value(a, [&](ValueId v) { live_[index_of(v)] = is_output_[index_of(v)] = true; });
    }
    for (std::size_t n = graph_.nodes.size(); n-- > 0;) {
      const ValueId v = graph_.result_of(node_id(n));
      const Target& t = program_.target(graph_.nodes[n]);
      if (graph_.nodes[n].kind == Node::Kind::call && (is_in_place(t, schemas_.find(t)) || writes(node_id(n))))
        live_[index_of(v)] = true;
      if (is_removed_assert(t)) live_[index_of(v)] = false;
      if (live_[index_of(v)]) for_each_use(node_id(n), [&](ValueId u) { live_[index_of(u)] = true; });
    }
  }

  bool writes(NodeId n) const {
    return effects_ && std::ranges::any_of(effects_->operands(n), [](const OperandEffect& o) { return o.writes; });
  }

  /// The storages in which the node's results may lie besides fresh ones. Edge programs have none but in-place results: this is for
  /// programs that were not made for ExecuTorch.
  std::vector<std::uint32_t> borrowed_specs(NodeId n) const {
    std::vector<std::uint32_t> specs;
    if (!effects_) return specs;
    for (const ResultEffect& r : effects_->results(n)) {
      for (const std::uint32_t o : r.operands) {
        for (const std::uint32_t s : specs_of(effects_->operands(n)[o].value)) {
          if (std::ranges::find(specs, s) == specs.end()) specs.push_back(s);
        }
      }
    }
    return specs;
  }

  /// No result can be fresh: true views, out= ops.
  bool only_borrows(NodeId n) const {
    const auto is_fresh = [](const ResultEffect& r) {
      return r.kind == ResultKind::fresh || r.kind == ResultKind::may_alias || r.kind == ResultKind::opaque;
    };
    return effects_ && !effects_->results(n).empty() && std::ranges::none_of(effects_->results(n), is_fresh) &&
           std::ranges::any_of(effects_->results(n), [](const ResultEffect& r) { return r.kind != ResultKind::none; });
  }

  /// The metadata of the elements of tuple results: from the getitem nodes that pick them, and for what nobody picks of a split's
  /// copy from its geometry.
  void find_elements() {
    for (std::size_t n = 0; n < graph_.nodes.size() && top_; ++n) find_parts(node_id(n));
    for (const Node& node : graph_.nodes) {
      if (!program_.target(node).is_getitem() || node.args.size() != 2) continue;
      const ValueId* of = as_value(node.args[0]);
      const std::int64_t* index = as_int(node.args[1]);
      const TensorMeta* meta = tensor_meta(node.meta);
      if (of != nullptr && index != nullptr && meta != nullptr && *index >= 0 && *index < 4096) elements_[*of][*index] = *meta;
    }
  }

  void find_parts(NodeId n) {
    const Node& node = graph_.node(n);
    const ValueId* of = node.args.empty() ? nullptr : as_value(node.args[0]);
    const TensorMeta* base = of == nullptr ? nullptr : tensor_meta(graph_.meta_of(*of));
    if (base == nullptr || !std::ranges::all_of(base->sizes, &SymInt::is_number)) return;
    std::vector<std::int64_t> sizes;
    for (const SymInt& size : base->sizes) sizes.push_back(size.number());
    const Region whole = Region::contiguous(std::move(sizes));
    const std::int64_t count = view_count(program_, n, whole).value_or(0);
    for (std::int64_t i = 0; i < count; ++i) {
      const std::optional<Region> part = view_region(program_, n, whole, i);
      if (part) elements_[graph_.result_of(n)][i] = {base->dtype, {part->sizes.begin(), part->sizes.end()}, {}, 0, {}};
    }
  }

  std::uint32_t add_spec(std::string name, const TensorMeta* meta, bool constant) {
    Spec spec{std::move(name), 0, constant, false, false, std::nullopt};
    if (meta != nullptr) {
      const std::optional<std::int64_t> bytes = bytes_of(*meta, program_.range_constraints, input_.symbols);
      spec.unbounded = !bytes;
      spec.bytes = bytes.value_or(0);
    }
    result_.specs.push_back(std::move(spec));
    return static_cast<std::uint32_t>(result_.specs.size() - 1);
  }

  std::uint32_t push(LoweredNode node) {
    result_.nodes.push_back(std::move(node));
    return static_cast<std::uint32_t>(result_.nodes.size() - 1);
  }

  std::vector<std::uint32_t> specs_of(ValueId v) const {
    const std::uint32_t n = node_of_[index_of(v)];
    return n == kNone ? std::vector<std::uint32_t>{} : result_.nodes[n].specs;
  }

  void add_placeholder(std::size_t i) {
    LoweredNode node;
    node.kind = LoweredNode::Kind::placeholder;
    node.name = graph_.placeholders[i].name;
    bool constant = false;
    if (top_) {
      const InputSpec& spec = program_.input_specs[i];
      node.user_input = spec.kind == InputKind::user_input;
      node.mutable_buffer = spec.kind == InputKind::buffer && is_mutated(OutputKind::buffer_mutation, spec.target);
      node.mutated_input = node.user_input && is_mutated(OutputKind::user_input_mutation, node.name);
      constant = !node.user_input && !node.mutable_buffer;
    }
    if (!top_) node.mutable_buffer = is_mutable_buffer_by_name(node.name);
    if (const std::optional<std::uint32_t> shared = spec_of_group(i)) {
      node.specs = {*shared};
      result_.specs[*shared].constant = result_.specs[*shared].constant && constant;
    } else if (const TensorMeta* meta = tensor_meta(graph_.placeholders[i].meta)) {
      node.specs = {add_spec(node.name, meta, constant)};
      result_.specs.back().bytes = std::max(result_.specs.back().bytes, bytes_of_group(i, byte_size(meta->dtype)));
    }
    node_of_[i] = push(std::move(node));
  }

  const std::vector<AliasMember>* group_of(std::size_t placeholder) const {
    if (!top_ || input_.fidelity == Fidelity::released) return nullptr;  // ExecuTorch gives each buffer a storage of its own
    for (const auto& group : program_.alias_groups) {
      const auto is_it = [&](const AliasMember& m) { return index_of(m.value) == placeholder; };
      if (std::ranges::any_of(group, is_it)) return &group;
    }
    return nullptr;
  }

  /// The storage of an earlier placeholder with which this one shares it.
  std::optional<std::uint32_t> spec_of_group(std::size_t placeholder) const {
    const std::vector<AliasMember>* group = group_of(placeholder);
    for (std::size_t m = 0; group != nullptr && m < group->size(); ++m) {
      const ValueId other = (*group)[m].value;
      if (index_of(other) < placeholder && specs_of(other).size() == 1) return specs_of(other)[0];
    }
    return std::nullopt;
  }

  /// From the beginning of the storage to the end of the last member that tells where it lies.
  std::int64_t bytes_of_group(std::size_t placeholder, std::size_t element) const {
    const std::vector<AliasMember>* group = group_of(placeholder);
    std::int64_t bytes = 0;
    for (std::size_t m = 0; group != nullptr && m < group->size(); ++m) {
      const auto& g = (*group)[m].geometry;
      if (g) bytes = std::max(bytes, Region{g->offset, g->sizes, g->strides}.end() * static_cast<std::int64_t>(element));
    }
    return bytes;
  }

  /// ExecuTorch asks the program's signature about the placeholders of branches too: one that bears the name of a mutated buffer
  /// is taken for it, and planned.
  bool is_mutable_buffer_by_name(const std::string& name) const {
    const auto& placeholders = program_.graph.placeholders;
    for (std::size_t i = 0; i < placeholders.size(); ++i) {
      const InputSpec& spec = program_.input_specs[i];
      if (placeholders[i].name == name)
        return spec.kind == InputKind::buffer && is_mutated(OutputKind::buffer_mutation, spec.target);
    }
    return false;
  }

  bool is_mutated(OutputKind kind, const std::string& name) const {
    return std::any_of(program_.output_specs.begin(), program_.output_specs.end(),
                       [&](const OutputSpec& o) { return o.kind == kind && o.target == name; });
  }

  std::vector<std::uint32_t> used_nodes(NodeId n) const {
    std::vector<std::uint32_t> uses;
    for_each_use(n, [&](ValueId v) {
      if (node_of_[index_of(v)] != kNone) uses.push_back(node_of_[index_of(v)]);
    });
    return uses;
  }

  void add_node(NodeId n) {
    const Node& node = graph_.node(n);
    const Target& t = program_.target(node);
    const ValueId v = graph_.result_of(n);
    const Schema* schema = schemas_.find(t);
    LoweredNode lowered;
    lowered.name = node.name;
    lowered.uses = used_nodes(n);
    if (node.kind == Node::Kind::get_attr) {
      lowered.kind = LoweredNode::Kind::other;
    } else if (t.is_getitem()) {
      lowered.specs = picked_spec(node);
    } else if (is_in_place(t, schema)) {
      lowered.kind = LoweredNode::Kind::in_place;
      const ValueId* self = node.args.empty() ? nullptr : as_value(node.args[0]);
      if (self != nullptr) lowered.specs = specs_of(*self);
    } else if (is_view_copy(v) && !is_output_[index_of(v)]) {
      lowered.kind = LoweredNode::Kind::view;
      lowered.specs = specs_of(base_[index_of(v)]);
    } else if (t.kind == Target::Kind::higher_order) {
      lowered.specs = result_specs(n, nullptr);
      for (const std::uint32_t s : borrowed_specs(n)) lowered.specs.push_back(s);
      reserve_for_branches(node);
    } else if (only_borrows(n)) {  // values born in an input's storage too
      lowered.kind = LoweredNode::Kind::op;
      lowered.specs = borrowed_specs(n);
    } else if (t.is_op()) {
      return add_op(n, schema, std::move(lowered));
    }
    node_of_[index_of(v)] = push(std::move(lowered));
  }

  std::vector<std::uint32_t> picked_spec(const Node& getitem) const {
    const ValueId* of = as_value(getitem.args[0]);
    const std::int64_t* index = as_int(getitem.args[1]);
    if (of == nullptr || index == nullptr) return {};
    std::vector<std::uint32_t> all = specs_of(*of);
    if (!graph_.is_placeholder(*of) && effects_ && !borrowed_specs(graph_.producer_of(*of)).empty()) return all;
    if (*index < 0 || static_cast<std::size_t>(*index) >= all.size()) return {};
    return {all[static_cast<std::size_t>(*index)]};
  }

  /// One alloc per tensor that the schema returns; one alloc with all specs where it returns a list.
  void add_op(NodeId n, const Schema* schema, LoweredNode op) {
    op.kind = LoweredNode::Kind::op;
    op.specs = result_specs(n, schema);
    const bool list = schema != nullptr && schema->returns.size() == 1 && schema->returns[0].type.is_list();
    std::vector<std::vector<std::uint32_t>> allocs;
    if (list) {
      allocs.push_back(op.specs);
    } else {
      for (std::uint32_t s : op.specs) allocs.push_back({s});
    }
    for (std::vector<std::uint32_t>& specs : allocs) {
      if (specs.empty()) continue;
      LoweredNode alloc;
      alloc.kind = LoweredNode::Kind::alloc;
      alloc.name = op.name;
      alloc.specs = std::move(specs);
      op.uses.push_back(push(std::move(alloc)));
    }
    for (const std::uint32_t s : borrowed_specs(n)) op.specs.push_back(s);
    node_of_[index_of(graph_.result_of(n))] = push(std::move(op));
  }

  std::size_t result_count(const Schema* schema, const std::map<std::int64_t, TensorMeta>& elements) const {
    std::size_t count = elements.empty() ? 0 : static_cast<std::size_t>(elements.rbegin()->first) + 1;
    if (schema == nullptr || (schema->returns.size() == 1 && schema->returns[0].type.is_list())) return count;
    return std::max<std::size_t>(count, schema->returns.size());
  }

  std::vector<std::uint32_t> result_specs(NodeId n, const Schema* schema) {
    const Node& node = graph_.node(n);
    if (const TensorMeta* meta = tensor_meta(node.meta)) return {add_spec(node.name, meta, false)};
    const auto found = elements_.find(graph_.result_of(n));
    const bool one_number = schema != nullptr && schema->returns.size() == 1 && !schema->returns[0].type.is_tensor();
    if (one_number || std::holds_alternative<SymScalarMeta>(node.meta)) return {};
    const std::map<std::int64_t, TensorMeta> elements =
        found == elements_.end() ? std::map<std::int64_t, TensorMeta>{} : found->second;
    std::vector<std::uint32_t> specs;
    for (std::size_t i = 0; i < result_count(schema, elements); ++i) {
      const auto element = elements.find(static_cast<std::int64_t>(i));
      if (element == elements.end())
        result_.warnings.push_back(fmt::format("the size of result {} of %{} is not told", i, node.name));
      specs.push_back(add_spec(fmt::format("{}[{}]", node.name, i), element == elements.end() ? nullptr : &element->second, false));
    }
    return specs;
  }

  /// Branches are planned on their own, without their inputs; the largest is put in front of this graph's arena.
  void reserve_for_branches(const Node& node) {
    const auto reserve = [&](ValueId v) {
      if (graph_.is_placeholder(v) || graph_.node(graph_.producer_of(v)).kind != Node::Kind::get_attr) return;
      const std::string& attribute = target(v).name;
      for (const Subgraph& sub : graph_.subgraphs) {
        if (sub.attribute != attribute) continue;
        LoweredGraph branch = Lowering(program_, sub.graph, false, options_, input_).run();
        ExecutorchPlan plan = executorch_greedy(branch, {input_.fidelity, input_.alignment, false});
        result_.reserved = std::max(result_.reserved, plan.total);
        result_.warnings.insert(result_.warnings.end(), branch.warnings.begin(), branch.warnings.end());
      }
    };
    for (const Argument& a : node.args) for_each_value(a, reserve);
  }

  bool names_copy(std::size_t output) const {
    if (!top_ || !is_mutation(program_.output_specs[output].kind)) return false;
    const ValueId* v = as_value(graph_.outputs[output]);
    return v != nullptr && !graph_.is_placeholder(*v) && is_aten(target(*v), "copy_");
  }

  /// The output node lists the copies first, then all others; a copy's result brings a spec of its own that nobody uses.
  void add_output() {
    LoweredNode output;
    output.kind = LoweredNode::Kind::output;
    output.name = "output";
    for (const bool copies : {true, false}) {
      for (std::size_t i = 0; i < graph_.outputs.size(); ++i) {
        if (names_copy(i) != copies) continue;
        for_each_value(graph_.outputs[i], [&](ValueId v) { add_output_value(output, v, copies); });
      }
    }
    push(std::move(output));
  }

  void add_output_value(LoweredNode& output, ValueId v, bool copy) {
    const std::uint32_t n = node_of_[index_of(v)];
    if (n == kNone) return;
    output.uses.push_back(n);
    const bool in_place = result_.nodes[n].kind == LoweredNode::Kind::in_place;
    if (input_.fidelity == Fidelity::released && (copy || in_place)) {
      const std::uint32_t stale = add_spec(result_.nodes[n].name, tensor_meta(graph_.meta_of(v)), false);
      result_.specs[stale].stale = true;
      output.specs.push_back(stale);
    } else {
      output.specs.insert(output.specs.end(), result_.nodes[n].specs.begin(), result_.nodes[n].specs.end());
    }
  }

  void share_allocations() {
    if (!top_) return;
    for (const ShareAllocation& share : program_.share_allocations) {
      const Node& node = graph_.node(share.node);
      if (share.argument >= node.args.size()) continue;
      const ValueId* base = as_value(node.args[share.argument]);
      const std::vector<std::uint32_t> mine = specs_of(graph_.result_of(share.node));
      if (base == nullptr || mine.size() != 1 || specs_of(*base).size() != 1) continue;
      result_.specs[mine[0]].shares = specs_of(*base)[0];
    }
  }

  const Program& program_;
  const Graph& graph_;
  bool top_;
  const Options& options_;
  const LoweringInput& input_;
  SchemaTable schemas_;
  std::optional<Effects> effects_;  ///< of the top graph
  std::vector<ValueId> base_;
  std::vector<bool> live_, is_output_;
  std::map<ValueId, std::map<std::int64_t, TensorMeta>> elements_;
  std::vector<std::uint32_t> node_of_;
  LoweredGraph result_;
};

/// True where the released pass takes the value for the buffer (or user input) itself.
bool is_in_place_lineage(const Program& program, ValueId v, OutputKind kind) {
  const Graph& graph = program.graph;
  while (!graph.is_placeholder(v)) {
    const Node& node = graph.node(graph.producer_of(v));
    const Target& t = program.target(node);
    const ValueId* self = node.args.empty() ? nullptr : as_value(node.args[0]);
    if (self == nullptr || !is_in_place(t, SchemaTable::builtin().find(t))) return false;
    v = *self;
  }
  const InputKind input = program.input_specs[index_of(v)].kind;
  return kind == OutputKind::buffer_mutation ? input == InputKind::buffer : input == InputKind::user_input;
}

}  // namespace

LoweredGraph lower(const Program& placed, const Options& options, const LoweringInput& input) {
  return Lowering(placed, placed.graph, true, options, input).run();
}

Placement released_placement(const Program& program) {
  Placement placement = end_placement(program);
  const std::vector<WriteBack> all = write_backs(program);
  for (std::size_t i = 0; i < all.size(); ++i) {
    const OutputKind kind = program.output_specs[all[i].output].kind;
    placement.copies[i].in_place = kind == OutputKind::parameter_mutation || is_in_place_lineage(program, all[i].value, kind);
  }
  return placement;
}

}  // namespace writeback::impl::plan
