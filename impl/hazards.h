// Lowering hazards: what a lowering choice changes wherever the copies stand. A node reads a value, an output returns one, or an
// input ends with one, that an earlier write has reached only because a view_copy became an alias or a result took the storage of
// an argument; or a write-back's value is written after such a write, so that no slot suits it.
#pragma once

#include <vector>

#include "impl/copy_graph.h"
#include "impl/place.h"
#include "impl/planted.h"

namespace writeback::impl {
inline namespace WRITEBACK_BUILD {

/// In the order nodes, outputs, inputs, write-backs.
std::vector<LoweringHazard> lowering_hazards(const Problem&, const std::vector<std::uint32_t>& hopeless_copies);

}  // namespace WRITEBACK_BUILD
}  // namespace writeback::impl
