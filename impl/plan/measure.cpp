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

Allocation best_allocation(std::span<const Buffer> buffers, double search_seconds) {
  Allocation best = tighten(buffers, portfolio(buffers));
  if (search_seconds > 0) best = tighten(buffers, std::move(best), {0, search_seconds});
  return checked(buffers, std::move(best));
}

/// A program as the planners see it.
struct Planned {
  Planned(const Program& placed, const Options& options, Fidelity fidelity, const MeasureOptions& settings)
      : graph(lower(placed, options, {fidelity, settings.alignment, settings.symbols})),
        plan(executorch_greedy(graph, {fidelity, settings.alignment, true})),
        buffers(buffers_of(graph, plan)) {}

  /// Offsets of the buffers, behind what is reserved for branches.
  Allocation allocated_by(Planner planner, double search_seconds) const {
    switch (planner) {
      case Planner::executorch:
      case Planner::executorch_fixed:
        break;
      case Planner::naive:
        return naive(buffers.buffers);
      case Planner::first_fit:
        return first_fit_by_size(buffers.buffers);
      case Planner::best:
        return best_allocation(buffers.buffers, search_seconds);
    }
    Allocation allocation{std::vector<std::int64_t>(buffers.buffers.size(), 0), plan.total - graph.reserved};
    for (std::size_t i = 0; i < plan.specs.size(); ++i)
      allocation.offsets[buffers.owner[i]] = plan.specs[i].offset - graph.reserved;
    return allocation;
  }

  LoweredGraph graph;
  ExecutorchPlan plan;
  PlanBuffers buffers;
};

/// Two storages that share bytes in the released plan although, by the right lifetimes, both are needed at some step. Both graphs
/// bring the same storages in the same order, but for the stale ones at the end.
std::string fault_of(const Planned& released, const Planned& fixed) {
  std::vector<std::int64_t> offset_of(released.graph.specs.size(), -1);
  for (const PlannedSpec& s : released.plan.specs) offset_of[s.spec] = s.offset;
  Allocation mixed{std::vector<std::int64_t>(fixed.buffers.buffers.size(), 0), released.plan.total};
  std::vector<std::string> names(fixed.buffers.buffers.size());
  for (std::size_t i = 0; i < fixed.plan.specs.size(); ++i) {
    const std::uint32_t spec = fixed.plan.specs[i].spec, owner = fixed.buffers.owner[i];
    if (spec >= offset_of.size() || offset_of[spec] < 0 || released.graph.specs[spec].name != fixed.graph.specs[spec].name)
      return "";
    if (names[owner].empty()) mixed.offsets[owner] = offset_of[spec], names[owner] = fixed.graph.specs[spec].name;
  }
  const std::optional<Violation> violation = validate(fixed.buffers.buffers, mixed);
  if (!violation || violation->first == violation->second) return "";
  return names[violation->first] + " and " + names[violation->second];
}

bool is_copy(const LoweredNode& node) { return node.kind == LoweredNode::Kind::in_place && node.name.rfind("copy_", 0) == 0; }

void describe(const LoweredGraph& graph, const ExecutorchPlan& plan, const PlanBuffers& buffers, const Allocation& best,
              Measurement& result) {
  result.tensors.resize(buffers.buffers.size());
  for (std::size_t i = 0; i < plan.specs.size(); ++i) {
    Tensor& tensor = result.tensors[buffers.owner[i]];
    if (tensor.name.empty()) tensor.name = graph.specs[plan.specs[i].spec].name;
    tensor.buffer = buffers.buffers[buffers.owner[i]];
    tensor.offset = best.offsets[buffers.owner[i]];
  }
  std::vector<bool> state(graph.specs.size(), false);
  for (std::size_t step = 0; step < graph.nodes.size(); ++step) {
    const LoweredNode& node = graph.nodes[step];
    result.steps.push_back(node.name);
    const bool copies = is_copy(node);
    if (copies) result.copy_steps.push_back(static_cast<std::int64_t>(step));
    for (const std::uint32_t s : node.specs) {
      if (copies) result.bytes_copied += graph.specs[s].bytes;
      if (copies || node.mutable_buffer || node.mutated_input) state[s] = true;
    }
  }
  for (std::size_t i = 0; i < plan.specs.size(); ++i) {
    if (state[plan.specs[i].spec]) result.tensors[buffers.owner[i]].is_state = true;
  }
}

}  // namespace

std::string_view name_of(Planner planner) {
  switch (planner) {
    case Planner::executorch:
      return "executorch";
    case Planner::executorch_fixed:
      return "executorch-fixed";
    case Planner::naive:
      return "naive";
    case Planner::first_fit:
      return "first-fit";
    case Planner::best:
      return "best";
  }
  return "";
}

std::int64_t Measurement::bytes(Planner planner) const {
  switch (planner) {
    case Planner::executorch:
      return executorch;
    case Planner::executorch_fixed:
      return executorch_fixed;
    case Planner::naive:
      return naive;
    case Planner::first_fit:
      return first_fit;
    case Planner::best:
      return best;
  }
  return 0;
}

std::vector<NamedPlace> places(const Program& placed, const Options& options, Planner planner, const MeasureOptions& settings) {
  const Planned planned(placed, options, planner == Planner::executorch ? Fidelity::released : Fidelity::fixed, settings);
  const Allocation allocation = planned.allocated_by(planner, settings.search_seconds);
  std::vector<NamedPlace> result;
  for (std::size_t i = 0; i < planned.plan.specs.size(); ++i) {
    const std::uint32_t owner = planned.buffers.owner[i];
    result.push_back({planned.graph.specs[planned.plan.specs[i].spec].name, allocation.offsets[owner] + planned.graph.reserved,
                      planned.buffers.buffers[owner].bytes});
  }
  return result;
}

Measurement measure(const Program& placed, const Options& options, const MeasureOptions& settings) {
  Measurement result;
  const Planned released(placed, options, Fidelity::released, settings);
  const Planned fixed(placed, options, Fidelity::fixed, settings);
  const LoweredGraph& graph = fixed.graph;
  const ExecutorchPlan& plan = fixed.plan;
  const PlanBuffers& buffers = fixed.buffers;
  result.executorch = released.plan.total;
  result.executorch_fixed = plan.total;
  result.executorch_fault = fault_of(released, fixed);
  const Allocation best = best_allocation(buffers.buffers, settings.search_seconds);
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
