// Cycles among copies: the strongly connected groups of the graph in which one copy must come before another.
#pragma once

#include <cstdint>
#include <vector>

#include "impl/planted.h"
#include "impl/schedule.h"

namespace writeback::impl {
inline namespace WRITEBACK_BUILD {

/// The groups of more than one copy, each sorted, in topological order: a group comes before those that it leads to.
std::vector<std::vector<std::uint32_t>> cycles(const CopyGraph&, const std::vector<bool>& cloned);

}  // namespace WRITEBACK_BUILD
}  // namespace writeback::impl
