#include "impl/cli/implementation.h"

#include "ref/graph/error.h"
#include "ref/meaning.h"

namespace writeback::cli {

const char* const kImplementations = "fast (default), end, trace or search (the reference)";

impl::PlaceResult place_with(const std::string& implementation, const Program& program, const Options& options) {
  if (implementation == "fast") return impl::place(program, options);
  impl::PlaceResult result;
  result.write_backs = write_backs(program);
  if (implementation == "end") {
    result.placement = end_placement(program);
  } else if (implementation == "trace") {
    result.placement = ref::earliest_by_trace(program, options);
  } else if (implementation == "search") {
    result.placement = ref::earliest_by_search(program, options);
  } else {
    throw InputError("--impl", "expected " + std::string(kImplementations) + ", got '" + implementation + "'");
  }
  return result;
}

}  // namespace writeback::cli
