// The check of a whole placement by the predicates of rules.h, pair by pair.
#pragma once

#include <vector>

#include "impl/aliases.h"
#include "impl/place.h"
#include "impl/planted.h"

namespace writeback::impl {
inline namespace WRITEBACK_BUILD {

/// As accept of place.h, for a program that has been walked.
std::vector<Conflict> accept(const Program&, const Aliases&, const std::vector<WriteBack>&, const Placement&, const Options&);

}  // namespace WRITEBACK_BUILD
}  // namespace writeback::impl
