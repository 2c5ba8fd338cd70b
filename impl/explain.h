// Why a copy stands where it stands: the strongest of its bounds at its slot, and the alias chain through which the blocking node
// reaches the cells in question.
#pragma once

#include <vector>

#include "impl/copy_graph.h"
#include "impl/place.h"
#include "impl/planted.h"

namespace writeback::impl {
inline namespace WRITEBACK_BUILD {

/// One reason per write-back.
std::vector<Reason> reasons(const Problem&, const PlacementGraph&, const Placement&);

}  // namespace WRITEBACK_BUILD
}  // namespace writeback::impl
