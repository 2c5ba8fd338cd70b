// The layer over the solvers: what counts as a proof, and everything that must not.
#include "proofs/smt.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <string>

#include "proofs/process.h"

namespace writeback::proofs {
namespace {

class Smt : public testing::TestWithParam<Second> {
 protected:
  z3::expr_vector none() { return z3::expr_vector(context_); }
  z3::expr_vector only(const z3::expr& e) {
    z3::expr_vector v(context_);
    v.push_back(e);
    return v;
  }
  Row row(const z3::expr_vector& assumptions, const z3::expr& claim, ProveOptions options = {}) {
    return decide({"a claim", assumptions, claim}, GetParam(), options, Workspace(options.smt2));
  }

  z3::context context_;
  z3::expr p_ = context_.bool_const("p"), q_ = context_.bool_const("q");
};

TEST_P(Smt, WhatFollowsIsProvedByBoth) {
  const Row r = row(only(p_ && q_), q_);
  EXPECT_EQ(r.verdict, Verdict::proved) << r.note;
  EXPECT_EQ(r.solver, GetParam() == Second::cvc5 ? "z3+cvc5" : "z3+cadical");
}

TEST_P(Smt, WhatDoesNotFollowIsRefuted) { EXPECT_EQ(row(only(p_ || q_), q_).verdict, Verdict::refuted); }

TEST_P(Smt, ContradictoryAssumptionsProveNothing) {
  const Row r = row(only(p_ && !p_), q_);
  EXPECT_EQ(r.verdict, Verdict::unknown);
  EXPECT_TRUE(r.vacuous);
}

TEST_P(Smt, AMissingSolverIsSaidAndIsNoProof) {
  const std::string path = std::getenv("PATH");
  setenv("PATH", "/nowhere", 1);
  const Row r = row(none(), p_ || !p_);
  setenv("PATH", path.c_str(), 1);
  EXPECT_EQ(r.verdict, Verdict::unknown);
  EXPECT_NE(r.note.find("not installed"), std::string::npos) << r.note;
}

TEST_P(Smt, BareSolversGiveTheSameAnswersOnTheFilesLeftBehind) {
  ProveOptions options;
  options.smt2 = testing::TempDir() + "writeback-smt2";
  ASSERT_EQ(row(only(p_ && q_), q_, options).verdict, Verdict::proved);
  const Workspace folder(options.smt2);
  if (GetParam() == Second::cvc5) {
    for (const char* solver : {"z3", "cvc5"})
      EXPECT_EQ(run({solver, folder.file("a claim", ".smt2").string()}, 10).output, "unsat\n") << solver;
    EXPECT_EQ(run({"z3", folder.file("a claim assumptions", ".smt2").string()}, 10).output, "sat\n");
  } else {
    EXPECT_EQ(run({"cadical", "-q", folder.file("a claim", ".cnf").string()}, 10).status, 20);
    EXPECT_EQ(run({"z3", folder.file("a claim", ".cnf").string()}, 10).output.substr(0, 7), "s UNSAT");
    EXPECT_TRUE(std::filesystem::exists(folder.file("a claim", ".drat")));
  }
}

TEST_P(Smt, OnlyCadicalLeavesProofsThatAreChecked) {
  ProveOptions options;
  options.check_proofs = true;
  const Row r = row(only(p_ && q_), q_, options);
  EXPECT_EQ(r.verdict, Verdict::proved) << r.note;
  EXPECT_EQ(r.solver, GetParam() == Second::cvc5 ? "z3+cvc5" : "z3+cadical+drat");
  EXPECT_EQ(row(only(p_ || q_), q_, options).verdict, Verdict::refuted);
}

TEST(SmtProofs, AnUnsatWhoseProofIsWrongIsNoProof) {
  // A CaDiCaL that calls everything unsatisfiable, and gives the empty clause alone as a proof.
  const std::filesystem::path folder = testing::TempDir() + "writeback-liar";
  std::filesystem::create_directories(folder);
  write_file(folder / "cadical", "#!/bin/sh\nfor proof; do :; done\necho 0 > $proof\nexit 20\n");
  std::filesystem::permissions(folder / "cadical", std::filesystem::perms::owner_all);
  z3::context context;
  ProveOptions options;
  options.solver = Solver::cvc5;
  options.check_proofs = true;
  const std::string path = std::getenv("PATH");
  setenv("PATH", (folder.string() + ":" + path).c_str(), 1);
  const Query query{"a claim", z3::expr_vector(context), context.bool_const("p") || context.bool_const("q"), false};
  const Row r = decide(query, Second::cadical, options, Workspace({}));
  setenv("PATH", path.c_str(), 1);
  EXPECT_EQ(r.verdict, Verdict::unknown);
  EXPECT_NE(r.note.find("cadical's proof: line 1 of the proof: the clause does not follow"), std::string::npos) << r.note;
}

INSTANTIATE_TEST_SUITE_P(BothOpinions, Smt, testing::Values(Second::cvc5, Second::cadical),
                         [](const auto& info) { return info.param == Second::cvc5 ? "Cvc5" : "Cadical"; });

TEST(Process, ATimeOutIsNoAnswer) {
  const Outcome outcome = run({"sleep", "5"}, 0.05);
  EXPECT_EQ(outcome.kind, Outcome::Kind::timed_out);
  EXPECT_LT(outcome.seconds, 2);
}

TEST(Process, ExitStatusAndOutputComeBack) {
  const Outcome outcome = run({"sh", "-c", "echo out; echo err >&2; exit 7"}, 5);
  EXPECT_EQ(outcome.status, 7);
  EXPECT_EQ(outcome.output, "out\nerr\n");
}

}  // namespace
}  // namespace writeback::proofs
