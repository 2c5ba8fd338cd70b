// The memory of one placed program: what each planner needs, the bound that none can beat, and the arena of the best plan.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "impl/plan/allocation.h"
#include "impl/plan/lowered_graph.h"

namespace writeback::impl::plan {

struct MeasureOptions {
  std::int64_t alignment = 16;
  std::map<std::string, std::int64_t> symbols;
  double search_seconds = 0;  ///< beyond the steps that the best planner always has, where the bound is not met
};

enum class Planner : std::uint8_t { executorch, executorch_fixed, naive, first_fit, best };
constexpr Planner kPlanners[] = {Planner::executorch, Planner::executorch_fixed, Planner::naive, Planner::first_fit, Planner::best};
/// "executorch", "executorch-fixed", "naive", "first-fit", "best".
std::string_view name_of(Planner);

/// A storage in the best plan's arena.
struct Tensor {
  std::string name;
  Buffer buffer;
  std::int64_t offset = 0;
  bool is_state = false;  ///< a mutated buffer or input, or the target of a copy
};

struct Measurement {
  std::int64_t executorch = 0;        ///< bytes that ExecuTorch's planner takes, stale output specs included
  std::string executorch_fault;       ///< two storages to which that plan gives the same bytes while both are needed; or empty
  std::int64_t executorch_fixed = 0;  ///< the same planner without them, with lifetimes that are right
  std::int64_t naive = 0, first_fit = 0;
  std::int64_t best = 0;
  Bound bound;
  std::string bound_at;                                     ///< the node at whose step the bound is reached
  std::int64_t bytes_copied = 0;                            ///< by the copy_ nodes of one run; temporaries do not count
  std::vector<Tensor> tensors;                              ///< by the right lifetimes; offsets of the best plan
  std::vector<std::string> steps;                           ///< the node of each step
  std::vector<std::int64_t> copy_steps;                     ///< steps that are write-back copies
  std::vector<std::pair<std::int64_t, std::int64_t>> live;  ///< (step, live bytes from there on)
  std::vector<std::string> warnings;

  std::int64_t bytes(Planner) const;
};

/// Where a planner puts a storage: that of a placeholder or node, or of element i of its results ("split[1]").
struct NamedPlace {
  std::string name;
  std::int64_t offset = 0, bytes = 0;
};
std::vector<NamedPlace> places(const Program& placed, const Options&, Planner, const MeasureOptions& = {});

/// Measures a program whose copies are explicit. Throws std::logic_error if a plan does not pass the validator.
Measurement measure(const Program& placed, const Options&, const MeasureOptions& = {});

}  // namespace writeback::impl::plan
