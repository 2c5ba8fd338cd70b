#include "ref/graph/renumber.h"

#include <numeric>

namespace writeback {

void renumber(Program& program, const std::vector<std::uint32_t>& new_index) {
  const auto map = [&](ValueId& v) { v = value_id(new_index[index_of(v)]); };
  for (Node& node : program.graph.nodes) {
    for (Argument& a : node.args) for_each_value_mut(a, map);
    for (KeywordArgument& a : node.kwargs) for_each_value_mut(a.value, map);
  }
  for (Argument& a : program.graph.outputs) for_each_value_mut(a, map);
  const std::size_t inputs = program.graph.placeholders.size();
  for (ShareAllocation& s : program.share_allocations) s.node = node_id(new_index[inputs + index_of(s.node)] - inputs);
  for (Birth& b : program.births) b.node = node_id(new_index[inputs + index_of(b.node)] - inputs);
}

Program without_nodes(Program program, const std::vector<bool>& removed) {
  const std::size_t inputs = program.graph.placeholders.size();
  std::erase_if(program.share_allocations, [&](const ShareAllocation& s) { return removed[index_of(s.node)]; });
  std::erase_if(program.births, [&](const Birth& b) { return removed[index_of(b.node)]; });
  std::vector<std::uint32_t> new_index(inputs);
  std::iota(new_index.begin(), new_index.end(), 0);
  std::uint32_t kept = 0;
  for (std::size_t n = 0; n < removed.size(); ++n) {
    if (!removed[n]) std::swap(program.graph.nodes[kept], program.graph.nodes[n]);
    new_index.push_back(static_cast<std::uint32_t>(inputs) + kept);
    kept += !removed[n];
  }
  program.graph.nodes.resize(kept);
  renumber(program, new_index);
  return program;
}

}  // namespace writeback
