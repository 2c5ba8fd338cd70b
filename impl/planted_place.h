// The placement with a fault planted in it, for those who test testers. Link writeback_impl_planted.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "impl/place.h"

namespace writeback::impl::faulty {

/// Turns a fault on in this thread; Fault::none turns it off.
void plant(Fault);

PlaceResult place(const Program&, const Options&);
std::vector<Conflict> accept(const Program&, const Placement&, const Options&);
std::string sentence(const Program&, const PlaceResult&, std::uint32_t copy);

}  // namespace writeback::impl::faulty
