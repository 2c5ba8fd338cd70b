// Programs on a planned arena: whatever the placement and the planner, a program gives the values there that it gives with one
// storage a tensor; and a plan with one live range cut short does not.
#include "ref/planned.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "impl/coalesce.h"
#include "impl/import/import.h"
#include "impl/plan/executorch.h"
#include "impl/plan/measure.h"
#include "ref/graph/error.h"
#include "ref/graph/text.h"
#include "tests/corpus/expectations.h"
#include "tests/impl/small_program.h"

namespace writeback::corpus {
namespace {

using impl::plan::Planner;

std::optional<std::string> difference(const Program& placed, std::span<const impl::plan::NamedPlace> places,
                                      const Options& options) {
  thread_local ref::Arena arena;
  std::vector<ref::PlannedStorage> storages;
  for (const impl::plan::NamedPlace& p : places) storages.push_back({p.name, p.offset, p.bytes});
  return ref::difference_on_arena(placed, storages, options, 8, arena);
}

/// The four placements of the report.
std::vector<Program> placements(const Program& program, const Options& options) {
  const Placement earliest = impl::place(program, options).placement;
  std::vector<Program> all{with_explicit_copies(program, end_placement(program))};
  for (const impl::Savings savings : {impl::Savings{}, {.forward = true}, {.forward = true, .coalesce = true}}) {
    all.push_back(impl::rewrite(program, earliest, savings, options).program);
  }
  return all;
}

void expect_same_on_every_arena(const std::string& name, const Program& program, const Options& options) {
  for (const Program& placed : placements(program, options)) {
    for (const Planner planner : {Planner::executorch_fixed, Planner::naive, Planner::first_fit, Planner::best}) {
      const auto different = difference(placed, impl::plan::places(placed, options, planner), options);
      EXPECT_FALSE(different) << name << " by " << name_of(planner) << ": " << *different << "\n" << print_text(placed);
      if (different) return;
    }
  }
}

TEST(Planned, EveryProgramOfTheCorpusGivesTheSameOnEveryArena) {
  std::vector<Case> cases = text_cases();
  for (Case& c : random_cases()) cases.push_back(std::move(c));
  for (const Case& c : cases) expect_same_on_every_arena(c.name, c.program, c.options);
}

TEST(Planned, EveryModelGivesTheSameOnEveryArena) {
  std::size_t models = 0;
  for (const auto& file : std::filesystem::directory_iterator(std::filesystem::path(WRITEBACK_TESTS_DIR) / "models")) {
    const std::string name = file.path().filename().string();
    if (!name.ends_with(".edge.txt") || name.starts_with("decoder")) continue;
    try {
      expect_same_on_every_arena(name, impl::read_program_file(file.path().string()), {});
    } catch (const InputError&) {
      continue;  // sizes that are no numbers
    }
    ++models;
  }
  EXPECT_GE(models, 20u);
}

TEST(Planned, AnEarlyCopyIntoAnInputIsLostByTheReleasedLifetimes) {
  const Program program = impl::small_program(
      "x; z\nnew = aten.neg.default(x)\ny = aten.sin.default(z)\nw = aten.cos.default(y)\nv = aten.neg.default(w)\n-> x = new, v");
  const Program placed = with_explicit_copies(program, impl::place(program).placement);
  EXPECT_EQ(difference(placed, impl::plan::places(placed, {}, Planner::executorch), {}), "target x");
  EXPECT_NE(impl::plan::measure(placed, {}).executorch_fault, "");
  EXPECT_FALSE(difference(placed, impl::plan::places(placed, {}, Planner::executorch_fixed), {}));
}

/// Each live range in turn ends before its last reader; true where the reference sees one of the cuts.
bool sees_a_cut(const Program& program) {
  const Program placed = with_explicit_copies(program, impl::place(program).placement);
  impl::plan::LoweringInput input;
  input.fidelity = impl::plan::Fidelity::fixed;
  const impl::plan::LoweredGraph graph = impl::plan::lower(placed, {}, input);
  const impl::plan::ExecutorchPlan plan = executorch_greedy(graph, {impl::plan::Fidelity::fixed, 16, true});
  const impl::plan::PlanBuffers whole = buffers_of(graph, plan);
  for (std::size_t cut = 0; cut < whole.buffers.size(); ++cut) {
    std::vector<impl::plan::Buffer> buffers = whole.buffers;
    buffers[cut].end -= 2;  // a result lives from its allocation on, a step before its op
    const impl::plan::Allocation allocation = impl::plan::first_fit_by_size(buffers);
    std::vector<impl::plan::NamedPlace> places;
    for (std::size_t i = 0; i < plan.specs.size(); ++i) {
      places.push_back({graph.specs[plan.specs[i].spec].name, allocation.offsets[whole.owner[i]], buffers[whole.owner[i]].bytes});
    }
    if (difference(placed, places, {})) return true;
  }
  return false;
}

TEST(Planned, ALiveRangeCutShortIsSeenAsAWrongValue) {
  std::size_t seen = 0, programs = 0;
  for (const Case& c : random_cases()) {
    if (programs == 100) break;
    ++programs;
    seen += sees_a_cut(c.program);
  }
  EXPECT_GT(seen, programs / 4) << "where a cut leaves two storages apart all the same, nothing is to be seen";
}

}  // namespace
}  // namespace writeback::corpus
