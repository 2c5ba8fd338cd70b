#include "ref/meaning.h"

#include <string_view>
#include <unordered_set>

#include "ref/conflicts.h"
#include "ref/equivalence.h"
#include "ref/graph/renumber.h"
#include "ref/judge.h"

namespace writeback::ref {
namespace {

/// Symbols and regions are worth keeping from call to call; an arena serves one thread.
Arena& arena() {
  thread_local Arena kept;
  return kept;
}

/// Without the dead nodes that `after` leaves out: a pass may clean up, and what it did besides is its copies all the same.
Program cleaned_up(const Program& before, const Program& after, const Options& options) {
  const Graph& graph = before.graph;
  std::unordered_set<std::string_view> kept;
  for (const Node& node : after.graph.nodes) kept.insert(node.name);
  const std::vector<std::uint8_t> live = live_nodes(before, Effects(before, options));
  std::vector<bool> used(graph.value_count()), removed(graph.nodes.size());
  const auto use = [&](ValueId v) { used[index_of(v)] = true; };
  for (const Argument& a : graph.outputs) for_each_value(a, use);
  for (std::size_t n = graph.nodes.size(); n-- > 0;) {
    const Node& node = graph.nodes[n];
    removed[n] = !live[n] && !used[index_of(graph.result_of(node_id(n)))] && !kept.contains(node.name);
    if (removed[n]) continue;
    for (const Argument& a : node.args) for_each_value(a, use);
    for (const KeywordArgument& k : node.kwargs) for_each_value(k.value, use);
  }
  return without_nodes(before, removed);
}

}  // namespace

Judgement judge(const Program& program, const Placement& placement, const Options& options, const Limits& limits) {
  return Judge(program, options, limits, arena()).judge(placement);
}

Judgement equivalent(const Program& before, const Program& after, const Options& options, const Limits& limits) {
  if (const auto placement = placement_of(before, after)) return judge(before, *placement, options, limits);
  const Program kept = cleaned_up(before, after, options);
  if (const auto placement = placement_of(kept, after)) return judge(kept, *placement, options, limits);
  return equivalent_as_whole(before, after, options, limits, arena());
}

Placement earliest_by_trace(const Program& program, const Options& options, const Limits& limits) {
  return Judge(program, options, limits, arena()).earliest_by_trace();
}

std::vector<Clobbered> clobbered(const Program& program, const Options& options, const Limits& limits) {
  return Judge(program, options, limits, arena()).clobbered();
}

Placement earliest_by_search(const Program& program, const Options& options, const Limits& limits) {
  return Judge(program, options, limits, arena()).earliest_by_search();
}

}  // namespace writeback::ref
