// The placement with a fault planted in it, for those who test testers. Link writeback_impl_planted.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "impl/coalesce.h"
#include "impl/place.h"

namespace writeback::impl {
#ifdef WRITEBACK_PLANTED
inline  // in that build it is the namespace of everything
#endif
    namespace faulty {

/// Turns a fault on in this thread, and any other off; Fault::none turns all off.
void plant(Fault);
/// Leaves a clause of the rules out instead.
void plant(Clause);

PlaceResult place(const Program&, const Options&);
std::vector<Conflict> accept(const Program&, const Placement&, const Options&);
Rewritten rewrite(const Program&, const Placement&, Savings, const Options&, const std::vector<std::string>& comments);
std::string sentence(const Program&, const PlaceResult&, std::uint32_t copy);

}  // namespace faulty
}  // namespace writeback::impl
