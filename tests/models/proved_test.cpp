// The real programs once more, by the solvers: for all choices at once each placement of ours has the meaning, none is earlier, and
// a copy that stands one slot earlier has a counterexample that the interpreter confirms, or reads what is not computed yet.
#include <gtest/gtest.h>

#include <map>
#include <string>

#include "impl/import/import.h"
#include "impl/place.h"
#include "proofs/least.h"
#include "proofs/one_program.h"
#include "tests/models/files.h"

namespace writeback {
namespace {

proofs::ProveOptions with(proofs::Solver solver) {
  proofs::ProveOptions options;
  options.solver = solver;
  return options;
}

/// Programs lowered to the edge dialect, where choices are many; or all.
std::vector<std::filesystem::path> some_files(bool all) {
  auto files = model_files(all ? std::set<std::string>{".pt2", ".txt"} : std::set<std::string>{".txt"});
  if (!all) std::erase_if(files, [](const auto& path) { return path.string().find(".edge.") == std::string::npos; });
  return files;
}

/// Halves of one storage are told apart by the rules alone: with one cell a storage the order of their writes counts.
void expect_proved(proofs::Solver solver, bool all) {
  std::size_t by_rules = 0;
  for (const auto& path : some_files(all)) {
    const Program program = impl::read_program_file(path.string());
    const Placement placement = impl::place(program).placement;
    const proofs::Row row = proofs::prove_placement(program, placement, {}, with(solver));
    EXPECT_FALSE(row.vacuous) << path.filename();
    if (row.verdict == proofs::Verdict::proved) continue;
    ++by_rules;
    EXPECT_EQ(row.verdict, proofs::Verdict::unknown) << path.filename() << ": " << row.note;
    EXPECT_TRUE(impl::accept(program, placement).empty()) << path.filename();
  }
  EXPECT_LE(by_rules, 2u);
}

/// A copy that stood right behind its value now reads it too early; all others have a counterexample that the interpreter confirms.
void expect_refuted_earlier(bool all, std::size_t with_counterexample) {
  std::map<std::string, std::size_t> moved;  // by who refutes it
  for (const auto& path : some_files(all)) {
    const Program program = impl::read_program_file(path.string());
    const Placement placement = impl::place(program).placement;
    for (std::size_t i = 0; i < placement.copies.size() && (all || i < 2); ++i) {
      if (placement.copies[i].in_place || index_of(placement.copies[i].at.slot) == 0) continue;
      Placement earlier = placement;
      earlier.copies[i].at = {slot_at(index_of(placement.copies[i].at.slot) - 1), 1000};
      const proofs::Row row = proofs::prove_placement(program, earlier, {}, with(proofs::Solver::z3));
      EXPECT_EQ(row.verdict, proofs::Verdict::refuted) << path.filename() << ", copy " << i << ": " << row.note;
      ++moved[row.solver];
    }
  }
  EXPECT_GE(moved["order"], 20u);
  EXPECT_GE(moved["z3+interpreter"], with_counterexample);
}

TEST(ModelsProved, EveryPlacementHasTheMeaningForAllChoices) { expect_proved(proofs::Solver::z3, false); }
TEST(ModelsProved, OneSlotEarlierIsRefuted) { expect_refuted_earlier(false, 5); }

TEST(ModelsProvedLong, EveryPlacementHasTheMeaningForTwoSolvers) { expect_proved(proofs::Solver::both, true); }
TEST(ModelsProvedLong, OneSlotEarlierIsRefuted) { expect_refuted_earlier(true, 21); }

TEST(ModelsProvedLong, NoPlacementIsEarlierForTheOptimiser) {
  for (const auto& path : some_files(true)) {
    const Program program = impl::read_program_file(path.string());
    const auto row = proofs::prove_least(program, impl::place(program).placement, {});
    ASSERT_TRUE(row) << path.filename();
    EXPECT_EQ(row->verdict, proofs::Verdict::proved) << path.filename() << ": " << row->note;
  }
}

}  // namespace
}  // namespace writeback
