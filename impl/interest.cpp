#include "impl/interest.h"

#include <algorithm>
#include <numeric>

namespace writeback::impl {
inline namespace WRITEBACK_BUILD {

std::uint32_t Interest::find(std::uint32_t v) {
  while (root_[v] != v) v = root_[v] = root_[root_[v]];
  return v;
}

// The smaller id becomes the root, so that roots never form long chains of later values.
void Interest::join(ValueId a, ValueId b) {
  const std::uint32_t x = find(static_cast<std::uint32_t>(a)), y = find(static_cast<std::uint32_t>(b));
  root_[std::max(x, y)] = std::min(x, y);
}

void Interest::join_node(const Program& program, const Effects& effects, NodeId n, bool lowering) {
  const ValueId self = program.graph.result_of(n);
  const auto operands = effects.operands(n);
  for (const ResultEffect& result : effects.results(n)) {
    for (const std::uint32_t o : result.operands) join(self, operands[o].value);
  }
  if (lowering && effects.has(n, Trait::later_alias) && !operands.empty()) join(self, operands[0].value);
  if (const std::int32_t o = effects.shares_allocation_of(n); o >= 0) join(self, operands[static_cast<std::size_t>(o)].value);
  if (effects.has(n, Trait::getitem) && !operands.empty()) join(self, operands[0].value);
}

Interest::Interest(const Program& program, const Effects& effects, const std::vector<WriteBack>& write_backs, bool lowering)
    : root_(program.graph.value_count()), interesting_(program.graph.value_count(), false) {
  const Graph& graph = program.graph;
  std::iota(root_.begin(), root_.end(), 0u);
  for (const auto& group : program.alias_groups) {
    for (const AliasMember& member : group) join(group.front().value, member.value);
  }
  for (std::size_t n = 0; n < graph.nodes.size(); ++n) join_node(program, effects, node_id(n), lowering);
  for (std::uint32_t v = 0; v < root_.size(); ++v) root_[v] = root_[root_[v]];  // roots are smaller, so this flattens all

  std::vector<bool> target(root_.size(), false), written(target), wanted(target);
  const auto mark = [&](std::vector<bool>& marks, ValueId v) { marks[root_[index_of(v)]] = true; };
  for (const WriteBack& w : write_backs) mark(target, w.target);
  for (const Argument& output : graph.outputs) for_each_value(output, [&](ValueId v) { mark(wanted, v); });
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    const NodeId n = node_id(i);
    for (const OperandEffect& o : effects.operands(n)) {
      if (o.writes) mark(written, o.value);
    }
    if (effects.has(n, Trait::rebinds)) mark(written, graph.result_of(n));  // the value that is copied has another geometry then
    if (effects.shares_allocation_of(n) >= 0) mark(written, graph.result_of(n)), mark(wanted, graph.result_of(n));
    if (lowering && effects.has(n, Trait::later_alias)) mark(wanted, graph.result_of(n));
  }
  for (std::size_t v = 0; v < root_.size(); ++v) {
    const std::uint32_t root = root_[v];
    interesting_[v] = target[root] || (written[root] && wanted[root]);
  }
}

}  // namespace WRITEBACK_BUILD
}  // namespace writeback::impl
