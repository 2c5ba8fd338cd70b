// The port of ExecuTorch's planner gives the bytes that ExecuTorch 1.4.1 gave for the same programs: total, and each storage's
// size, lifetime and offset, in the same order, with its own placement and with ours. The files hold the edge program as printed
// and what was measured (by measure_executorch.py).
#include "impl/plan/executorch.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "impl/place.h"
#include "ref/graph/text.h"

namespace writeback::impl::plan {
namespace {

using Row = std::vector<std::int64_t>;

/// What ExecuTorch planned for a program under one placement.
struct Measured {
  std::int64_t total = 0;
  std::vector<Row> specs;  ///< bytes, first, last, offset
};

struct Measurements {
  std::string name;
  Program program, early_program;  ///< these differ where a mutated parameter becomes a buffer
  Measured released, early, corrected;
};

Measured measured(const nlohmann::json& json) {
  Measured m{json["bufsizes"][1], {}};
  for (const auto& spec : json["specs"]) m.specs.push_back({spec[1], spec[2], spec[3], spec[4]});
  return m;
}

std::vector<Measurements> measurements() {
  std::vector<Measurements> all;
  for (const auto& entry :
       std::filesystem::directory_iterator(std::filesystem::path(WRITEBACK_TESTS_DIR) / "impl/plan/executorch")) {
    const auto json = nlohmann::json::parse(std::ifstream(entry.path()));
    const auto text = json["edge_text"].get<std::string>();
    all.push_back({json["name"], read_text(text), read_text(json["early"].value("edge_text", text)), measured(json),
                   measured(json["early"]), measured(json["corrected"])});
  }
  return all;
}

ExecutorchPlan planned(const Program& program, const Placement& placement, Fidelity fidelity) {
  LoweringInput input;
  input.fidelity = fidelity;
  return executorch_greedy(lower(with_explicit_copies(program, placement), {}, input), {fidelity, 16, true});
}

void expect_to_the_byte(const ExecutorchPlan& plan, const Measured& measured, const std::string& name) {
  std::vector<Row> rows;
  for (const PlannedSpec& s : plan.specs) rows.push_back({s.bytes, s.first, s.last, s.offset});
  EXPECT_EQ(plan.total, measured.total) << name;
  EXPECT_EQ(rows, measured.specs) << name;
}

TEST(Executorch, PlansToTheByteAsExecutorchDoes) {
  const std::vector<Measurements> all = measurements();
  ASSERT_GE(all.size(), 23u);
  for (const Measurements& m : all)
    expect_to_the_byte(planned(m.program, released_placement(m.program), Fidelity::released), m.released, m.name);
}

TEST(Executorch, PlansEarlyCopiesToTheByteAsExecutorchDoes) {
  for (const Measurements& m : measurements()) {
    const Placement earliest = impl::place(m.early_program).placement;
    expect_to_the_byte(planned(m.early_program, earliest, Fidelity::released), m.early, m.name);
    expect_to_the_byte(planned(m.early_program, earliest, Fidelity::fixed), m.corrected, m.name + ", corrected");
  }
}

TEST(Executorch, FixedPlansAreValidAndReleasedOnesAreNoLowerThanTheirBound) {
  for (const Measurements& m : measurements()) {
    const Program placed = with_explicit_copies(m.program, end_placement(m.program));
    LoweringInput input;
    input.fidelity = Fidelity::fixed;
    const LoweredGraph graph = lower(placed, {}, input);
    const ExecutorchPlan plan = executorch_greedy(graph, {Fidelity::fixed, 16, true});
    const PlanBuffers buffers = buffers_of(graph, plan);
    Allocation allocation{std::vector<std::int64_t>(buffers.buffers.size(), 0), plan.total};
    for (std::size_t i = 0; i < plan.specs.size(); ++i) allocation.offsets[buffers.owner[i]] = plan.specs[i].offset;
    EXPECT_FALSE(validate(buffers.buffers, allocation)) << m.name;
    EXPECT_GE(plan.total, lower_bound(buffers.buffers).bytes) << m.name;
  }
}

TEST(Executorch, ThePortfolioIsWithinOnePercentOfTheBoundOnRealPrograms) {
  for (const Measurements& m : measurements()) {
    for (const Placement& placement : {end_placement(m.program), impl::place(m.program).placement}) {
      const LoweredGraph graph = lower(with_explicit_copies(m.program, placement), {}, {Fidelity::fixed, 16, {}});
      const std::vector<Buffer> buffers = buffers_of(graph, executorch_greedy(graph, {Fidelity::fixed, 16, true})).buffers;
      EXPECT_LE(static_cast<double>(portfolio(buffers).total), 1.01 * static_cast<double>(lower_bound(buffers).bytes)) << m.name;
    }
  }
}

}  // namespace
}  // namespace writeback::impl::plan
