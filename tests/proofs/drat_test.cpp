// The checker of DRAT proofs: good proofs check, and whatever is wrong with one is said, with its line.
#include "proofs/drat.h"

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "proofs/process.h"
#include "proofs/smt.h"

namespace writeback::proofs {
namespace {

/// No model; unit propagation alone does not see it.
constexpr const char* kSquare = "c 1 p\np cnf 2 4\n1 2 0\n1 -2 0\n-1 2 0\nc 2 q\n-1 -2 0\n";

TEST(Drat, AProofOfUnitsChecks) {
  const DratAnswer answer = check_drat(kSquare, "1 0\n0\n");
  EXPECT_TRUE(answer.refutes) << answer.flaw;
  EXPECT_EQ(answer.added, 2u);
}

TEST(Drat, AContradictionNeedsNoProof) {
  EXPECT_TRUE(check_drat("p cnf 0 1\n0\n", "").refutes);
  EXPECT_TRUE(check_drat("p cnf 1 2\n1 0\n-1 0\n", "0\nd -1 0\n").refutes);
}

TEST(Drat, LiteralsMayStandTwiceAndATautologySaysNothing) {
  EXPECT_TRUE(check_drat("p cnf 2 5\n1 2 1 0\n-1 1 0\n1 -2 0\n-1 2 0\n-1 -2 0\n", "1 1 0\n2 -2 0\n0\n").refutes);
}

TEST(Drat, ADeletedClauseIsNoLongerThere) {
  EXPECT_TRUE(check_drat(kSquare, "1 0\nd 2 1 0\n0\n").refutes);
  EXPECT_EQ(check_drat(kSquare, "d 2 1 0\n1 0\n0\n").flaw, "line 2 of the proof: the clause does not follow by unit propagation");
}

TEST(Drat, OneOfTwoEqualClausesIsDeleted) {
  EXPECT_TRUE(check_drat("p cnf 2 5\n1 2 0\n2 1 0\n1 -2 0\n-1 2 0\n-1 -2 0\n", "d 1 2 0\n1 0\n0\n").refutes);
}

TEST(Drat, ALiteralStaysTrueWhenItsReasonIsDeleted) {
  const char* cnf = "p cnf 4 6\n1 0\n-1 2 0\n-2 3 4 0\n-2 3 -4 0\n-2 -3 4 0\n-2 -3 -4 0\n";
  EXPECT_TRUE(check_drat(cnf, "d -1 2 0\nd 1 0\n3 0\n0\n").refutes);
}

struct Bad {
  const char* what;
  std::string cnf, proof, flaw;
};

class BadProof : public testing::TestWithParam<Bad> {};

TEST_P(BadProof, IsRefusedWithAReason) {
  const DratAnswer answer = check_drat(GetParam().cnf, GetParam().proof);
  EXPECT_FALSE(answer.refutes);
  EXPECT_EQ(answer.flaw, GetParam().flaw);
}

const std::string kFollows = "the clause does not follow by unit propagation", kNumber = "no number where one must stand";

INSTANTIATE_TEST_SUITE_P(
    Every, BadProof,
    testing::Values(Bad{"NeededClauseLeftOut", kSquare, "0\n", "line 1 of the proof: " + kFollows},
                    Bad{"DoesNotFollow", "p cnf 2 2\n1 2 0\n-1 2 0\n", "2 0\n1 0\n", "line 2 of the proof: " + kFollows},
                    Bad{"OnlyRat", "p cnf 2 1\n1 2 0\n", "1 0\n", "line 1 of the proof: " + kFollows},
                    Bad{"NoEmptyClause", kSquare, "1 0\n", "the proof ends without the empty clause"},
                    Bad{"Nothing", kSquare, "", "the proof ends without the empty clause"},
                    Bad{"CutOff", kSquare, "1 0\n0\n1 -2", "line 3 of the proof: " + kNumber},
                    Bad{"Word", kSquare, "1 0\nx 0\n", "line 2 of the proof: " + kNumber},
                    Bad{"LongNumber", kSquare, "99999999999999999999 0\n", "line 1 of the proof: " + kNumber},
                    Bad{"NewVariable", kSquare, "-3 0\n", "line 1 of the proof: -3 is no literal of the CNF"},
                    Bad{"BinaryForm", kSquare, std::string("a\x02\x00", 3), "line 1 of the proof: " + kNumber},
                    Bad{"Garbage", kSquare, "\xff\xfe\x01 \n\x80", "line 1 of the proof: " + kNumber},
                    Bad{"NoHeader", "1 2 0\n", "0\n", "line 1 of the CNF: no header"},
                    Bad{"NoCnf", "", "0\n", "line 1 of the CNF: no header"},
                    Bad{"FewerClauses", "p cnf 1 2\n1 0\n", "0\n", "line 3 of the CNF: not as many clauses as the header says"},
                    Bad{"ManyVariables", "p cnf 99999999999 0\n", "0\n", "line 1 of the CNF: too many variables"},
                    Bad{"NegativeVariables", "p cnf -1 0\n", "0\n", "line 1 of the CNF: too many variables"}),
    [](const auto& info) { return std::string(info.param.what); });

/// `pigeons` in one hole less, one clause a line: no model, and one as soon as any clause is left out.
std::vector<std::string> pigeons_in_holes(int pigeons) {
  const int holes = pigeons - 1;
  const auto in = [&](int pigeon, int hole) { return pigeon * holes + hole + 1; };
  std::vector<std::string> clauses;
  for (int p = 0; p < pigeons; ++p) {
    std::string somewhere;
    for (int h = 0; h < holes; ++h) somewhere += std::to_string(in(p, h)) + " ";
    clauses.push_back(somewhere + "0\n");
    for (int h = 0; h < holes; ++h)
      for (int other = 0; other < p; ++other)
        clauses.push_back("-" + std::to_string(in(p, h)) + " -" + std::to_string(in(other, h)) + " 0\n");
  }
  return clauses;
}

std::string cnf_of(int pigeons, const std::vector<std::string>& clauses) {
  std::string text = "p cnf " + std::to_string(pigeons * (pigeons - 1)) + " " + std::to_string(clauses.size()) + "\n";
  for (const std::string& clause : clauses) text += clause;
  return text;
}

TEST(Drat, ACadicalProofChecksAndRefutesNothingThatHasAModel) {
  constexpr int kPigeons = 6;
  const std::vector<std::string> clauses = pigeons_in_holes(kPigeons);
  const Workspace workspace({});
  const auto file = workspace.file("pigeons", ".cnf"), proof_file = workspace.file("pigeons", ".drat");
  write_file(file, cnf_of(kPigeons, clauses));
  ASSERT_EQ(ask_cadical(file, 60, proof_file).sat, Sat::unsat);
  EXPECT_EQ(ask_checker(file, proof_file).sat, Sat::unsat) << ask_checker(file, proof_file).note;
  std::ostringstream proof;
  proof << std::ifstream(proof_file).rdbuf();
  for (std::size_t i = 0; i < clauses.size(); ++i) {
    std::vector<std::string> others = clauses;
    others.erase(others.begin() + static_cast<std::ptrdiff_t>(i));
    const DratAnswer answer = check_drat(cnf_of(kPigeons, others), proof.str());
    EXPECT_FALSE(answer.refutes) << "without " << clauses[i];
    EXPECT_NE(answer.flaw.find(kFollows), std::string::npos) << answer.flaw;
  }
}

}  // namespace
}  // namespace writeback::proofs
