// Which nodes matter. A dead node's reads hold nothing back: nobody sees what it computes. A node is live when it writes, is
// opaque, returns nothing or is observed, or when its result goes to an output or to a live node. A use of metadata alone is no
// use.
#pragma once

#include <vector>

#include "impl/planted.h"
#include "ref/graph/effects.h"
#include "ref/graph/program.h"

namespace writeback::impl {
inline namespace WRITEBACK_BUILD {

/// One entry per node.
std::vector<bool> live_nodes(const Program&, const Effects&);

}  // namespace WRITEBACK_BUILD
}  // namespace writeback::impl
