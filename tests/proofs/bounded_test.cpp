// The bounded theorem holds, and fails for a program in our text when a clause of the rules is taken out.
#include "proofs/bounded.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "proofs/smt.h"
#include "ref/graph/text.h"

namespace writeback::proofs {
namespace {

void expect_proved(int bound) {
  ProveOptions options;
  options.bound = bound;
  const Row row = prove_bounded(options);
  EXPECT_EQ(row.verdict, Verdict::proved) << row.note;
  EXPECT_FALSE(row.vacuous);
  EXPECT_EQ(row.solver, "z3+cadical");
}

TEST(Bounded, WhatIsAcceptedIsSafeForAllProgramsOfOneNode) { expect_proved(1); }

TEST(Bounded, TheSameInOneQueryWithoutTheInvariant) {
  z3::context context;
  const Logic logic(context);
  const Encoding encoding(logic, 1, Writes::faithful);
  z3::expr_vector formulas(context);
  for (const Bool& assumption : encoding.assumptions()) formulas.push_back(assumption);
  EXPECT_EQ(ask_z3(formulas, 60).sat, Sat::sat);
  formulas.push_back(encoding.claims().back().broken);
  EXPECT_EQ(ask_z3(formulas, 60).sat, Sat::unsat);
}

/// CaDiCaL's proof of every query is checked by a program that is not CaDiCaL.
void expect_checked(std::size_t nodes, Solver solver, const std::string& solvers) {
  ProveOptions options;
  options.solver = solver;
  options.check_proofs = true;
  const std::vector<Row> rows = prove_steps(nodes, options);
  EXPECT_GT(rows.size(), 20u);
  for (const Row& row : rows) {
    EXPECT_EQ(row.verdict, Verdict::proved) << row.claim << ": " << row.note;
    EXPECT_EQ(row.solver, solvers) << row.claim;
  }
}

TEST(Bounded, TheProofsOfOneNodeCheck) { expect_checked(1, Solver::cvc5, "cadical+drat"); }
TEST(Bounded, TheProofsOfTwoNodesCheck) { expect_checked(2, Solver::cvc5, "cadical+drat"); }
TEST(BoundedLong, TheProofsOfFourNodesCheck) { expect_checked(4, Solver::both, "z3+cadical+drat"); }

TEST(Bounded, EachStepIsHeardOf) {
  ProveOptions options;
  options.bound = 1;
  std::vector<std::string> heard;
  options.progress = [&](const Row& step, std::size_t steps) {
    heard.push_back(step.claim);
    EXPECT_EQ(step.verdict, Verdict::proved) << step.claim;
    EXPECT_LE(heard.size(), steps);
  };
  const Row theorem = prove_bounded(options);
  EXPECT_EQ(theorem.note, std::to_string(heard.size()) + " steps");
  EXPECT_EQ(heard.back(), "bounded 1, some program");
}

TEST(BoundedLong, WhatIsAcceptedIsSafeForAllProgramsOfFourNodes) { expect_proved(4); }
TEST(BoundedLong, WhatIsAcceptedIsSafeForAllProgramsOfSixNodes) { expect_proved(6); }

class WithoutClause : public testing::TestWithParam<impl::Clause> {};

TEST_P(WithoutClause, AProgramGoesWrong) {
  std::optional<Counterexample> found;
  for (std::size_t nodes = 1; nodes <= 3 && !found; ++nodes) found = refute(nodes, GetParam(), 300);
  ASSERT_TRUE(found);
  EXPECT_NO_THROW(write_backs(found->program)) << print_text(found->program);
}

INSTANTIATE_TEST_SUITE_P(Quick, WithoutClause,
                         testing::Values(impl::Clause::writes_value, impl::Clause::copy_reads, impl::Clause::copy_writes,
                                         impl::Clause::output_read_first, impl::Clause::not_the_target));

std::vector<impl::Clause> every_placement_clause() {
  std::vector<impl::Clause> all;
  for (std::uint8_t c = 0; c < impl::kPlacementClauses; ++c) all.push_back(static_cast<impl::Clause>(c));
  return all;
}

INSTANTIATE_TEST_SUITE_P(Long, WithoutClause, testing::ValuesIn(every_placement_clause()));

}  // namespace
}  // namespace writeback::proofs
