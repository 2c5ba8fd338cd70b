// The least placement by Z3's optimiser: fewest temporaries, then the smallest slots in output order, under the conflicts that the
// reference sees when it runs the program. It shares no algorithm with impl/ or ref/least.cpp: slots, orders and temporaries are
// variables, the conflicts are constraints.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "proofs/prove.h"
#include "ref/graph/options.h"
#include "ref/graph/placement.h"
#include "ref/graph/program.h"

namespace writeback::proofs {

struct LeastSlots {
  std::size_t temporaries = 0;
  std::vector<std::optional<std::uint32_t>> slots;  ///< per write-back; none: in place
  bool operator==(const LeastSlots&) const = default;
};

/// The same of a placement.
LeastSlots slots_of(const Placement&);

/// The placement is the least one. nullopt where that is not asked: sequential semantics, and where lowering leaves a value no
/// slot.
std::optional<Row> prove_least(const Program&, const Placement&, const Options&, const ProveOptions& = {});

}  // namespace writeback::proofs
