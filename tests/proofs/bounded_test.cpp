// The bounded theorem holds, and fails for a program in our text when a clause of the rules is taken out.
#include "proofs/bounded.h"

#include <gtest/gtest.h>

#include "ref/graph/text.h"

namespace writeback::proofs {
namespace {

TEST(Bounded, WhatIsAcceptedIsSafeForAllProgramsOfOneNode) {
  ProveOptions options;
  options.bound = 1;
  const Row row = prove_bounded(options);
  EXPECT_EQ(row.verdict, Verdict::proved) << row.note;
  EXPECT_FALSE(row.vacuous);
  EXPECT_EQ(row.solver, "z3+cadical");
}

class Dropped : public testing::TestWithParam<int> {};

TEST_P(Dropped, AClauseLeftOutHasACounterexampleInOurText) {
  std::optional<Counterexample> found;
  for (std::size_t nodes = 1; nodes <= 4 && !found; ++nodes) found = refute(nodes, static_cast<impl::Clause>(GetParam()));
  ASSERT_TRUE(found);
  RecordProperty("program", print_text(with_explicit_copies(found->program, found->placement)));
}

INSTANTIATE_TEST_SUITE_P(EachClause, Dropped, testing::Range(0, static_cast<int>(impl::kClauseCount)));

}  // namespace
}  // namespace writeback::proofs
