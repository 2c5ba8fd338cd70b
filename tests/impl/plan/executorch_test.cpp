// The port of ExecuTorch's planner gives the bytes that ExecuTorch 1.4.1 gave for the same programs: total, and each storage's
// size, lifetime and offset, in the same order. The files hold the edge program as printed and what was measured.
#include "impl/plan/executorch.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "ref/graph/text.h"

namespace writeback::impl::plan {
namespace {

using Row = std::vector<std::int64_t>;

struct Measured {
  std::string name;
  Program program;
  std::int64_t total = 0;
  std::vector<Row> specs;  ///< bytes, first, last, offset
};

std::vector<Measured> measurements() {
  std::vector<Measured> all;
  for (const auto& entry :
       std::filesystem::directory_iterator(std::filesystem::path(WRITEBACK_TESTS_DIR) / "impl/plan/executorch")) {
    const auto json = nlohmann::json::parse(std::ifstream(entry.path()));
    Measured m{json["name"], read_text(json["edge_text"].get<std::string>()), json["bufsizes"][1], {}};
    for (const auto& spec : json["specs"]) m.specs.push_back({spec[1], spec[2], spec[3], spec[4]});
    all.push_back(std::move(m));
  }
  return all;
}

ExecutorchPlan planned(const Program& program, const Placement& placement, Fidelity fidelity) {
  LoweringInput input;
  input.fidelity = fidelity;
  return executorch_greedy(lower(with_explicit_copies(program, placement), {}, input), {fidelity, 16, true});
}

TEST(Executorch, PlansToTheByteAsExecutorchDoes) {
  const std::vector<Measured> all = measurements();
  ASSERT_GE(all.size(), 20u);
  for (const Measured& m : all) {
    const ExecutorchPlan plan = planned(m.program, released_placement(m.program), Fidelity::released);
    std::vector<Row> rows;
    for (const PlannedSpec& s : plan.specs) rows.push_back({s.bytes, s.first, s.last, s.offset});
    EXPECT_EQ(plan.total, m.total) << m.name;
    EXPECT_EQ(rows, m.specs) << m.name;
  }
}

TEST(Executorch, FixedPlansAreValidAndReleasedOnesAreNoLowerThanTheirBound) {
  for (const Measured& m : measurements()) {
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

}  // namespace
}  // namespace writeback::impl::plan
