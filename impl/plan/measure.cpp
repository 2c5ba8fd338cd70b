#include "impl/plan/measure.h"

#include <algorithm>
#include <stdexcept>

#include "impl/plan/executorch.h"

namespace writeback::impl::plan {
namespace {

Allocation checked(std::span<const Buffer> buffers, Allocation allocation) {
  if (const auto violation = validate(buffers, allocation)) throw std::logic_error("a plan is wrong: " + violation->message);
  return allocation;
}

/// The smaller of the portfolio and, for few buffers, the exact arena.
Allocation best_allocation(std::span<const Buffer> buffers, const SearchLimits& search) {
  Allocation best = checked(buffers, portfolio(buffers, search));
  if (best.total == lower_bound(buffers).bytes) return best;
  if (std::optional<Allocation> smallest = exact(buffers)) return checked(buffers, std::move(*smallest));
  return best;
}

bool is_copy_or_clone(const LoweredNode& node) {
  return node.kind == LoweredNode::Kind::in_place && node.name.rfind("copy_", 0) == 0;
}

void describe(const LoweredGraph& graph, const ExecutorchPlan& plan, const PlanBuffers& buffers, const Allocation& best,
              Measurement& result) {
  result.tensors.resize(buffers.buffers.size());
  for (std::size_t i = 0; i < plan.specs.size(); ++i) {
    Tensor& tensor = result.tensors[buffers.owner[i]];
    if (tensor.name.empty()) tensor.name = graph.specs[plan.specs[i].spec].name;
    tensor.buffer = buffers.buffers[buffers.owner[i]];
    tensor.offset = best.offsets[buffers.owner[i]];
  }
  std::vector<bool> written(graph.specs.size(), false);
  for (std::size_t step = 0; step < graph.nodes.size(); ++step) {
    const LoweredNode& node = graph.nodes[step];
    result.steps.push_back(node.name);
    if (!is_copy_or_clone(node)) continue;
    result.copy_steps.push_back(static_cast<std::int64_t>(step));
    for (std::uint32_t s : node.specs) {
      result.bytes_copied += graph.specs[s].bytes;
      written[s] = true;
    }
  }
  for (std::size_t i = 0; i < plan.specs.size(); ++i) {
    if (written[plan.specs[i].spec]) result.tensors[buffers.owner[i]].write_back_target = true;
  }
}

}  // namespace

Measurement measure(const Program& placed, const Options& options, const MeasureOptions& settings) {
  Measurement result;
  const LoweringInput released{Fidelity::released, settings.alignment, settings.symbols};
  result.executorch = executorch_greedy(lower(placed, options, released), {Fidelity::released, settings.alignment, true}).total;

  const LoweringInput fixed{Fidelity::fixed, settings.alignment, settings.symbols};
  const LoweredGraph graph = lower(placed, options, fixed);
  const ExecutorchPlan plan = executorch_greedy(graph, {Fidelity::fixed, settings.alignment, true});
  result.executorch_fixed = plan.total;

  const PlanBuffers buffers = buffers_of(graph, plan);
  const Allocation best = best_allocation(buffers.buffers, settings.search);
  result.naive = graph.reserved + naive(buffers.buffers).total;
  result.first_fit = graph.reserved + checked(buffers.buffers, first_fit_by_size(buffers.buffers)).total;
  result.best = graph.reserved + best.total;
  result.bound = lower_bound(buffers.buffers);
  result.bound.bytes += graph.reserved;
  result.live = live_bytes(buffers.buffers);
  describe(graph, plan, buffers, best, result);
  if (static_cast<std::size_t>(result.bound.step) < result.steps.size()) {
    result.bound_at = result.steps[static_cast<std::size_t>(result.bound.step)];
  }
  result.warnings = graph.warnings;
  return result;
}

}  // namespace writeback::impl::plan
