#include <writeback/testing.h>

// A pass that hands the work on, tested twice: by cases of a campaign, and by RapidCheck.
writeback::Placement my_pass(const writeback::Program& program, const writeback::Options& options) {
  return writeback::impl::place(program, options).placement;
}

TEST(MyPass, PlacesSafely) { EXPECT_TRUE(writeback::testing::survives(my_pass, 500)); }

RC_GTEST_PROP(MyPass, PlacesRandomProgramsSafely, ()) {
  const writeback::Program program = *writeback::testing::programs();
  writeback::testing::require_safe(my_pass, program);
}
