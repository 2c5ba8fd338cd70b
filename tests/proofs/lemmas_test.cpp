// Every lemma is proved by both solvers, and every one of its conditions is needed.
#include "proofs/lemmas.h"

#include <gtest/gtest.h>

#include <set>

#include "impl/rule.h"

namespace writeback::proofs {
namespace {

TEST(Lemmas, AreProvedByBothSolversAndAreNotVacuous) {
  for (const Row& row : prove_lemmas()) {
    EXPECT_EQ(row.verdict, Verdict::proved) << row.claim << ": " << row.note;
    EXPECT_FALSE(row.vacuous) << row.claim;
    EXPECT_EQ(row.solver, "z3+cvc5");
  }
}

TEST(Lemmas, AreRefutedWithoutAnyOneOfTheirConditions) {
  for (const Lemma& lemma : lemmas())
    for (const std::string& condition : conditions_of(lemma)) {
      z3::context context;
      EXPECT_EQ(ask_z3(query_of(context, lemma, condition).negated(), 10).sat, Sat::sat) << lemma.name << " without " << condition;
    }
}

TEST(Lemmas, StandOnEveryClauseOfTheRules) {
  std::set<std::string> used;
  for (const Lemma& lemma : lemmas())
    for (const std::string& condition : conditions_of(lemma)) used.insert(condition);
  for (std::uint8_t c = 0; c < impl::kClauseCount; ++c)
    EXPECT_TRUE(used.contains(std::string(impl::name_of(static_cast<impl::Clause>(c))))) << static_cast<int>(c);
}

}  // namespace
}  // namespace writeback::proofs
