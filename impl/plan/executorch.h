// ExecuTorch's memory planner, by its exact rules: lifetimes, collection order, and the greedy algorithm with its ties. To the byte
// on what ExecuTorch 1.4.1 lowers (tests/impl/plan/executorch/).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "impl/plan/allocation.h"
#include "impl/plan/lowered_graph.h"

namespace writeback::impl::plan {

struct PlannerOptions {
  /// released: the planner's own lifetimes. fixed: every use of an in-place result extends its storage, and mutated user inputs
  /// live to the end like mutated buffers.
  Fidelity fidelity = Fidelity::released;
  std::int64_t alignment = 16;
  bool plan_inputs = true;
};

/// One planned storage: closed interval of steps, aligned bytes, offset in the arena.
struct PlannedSpec {
  std::uint32_t spec = 0;  ///< index into LoweredGraph::specs
  std::int64_t first = 0, last = 0;
  std::int64_t bytes = 0;
  std::int64_t offset = 0;
};

struct ExecutorchPlan {
  std::vector<PlannedSpec> specs;  ///< in collection order
  std::int64_t total = 0;          ///< bufsizes[1]
};

ExecutorchPlan executorch_greedy(const LoweredGraph&, const PlannerOptions& = {});

/// The planned storages as buffers for the other planners: half-open ranges; one that takes another's place is merged into it.
/// `owner[i]` is the buffer of plan.specs[i].
struct PlanBuffers {
  std::vector<Buffer> buffers;
  std::vector<std::uint32_t> owner;
};
PlanBuffers buffers_of(const LoweredGraph&, const ExecutorchPlan&);

}  // namespace writeback::impl::plan
