// Between a placement (slots) and a program with explicit copies (nodes). A copy is `aten.copy_.default(target, source)`, a
// temporary `aten.clone.default(value)`. Nodes keep their names; what is inserted takes names as torch.fx would give them.
//
// Reading back, nodes of the two programs are matched by name, so a program whose other nodes were renamed, removed or changed is
// not a placement; it may still have the same meaning, which is for the reference to say.
#include "ref/graph/placement.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <tuple>
#include <unordered_map>
#include <unordered_set>

#include "ref/graph/rebound.h"
#include "ref/graph/region.h"
#include "ref/graph/renumber.h"

namespace writeback {
namespace {

constexpr std::uint32_t kNowhere = ~std::uint32_t{0};

Target copy_target() { return {Target::Kind::op, "aten", "copy_", "default"}; }
Target clone_target() { return {Target::Kind::op, "aten", "clone", "default"}; }

/// Names in use, and torch.fx's way to make new ones: `copy_`, then `copy__1`, `copy__2`.
class Names {
 public:
  explicit Names(const Graph& graph) {
    for (std::size_t v = 0; v < graph.value_count(); ++v) used_.insert(graph.name_of(value_id(v)));
    for (const Subgraph& s : graph.subgraphs) used_.insert(s.attribute);
  }

  std::string fresh(const std::string& wanted) {
    std::string name = wanted;
    for (std::size_t& k = next_[wanted]; !used_.insert(name).second;) name = fmt::format("{}_{}", wanted, ++k);
    return name;
  }

 private:
  std::unordered_set<std::string> used_;
  std::unordered_map<std::string, std::size_t> next_;
};

/// clone keeps the strides of a dense tensor and makes any other contiguous.
ValueMeta meta_of_clone(ValueMeta meta) {
  auto* tensor = std::get_if<TensorMeta>(&meta);
  if (tensor == nullptr) return meta;
  tensor->storage_offset = 0;
  Region region;
  for (const SymInt& size : tensor->sizes) {
    if (!size.is_number()) return meta;
    region.sizes.push_back(size.number());
  }
  for (const SymInt& stride : tensor->strides.value_or(std::vector<SymInt>{}))
    region.strides.push_back(stride.is_number() ? stride.number() : 0);
  const bool dense = region.strides.size() == region.sizes.size() && region.end() == region.numel() && !region.overlaps_itself();
  if (!dense) tensor->strides.reset();
  return meta;
}

/// How often nodes and outputs other than mutations use each value.
std::vector<std::uint32_t> uses_of_values(const Program& program) {
  std::vector<std::uint32_t> uses(program.graph.value_count(), 0);
  const auto count = [&](ValueId v) { ++uses[index_of(v)]; };
  for (const Node& node : program.graph.nodes) {
    for (const Argument& a : node.args) for_each_value(a, count);
    for (const KeywordArgument& a : node.kwargs) for_each_value(a.value, count);
  }
  for (std::size_t i = 0; i < program.graph.outputs.size(); ++i) {
    if (i >= program.output_specs.size() || !is_mutation(program.output_specs[i].kind))
      for_each_value(program.graph.outputs[i], count);
  }
  return uses;
}

/// One node to insert: a copy or a temporary.
struct Insertion {
  Position at;
  bool is_copy = false;
  std::uint32_t index = 0;  ///< of the write-back or the temporary
};

std::vector<Insertion> insertions_in_order(const Placement& placement) {
  std::vector<Insertion> all;
  for (std::uint32_t i = 0; i < placement.temporaries.size(); ++i) all.push_back({placement.temporaries[i].at, false, i});
  for (std::uint32_t i = 0; i < placement.copies.size(); ++i) {
    if (!placement.copies[i].in_place) all.push_back({placement.copies[i].at, true, i});
  }
  std::sort(all.begin(), all.end(), [](const Insertion& a, const Insertion& b) {
    return std::tie(a.at, a.is_copy, a.index) < std::tie(b.at, b.is_copy, b.index);
  });
  return all;
}

/// The index of every value of the graph once the insertions stand in it.
std::vector<std::uint32_t> index_after(const Graph& graph, const std::vector<Insertion>& insertions) {
  std::vector<std::uint32_t> index(graph.placeholders.size());
  std::iota(index.begin(), index.end(), 0);
  std::uint32_t inserted = 0;
  for (std::size_t n = 0; n < graph.nodes.size(); ++n) {
    while (inserted < insertions.size() && index_of(insertions[inserted].at.slot) <= n) ++inserted;
    index.push_back(static_cast<std::uint32_t>(graph.placeholders.size() + n) + inserted);
  }
  return index;
}

Node call(TargetId target, std::string name, std::vector<Argument> args, ValueMeta meta) {
  Node node;
  node.target = target;
  node.name = std::move(name);
  node.args = std::move(args);
  node.meta = std::move(meta);
  return node;
}

const ValueId* value_argument(const Node& node, std::size_t position, std::string_view name) {
  const Argument* a = argument_of(node, position, name);
  return a == nullptr ? nullptr : as_value(*a);
}

bool calls(const Program& program, const Node& node, const Target& op) {
  const Target& t = program.target(node);
  return node.kind == Node::Kind::call && t.is_op() && t.ns == op.ns && t.name == op.name && t.overload == op.overload;
}

struct CopyNode {
  NodeId node{};
  ValueId target{}, source{};
};

/// The node as a copy_ into a placeholder.
std::optional<CopyNode> copy_into_placeholder(const Program& program, NodeId n) {
  const Node& node = program.graph.node(n);
  if (!calls(program, node, copy_target())) return std::nullopt;
  const ValueId *self = value_argument(node, 0, "self"), *source = value_argument(node, 1, "src");
  if (self == nullptr || source == nullptr || !program.graph.is_placeholder(*self)) return std::nullopt;
  return CopyNode{n, *self, *source};
}

/// For each output the copy_ node that is its write-back: the one whose result it names, or else the first unclaimed one that
/// copies the value it names into its target. kNowhere where there is none.
std::vector<std::uint32_t> copies_of_outputs(const Program& program, const std::vector<CopyNode>& candidates) {
  std::vector<std::uint32_t> copy_of(program.graph.outputs.size(), kNowhere);
  std::vector<bool> claimed(program.graph.nodes.size(), false);
  const std::vector<WriteBack> backs = write_backs(program);
  for (const bool by_result : {true, false}) {
    for (const WriteBack& w : backs) {
      if (copy_of[w.output] != kNowhere) continue;
      for (const CopyNode& c : candidates) {
        const ValueId named = by_result ? program.graph.result_of(c.node) : c.source;
        if (claimed[index_of(c.node)] || c.target != w.target || named != w.value) continue;
        copy_of[w.output] = static_cast<std::uint32_t>(index_of(c.node));
        claimed[index_of(c.node)] = true;
        break;
      }
    }
  }
  return copy_of;
}

/// Matches `after` against `before`: nodes by name, the rest as copies and clones. See placement_of.
class Matcher {
 public:
  Matcher(const Program& before, const Program& after) : before_(before), after_(after) {}

  std::optional<Placement> match() {
    if (!same_inputs() || !match_nodes() || !same_births() || !match_outputs()) return std::nullopt;
    return std::move(placement_);
  }

 private:
  bool same_inputs() {
    if (before_.input_specs != after_.input_specs || before_.output_specs.size() != after_.output_specs.size()) return false;
    const auto &p = before_.graph.placeholders, &q = after_.graph.placeholders;
    for (std::size_t i = 0; i < p.size() && i < q.size(); ++i) {
      if (p[i].name != q[i].name) return false;
      old_of_.push_back(static_cast<std::uint32_t>(i));
    }
    return p.size() == q.size() && in_new_targets(before_.graph.subgraphs) == after_.graph.subgraphs;
  }

  /// Subgraphs of `before` with the target ids that `after` has for the same targets.
  std::vector<Subgraph> in_new_targets(std::vector<Subgraph> subgraphs) const {
    for (Subgraph& s : subgraphs) {
      for (Node& node : s.graph.nodes) {
        const auto found = std::ranges::find(after_.targets, before_.target(node));
        node.target = TargetId(found - after_.targets.begin());
      }
      s.graph.subgraphs = in_new_targets(std::move(s.graph.subgraphs));
    }
    return subgraphs;
  }

  bool same_births() const {
    return std::ranges::equal(before_.births, after_.births, [&](const Birth& old, const Birth& now) {
      return before_.graph.node(old.node).name == after_.graph.node(now.node).name && old.target == now.target;
    });
  }

  bool match_nodes() {
    std::uint32_t matched = 0, order = 0;
    for (std::uint32_t n = 0; n < after_.graph.nodes.size(); ++n) {
      const Node& node = after_.graph.nodes[n];
      if (matched < before_.graph.nodes.size() && node.name == before_.graph.nodes[matched].name) {
        if (!same_call(before_.graph.nodes[matched], node)) return false;
        old_of_.push_back(static_cast<std::uint32_t>(index_of(before_.graph.result_of(node_id(matched++)))));
        order = 0;
      } else {
        if (!add_extra(node_id(n), {slot_at(matched), order++})) return false;
        old_of_.push_back(kNowhere);
      }
    }
    return matched == before_.graph.nodes.size();
  }

  /// A node that `before` does not have must be a copy into a placeholder or a clone of a value.
  bool add_extra(NodeId n, Position at) {
    const ValueId result = after_.graph.result_of(n);
    if (const auto copy = copy_into_placeholder(after_, n)) {
      copies_.push_back(*copy);
      position_of_.emplace(index_of(n), at);
      return true;
    }
    const Node& node = after_.graph.node(n);
    const ValueId* of = calls(after_, node, clone_target()) ? value_argument(node, 0, "self") : nullptr;
    if (of == nullptr || old_of_[index_of(*of)] == kNowhere) return false;
    temporary_of_.emplace(index_of(result), static_cast<std::uint32_t>(placement_.temporaries.size()));
    placement_.temporaries.push_back({node.name, value_id(old_of_[index_of(*of)]), at});
    return true;
  }

  std::optional<Argument> in_old_ids(Argument argument) const {
    bool known = true;
    for_each_value_mut(argument, [&](ValueId& v) {
      known = known && index_of(v) < old_of_.size() && old_of_[index_of(v)] != kNowhere;
      if (known) v = value_id(old_of_[index_of(v)]);
    });
    return known ? std::optional(std::move(argument)) : std::nullopt;
  }

  bool same_call(const Node& old, const Node& now) const {
    if (old.kind != now.kind || !(before_.target(old) == after_.target(now))) return false;
    if (old.args.size() != now.args.size() || old.kwargs.size() != now.kwargs.size()) return false;
    for (std::size_t i = 0; i < old.args.size(); ++i) {
      if (in_old_ids(now.args[i]) != old.args[i]) return false;
    }
    for (std::size_t i = 0; i < old.kwargs.size(); ++i) {
      if (old.kwargs[i].name != now.kwargs[i].name || in_old_ids(now.kwargs[i].value) != old.kwargs[i].value) return false;
    }
    return true;
  }

  /// Mutations are matched by what they mutate, the others by their order: passes may move mutations to the front.
  bool match_outputs() {
    const std::vector<std::uint32_t> copy_of = copies_of_outputs(after_, copies_);
    std::vector<bool> taken(after_.output_specs.size(), false);
    std::size_t used = 0;
    for (std::uint32_t i = 0; i < before_.output_specs.size(); ++i) {
      std::uint32_t j = 0;
      while (j < taken.size() && (taken[j] || !same_output(before_.output_specs[i], after_.output_specs[j]))) ++j;
      if (j == taken.size()) return false;
      taken[j] = true;
      if (!is_mutation(before_.output_specs[i].kind)) {
        if (!match_user_output(i, j)) return false;
      } else if (!match_write_back(i, j, copy_of[j])) {
        return false;
      } else {
        used += copy_of[j] != kNowhere;
      }
    }
    return used == copies_.size();
  }

  static bool same_output(const OutputSpec& a, const OutputSpec& b) {
    return a.kind == b.kind && (!is_mutation(a.kind) || a.target == b.target);
  }

  bool match_user_output(std::uint32_t i, std::uint32_t j) {
    const Argument &old = before_.graph.outputs[i], &now = after_.graph.outputs[j];
    if (in_old_ids(now) == old) return true;
    const std::optional<std::uint32_t> temporary = as_value(now) == nullptr ? std::nullopt : temporary_of(*as_value(now));
    if (!temporary || old != Argument(placement_.temporaries[*temporary].of)) return false;
    placement_.outputs_read_first.push_back({i, *temporary});
    return true;
  }

  bool match_write_back(std::uint32_t i, std::uint32_t j, std::uint32_t copy_node) {
    if (copy_node == kNowhere) {
      placement_.copies.push_back({true, {}, std::nullopt});
      return in_old_ids(after_.graph.outputs[j]) == before_.graph.outputs[i];
    }
    const CopyNode copy = *copy_into_placeholder(after_, node_id(copy_node));
    const std::optional<std::uint32_t> temporary = temporary_of(copy.source);
    placement_.copies.push_back({false, position_of_.at(copy_node), temporary});
    if (temporary) return before_.graph.outputs[i] == Argument(placement_.temporaries[*temporary].of);
    return in_old_ids(Argument(copy.source)) == before_.graph.outputs[i];
  }

  std::optional<std::uint32_t> temporary_of(ValueId v) const {
    const auto found = temporary_of_.find(index_of(v));
    return found == temporary_of_.end() ? std::nullopt : std::optional(found->second);
  }

  const Program &before_, &after_;
  Placement placement_;
  std::vector<std::uint32_t> old_of_;                            ///< by value of `after`: the value of `before`, or kNowhere
  std::vector<CopyNode> copies_;                                 ///< that `before` does not have
  std::unordered_map<std::size_t, Position> position_of_;        ///< by node of `after`
  std::unordered_map<std::size_t, std::uint32_t> temporary_of_;  ///< by value of `after`
};

}  // namespace

Placement end_placement(const Program& program) {
  Placement placement;
  const Slot end = slot_at(program.graph.nodes.size());
  const std::size_t count = write_backs(program).size();
  for (std::uint32_t i = 0; i < count; ++i) placement.copies.push_back({false, {end, i}, std::nullopt});
  return placement;
}

Program with_explicit_copies(const Program& program, const Placement& placement, const std::vector<std::string>& comments) {
  const std::vector<Insertion> insertions = insertions_in_order(placement);
  const std::vector<WriteBack> backs = write_backs(program);
  const std::vector<std::uint32_t> new_index = index_after(program.graph, insertions);
  const std::size_t inputs = program.graph.placeholders.size();

  Program result = program;
  renumber(result, new_index);
  const TargetId copy = result.intern(copy_target()), clone = result.intern(clone_target());
  std::vector<ValueId> temporaries(placement.temporaries.size());  // known beforehand: a wrong placement reads them too early
  for (std::size_t i = 0; i < insertions.size(); ++i) {
    if (!insertions[i].is_copy) temporaries[insertions[i].index] = value_id(inputs + index_of(insertions[i].at.slot) + i);
  }
  const std::optional<Rebound> rebound = temporaries.empty() ? std::nullopt : std::optional<Rebound>(program);
  Names names(program.graph);
  std::vector<Node> nodes;
  nodes.reserve(program.graph.nodes.size() + insertions.size());

  const auto insert_temporary = [&](std::uint32_t index) {
    const Temporary& t = placement.temporaries[index];
    nodes.push_back(call(clone, names.fresh(t.name.empty() ? "clone" : t.name), {value_id(new_index[index_of(t.of)])},
                         meta_of_clone(rebound->meta_at(t.of, t.at.slot))));
  };
  const auto insert_copy = [&](std::uint32_t index) {
    const WriteBack& back = backs[index];
    const std::optional<std::uint32_t> from = placement.copies[index].temporary;
    const ValueId source = from ? temporaries[*from] : value_id(new_index[index_of(back.value)]);
    result.graph.outputs[back.output] = value_id(inputs + nodes.size());
    nodes.push_back(call(copy, names.fresh("copy_"), {back.target, source}, program.graph.meta_of(back.target)));
    if (index < comments.size()) nodes.back().trailing_comment = comments[index];
  };
  std::size_t next = 0;
  for (std::size_t slot = 0; slot <= program.graph.nodes.size(); ++slot) {
    for (; next < insertions.size() && index_of(insertions[next].at.slot) == slot; ++next) {
      insertions[next].is_copy ? insert_copy(insertions[next].index) : insert_temporary(insertions[next].index);
    }
    if (slot < program.graph.nodes.size()) nodes.push_back(std::move(result.graph.nodes[slot]));
  }
  result.graph.nodes = std::move(nodes);
  for (const OutputReadFirst& o : placement.outputs_read_first) result.graph.outputs[o.output] = temporaries[o.temporary];
  return result;
}

std::optional<Placement> placement_of(const Program& before, const Program& after) { return Matcher(before, after).match(); }

Program without_explicit_copies(const Program& program) {
  std::vector<std::uint32_t> uses = uses_of_values(program);
  const std::size_t inputs = program.graph.placeholders.size();
  std::vector<CopyNode> candidates;
  for (std::size_t n = 0; n < program.graph.nodes.size(); ++n) {
    // A copy whose result something else reads is part of the program.
    const auto copy = copy_into_placeholder(program, node_id(n));
    if (copy && uses[inputs + n] == 0) candidates.push_back(*copy);
  }
  Program result = program;
  std::vector<bool> removed(program.graph.nodes.size(), false);
  const std::vector<std::uint32_t> copy_of = copies_of_outputs(program, candidates);
  for (std::size_t i = 0; i < copy_of.size(); ++i) {
    if (copy_of[i] == kNowhere) continue;
    result.graph.outputs[i] = copy_into_placeholder(program, node_id(copy_of[i]))->source;
    removed[copy_of[i]] = true;
  }
  return without_nodes(std::move(result), removed);
}

}  // namespace writeback
