// The earliest placement by trial: move copies to earlier slots as long as the judge calls it safe.
#pragma once

#include <functional>

#include "ref/graph/placement.h"

namespace writeback::ref {

using IsSafe = std::function<bool(const Placement&)>;

/// Starts from a safe placement. Moves one copy at a time (and pairs of copies, where they are few) to the first slot that is safe,
/// in output order, until nothing moves; before that, does without temporaries that nothing needs.
Placement search_earlier(Placement start, const IsSafe&);

}  // namespace writeback::ref
