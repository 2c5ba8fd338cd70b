#include "fuzz/relations.h"

#include <algorithm>
#include <numeric>
#include <set>

#include "fuzz/edit.h"
#include "ref/graph/effects.h"

namespace writeback::fuzz {
namespace {

using SlotMap = std::function<bool(std::size_t original, std::size_t changed)>;

/// Placements with as many temporaries whose copies' slots are related one by one.
bool slots_related(const Placement& original, const Placement& changed, const SlotMap& slots) {
  if (original.copies.size() != changed.copies.size() || original.temporaries.size() != changed.temporaries.size()) return false;
  for (std::size_t c = 0; c < original.copies.size(); ++c) {
    const PlacedCopy& a = original.copies[c];
    const PlacedCopy& b = changed.copies[c];
    if (a.in_place != b.in_place) return false;
    if (!a.in_place && !slots(index_of(a.at.slot), index_of(b.at.slot))) return false;
  }
  return true;
}

/// The same copies read temporaries.
bool read_alike(const Placement& a, const Placement& b) {
  return std::ranges::equal(a.copies, b.copies, [](const PlacedCopy& x, const PlacedCopy& y) {
    return x.temporary.has_value() == y.temporary.has_value();
  });
}

/// The same, of one make: each copy and output reads what it read, and temporaries stand where they stood.
bool related(const Placement& original, const Placement& changed, const SlotMap& slots) {
  if (!slots_related(original, changed, slots) || original.outputs_read_first != changed.outputs_read_first) return false;
  for (std::size_t c = 0; c < original.copies.size(); ++c) {
    if (original.copies[c].temporary != changed.copies[c].temporary) return false;
  }
  for (std::size_t t = 0; t < original.temporaries.size(); ++t) {
    if (!slots(index_of(original.temporaries[t].at.slot), index_of(changed.temporaries[t].at.slot))) return false;
  }
  return true;
}

/// Slots behind a node that was put in as node `at` are one more; a copy never waits for it.
std::function<bool(const Placement&, const Placement&)> inserted_at(std::size_t at) {
  return [at](const Placement& a, const Placement& b) {
    return related(a, b, [at](std::size_t x, std::size_t y) { return y == x + (x > at ? 1 : 0); });
  };
}

bool is_plain_op(const Effects& effects, NodeId n) {
  for (const Trait t : {Trait::opaque, Trait::random, Trait::returns_nothing, Trait::observed, Trait::rebinds, Trait::subgraph}) {
    if (effects.has(n, t)) return false;
  }
  if (effects.shares_allocation_of(n) >= 0) return false;
  const auto operands = effects.operands(n);
  return std::none_of(operands.begin(), operands.end(), [](const OperandEffect& o) { return o.writes; });
}

bool uses(const Node& node, ValueId value) {
  bool found = false;
  for_each_operand(node, [&](ValueId v) { found |= v == value; });
  return found;
}

}  // namespace

Relation renamed(const Program& program) {
  Program changed = program;
  const auto new_name = [](const std::string& name) { return "renamed_" + name; };
  for (Placeholder& p : changed.graph.placeholders) p.name = new_name(p.name);
  for (Node& node : changed.graph.nodes) {
    if (node.kind == Node::Kind::call) node.name = new_name(node.name);
  }
  for (OutputSpec& o : changed.output_specs) {
    if (o.kind == OutputKind::user_input_mutation) o.target = new_name(o.target);
  }
  return {"renaming", std::move(changed), [](const Placement& a, const Placement& b) {
            return related(a, b, [](std::size_t x, std::size_t y) { return x == y; });
          }};
}

std::optional<Relation> with_metadata_reader(const Program& program, Random& random) {
  if (program.graph.placeholders.empty()) return std::nullopt;
  Program changed = program;
  Node node;
  node.target = changed.intern({Target::Kind::op, "aten", "zeros_like", "default"});
  node.name = "metadata_reader";
  const ValueId looked_at = value_id(random.below(static_cast<std::uint32_t>(program.graph.placeholders.size())));
  node.args.emplace_back(looked_at);
  node.meta = program.graph.meta_of(looked_at);
  const std::size_t at = random.below(static_cast<std::uint32_t>(program.graph.nodes.size() + 1));
  changed = with_node_inserted(changed, at, std::move(node));
  return Relation{"a dead reader of metadata", std::move(changed), inserted_at(at)};
}

bool rebinds_anything(const Program& program, const Effects& effects) {
  for (std::size_t n = 0; n < program.graph.nodes.size(); ++n) {
    if (effects.has(node_id(n), Trait::rebinds)) return true;
  }
  return false;
}

// A view between two view_copy nodes would part their chain, so those are left alone; and the view of an object that is rebound
// later is not that object.
std::optional<Relation> with_split_view(const Program& program, const Options& options, Random& random) {
  if (program.graph.nodes.empty()) return std::nullopt;
  const Effects effects(program, options);
  const std::size_t at = random.below(static_cast<std::uint32_t>(program.graph.nodes.size()));
  const NodeId n = node_id(at);
  if (program.graph.nodes[at].kind != Node::Kind::call || effects.has(n, Trait::getitem) || effects.has(n, Trait::later_alias) ||
      rebinds_anything(program, effects))
    return std::nullopt;
  const auto operands = effects.operands(n);
  if (operands.empty()) return std::nullopt;
  const ValueId operand = operands[random.below(static_cast<std::uint32_t>(operands.size()))].value;
  if (tensor_meta(program.graph.meta_of(operand)) == nullptr) return std::nullopt;
  Program changed = program;
  Node view;
  view.target = changed.intern({Target::Kind::op, "aten", "alias", "default"});
  view.name = "split_view";
  view.args.emplace_back(operand);
  view.meta = program.graph.meta_of(operand);
  changed = with_node_inserted(changed, at, std::move(view));
  const ValueId added = changed.graph.result_of(n);
  Node& reader = changed.graph.nodes[at + 1];
  const auto through = [&](ValueId& v) { v = v == operand ? added : v; };
  for (Argument& a : reader.args) for_each_value_mut(a, through);
  for (KeywordArgument& a : reader.kwargs) for_each_value_mut(a.value, through);
  return Relation{"a view split into two", std::move(changed), inserted_at(at)};
}

std::optional<Relation> with_swapped_neighbours(const Program& program, const Options& options, Random& random) {
  const std::size_t count = program.graph.nodes.size();
  if (count < 2) return std::nullopt;
  const Effects effects(program, options);
  const std::size_t at = random.below(static_cast<std::uint32_t>(count - 1));
  const NodeId first = node_id(at), second = node_id(at + 1);
  if (!is_plain_op(effects, first) || !is_plain_op(effects, second)) return std::nullopt;
  if (uses(program.graph.node(second), program.graph.result_of(first))) return std::nullopt;
  Edit edit(program);
  std::swap(edit.nodes[at], edit.nodes[at + 1]);
  // A copy that stood between or behind the two may follow the node that blocks it; all others stay. Where that lets one of them
  // stand earlier, another temporary may break their cycle, and nothing but the number of temporaries is the same.
  const SlotMap slots = [at](std::size_t x, std::size_t y) {
    const bool here = x == at + 1 || x == at + 2;
    return here ? y == at + 1 || y == at + 2 : x == y;
  };
  return Relation{"neighbours swapped", apply(program, edit), [slots](const Placement& a, const Placement& b) {
                    return read_alike(a, b) ? slots_related(a, b, slots) : a.temporaries.size() == b.temporaries.size();
                  }};
}

}  // namespace writeback::fuzz
