// `--impl`: which implementation places the copies. fast is ours; end, trace and search are the three answers of the reference.
#pragma once

#include <string>

#include "impl/place.h"

namespace writeback::cli {

/// What --impl takes, for --help.
extern const char* const kImplementations;

/// Throws InputError on an unknown name. Results of implementations other than ours carry no reasons.
impl::PlaceResult place_with(const std::string& implementation, const Program&, const Options&);

}  // namespace writeback::cli
