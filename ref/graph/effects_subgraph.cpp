// A small forward walk inside a subgraph: which placeholders each value may be a view of (without regard to order, so never too
// few), then what live nodes read and write of them.
#include "ref/graph/effects_subgraph.h"

#include <algorithm>
#include <iterator>

namespace writeback {
namespace {

using Roots = std::vector<std::uint32_t>;  // sorted placeholders

void merge(Roots& into, const Roots& from) {
  Roots all;
  std::set_union(into.begin(), into.end(), from.begin(), from.end(), std::back_inserter(all));
  into = std::move(all);
}

std::vector<Roots> roots_of_values(const Graph& graph, const Effects& effects) {
  std::vector<Roots> roots(graph.value_count());
  for (std::uint32_t v = 0; v < graph.placeholders.size(); ++v) roots[v] = {v};
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    const NodeId n = node_id(i);
    const auto operands = effects.operands(n);
    Roots& mine = roots[index_of(graph.result_of(n))];
    for (const ResultEffect& result : effects.results(n)) {
      for (const std::uint32_t o : result.operands) merge(mine, roots[index_of(operands[o].value)]);
    }
    if (effects.has(n, Trait::later_alias) && !operands.empty()) merge(mine, roots[index_of(operands[0].value)]);
  }
  return roots;
}

bool must_run(const Effects& effects, NodeId n) {
  const auto operands = effects.operands(n);
  return effects.has(n, Trait::opaque) || effects.has(n, Trait::observed) || effects.has(n, Trait::returns_nothing) ||
         std::any_of(operands.begin(), operands.end(), [](const OperandEffect& o) { return o.writes; });
}

std::vector<bool> live_nodes(const Graph& graph, const Effects& effects) {
  std::vector<bool> used(graph.value_count(), false), live(graph.nodes.size(), false);
  const auto use = [&](ValueId v) { used[index_of(v)] = true; };
  for (const Argument& a : graph.outputs) for_each_value(a, use);
  for (std::size_t i = graph.nodes.size(); i-- > 0;) {
    const NodeId n = node_id(i);
    live[i] = must_run(effects, n) || used[index_of(graph.result_of(n))];
    if (!live[i]) continue;
    for (const Argument& a : graph.nodes[i].args) for_each_value(a, use);
    for (const KeywordArgument& a : graph.nodes[i].kwargs) for_each_value(a.value, use);
  }
  return live;
}

}  // namespace

SubgraphEffect subgraph_effect(const Graph& graph, const Effects& effects) {
  const std::vector<Roots> roots = roots_of_values(graph, effects);
  const std::vector<bool> live = live_nodes(graph, effects);
  SubgraphEffect summary;
  summary.reads.resize(graph.placeholders.size());
  summary.writes.resize(graph.placeholders.size());
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    if (!live[i]) continue;
    const NodeId n = node_id(i);
    summary.random = summary.random || effects.has(n, Trait::random);
    summary.observed = summary.observed || effects.has(n, Trait::observed);
    for (const OperandEffect& operand : effects.operands(n)) {
      for (const std::uint32_t p : roots[index_of(operand.value)]) {
        if (operand.reads) summary.reads[p] = true;
        if (operand.writes) summary.writes[p] = true;
      }
    }
  }
  for (const Argument& output : graph.outputs) {
    const ValueId* value = as_value(output);
    const bool input = value != nullptr && graph.is_placeholder(*value);
    const auto results = value == nullptr || input ? std::span<const ResultEffect>{} : effects.results(graph.producer_of(*value));
    const bool tensor =
        input || std::any_of(results.begin(), results.end(), [](const ResultEffect& r) { return r.kind != ResultKind::none; });
    summary.output_is_tensor.push_back(tensor);
    summary.output_roots.push_back(tensor ? roots[index_of(*value)] : Roots{});
  }
  return summary;
}

}  // namespace writeback
