// Runs a program on a planned arena: the storages lie where a memory planner put them, and may take each other's bytes. A lifetime
// that is too short is seen as a wrong value. The plan comes as plain data; nothing is known here of how it was made.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "ref/arena.h"
#include "ref/graph/options.h"
#include "ref/graph/program.h"

namespace writeback::ref {

/// A storage of the plan: of the placeholder or node of this name, or of element i of its results ("split[1]"). In bytes.
struct PlannedStorage {
  std::string name;
  std::int64_t offset = 0, bytes = 0;
};

/// The first thing that differs between a run of `placed` (explicit copies) on the arena and one with a storage for each tensor:
/// "output z", "target b_a"; nullopt where every choice gives the same. Runs on terms, lowered as far as it can be, as the plan
/// assumes; storages that the plan does not know have bytes of their own. Inputs that are not written back are not compared: a plan
/// may use their bytes when they are no longer read. Throws InputError where a size is no number, or too large.
std::optional<std::string> difference_on_arena(const Program& placed, std::span<const PlannedStorage>, const Options&,
                                               std::uint64_t most_choices, Arena&);

}  // namespace writeback::ref
