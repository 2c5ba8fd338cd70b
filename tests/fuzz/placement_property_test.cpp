// The property that everything rests on, on random programs drawn by RapidCheck: the placement is never unsafe by the reference,
// and where effects and shapes are exact it is the reference's earliest. RC_PARAMS="max_success=1000000 seed=7" asks for more, or
// others.
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <cstdlib>

#include "fuzz/testing.h"

namespace writeback {
namespace {

/// RapidCheck's own default is 100 programs. What the user asks for in the environment stands.
const int kManyPrograms = setenv("RC_PARAMS", "max_success=100000 seed=1", 0);

RC_GTEST_PROP(PlacementProperty, IsSafeAndEarliestOnRandomPrograms, ()) {
  static const auto kFast = fuzz::implementation("fast");
  const Program program = *testing::programs();
  Options options = options_of(program);
  if (*rc::gen::inRange(0, 4) == 0) options.semantics = Semantics::sequential;
  const fuzz::Judged judged = fuzz::judge(*kFast, program, options, {});
  RC_ASSERT(kManyPrograms == 0);
  RC_ASSERT(judged.verdict == fuzz::Verdict::right || judged.verdict == fuzz::Verdict::skipped);
}

}  // namespace
}  // namespace writeback
