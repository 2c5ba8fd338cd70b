#include "impl/liveness.h"

#include <algorithm>

namespace writeback::impl {
inline namespace WRITEBACK_BUILD {
namespace {

/// Live whatever becomes of the result. (A random op moves the generator on.)
bool acts(const Effects& effects, NodeId n) {
  for (const Trait t : {Trait::opaque, Trait::returns_nothing, Trait::observed, Trait::random}) {
    if (effects.has(n, t)) return true;
  }
  const auto operands = effects.operands(n);
  return std::any_of(operands.begin(), operands.end(), [](const OperandEffect& o) { return o.writes; });
}

/// Values that are no tensors (item, sym_size and what is computed from them). Effects list tensor operands only.
std::vector<bool> number_values(const Graph& graph, const Effects& effects, bool& any) {
  std::vector<bool> number(graph.value_count(), false);
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    const auto results = effects.results(node_id(i));
    const bool tensor = std::ranges::any_of(results, [](const ResultEffect& r) { return r.kind != ResultKind::none; });
    if (!tensor) number[index_of(graph.result_of(node_id(i)))] = any = true;
  }
  return number;
}

}  // namespace

std::vector<bool> live_nodes(const Program& program, const Effects& effects) {
  const Graph& graph = program.graph;
  std::vector<bool> used(graph.value_count(), false), live(graph.nodes.size(), false);
  bool any_number = false;
  const std::vector<bool> number = number_values(graph, effects, any_number);
  for (const Argument& output : graph.outputs) {
    for_each_value(output, [&](ValueId v) { used[index_of(v)] = true; });
  }
  for (std::size_t i = graph.nodes.size(); i-- > 0;) {
    const NodeId n = node_id(i);
    live[i] = planted(Fault::dead_readers_hold) || used[index_of(graph.result_of(n))] || acts(effects, n);
    if (!live[i]) continue;
    const auto operands = effects.operands(n);
    for (const OperandEffect& o : operands) {
      if (o.reads || o.writes) used[index_of(o.value)] = true;
    }
    for (const ResultEffect& result : effects.results(n)) {
      for (const std::uint32_t o : result.operands) used[index_of(operands[o].value)] = true;
    }
    if (effects.has(n, Trait::getitem) && !operands.empty()) used[index_of(operands[0].value)] = true;
    if (!any_number) continue;
    const auto use_number = [&](ValueId v) { used[index_of(v)] = used[index_of(v)] || number[index_of(v)]; };
    for (const Argument& a : graph.node(n).args) for_each_value(a, use_number);
    for (const KeywordArgument& a : graph.node(n).kwargs) for_each_value(a.value, use_number);
  }
  return live;
}

}  // namespace WRITEBACK_BUILD
}  // namespace writeback::impl
