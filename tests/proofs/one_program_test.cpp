// One program for all choices at once: what is safe is proved, what is not is refuted and the interpreter agrees.
#include "proofs/one_program.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "proofs/least.h"
#include "ref/graph/text.h"
#include "ref/meaning.h"

namespace writeback::proofs {
namespace {

/// The old state is read through `views` nodes that may be aliases of it or of one another, then once more at the end.
Program many_choices(int views) {
  std::string nodes, last = "b_a";
  for (int i = 0; i < views; ++i) {
    nodes += fmt::format("            v{}: \"f32[2]\" = torch.ops.aten.reshape.default({}, [2])\n", i, last);
    last = fmt::format("v{}", i);
  }
  return read_text(
      "ExportedProgram:\n    class GraphModule(torch.nn.Module):\n        def forward(self, b_a: \"f32[2]\", x: \"f32[2]\"):\n" +
      nodes +
      "            new: \"f32[2]\" = torch.ops.aten.add.Tensor(b_a, x)\n"
      "            y: \"f32[2]\" = torch.ops.aten.neg.default(" +
      last +
      ")\n            return (new, y)\n\nGraph signature: \n    # inputs\n    b_a: BUFFER target='a' persistent=True\n    x: "
      "USER_INPUT\n\n"
      "    # outputs\n    new: BUFFER_MUTATION target='a'\n    y: USER_OUTPUT\n\nRange constraints: {}\n");
}

Placement copy_at(std::size_t slot) {
  Placement placement;
  placement.copies.resize(1);
  placement.copies[0].at = {slot_at(slot), 0};
  return placement;
}

TEST(OneProgram, IsProvedForMoreChoicesThanCanBeTried) {
  const Row row = prove_placement(many_choices(60), copy_at(62), {});
  EXPECT_EQ(row.verdict, Verdict::proved) << row.note;
  EXPECT_FALSE(row.vacuous);
  EXPECT_EQ(row.solver, "z3+cvc5");
}

TEST(OneProgram, IsRefutedWhereOneChoiceOfManyGoesWrongAndTheInterpreterAgrees) {
  const Row row = prove_placement(many_choices(8), copy_at(9), {});
  EXPECT_EQ(row.verdict, Verdict::refuted) << row.note;
  EXPECT_EQ(row.solver, "z3+cvc5+interpreter");
  EXPECT_NE(row.note.find("v7: alias"), std::string::npos) << row.note;
}

TEST(OneProgram, IsRefutedWhereACopyStandsBeforeItsValue) {
  EXPECT_EQ(prove_placement(many_choices(1), copy_at(1), {}).verdict, Verdict::refuted);
}

/// The node writes a, and b gets what a is then.
Program born_in_its_target() {
  return read_text(
      "# born_in: new b_a\nExportedProgram:\n    class GraphModule(torch.nn.Module):\n        def forward(self, b_a: \"f32[2]\", "
      "b_b: \"f32[2]\"):\n            new: \"f32[2]\" = torch.ops.aten.add.Tensor(b_a, b_b)\n            return (b_a, new)\n\n"
      "Graph signature: \n    # inputs\n    b_a: BUFFER target='a' persistent=True\n    b_b: BUFFER target='b' persistent=True\n\n"
      "    # outputs\n    b_a: BUFFER_MUTATION target='b'\n    new: BUFFER_MUTATION target='a'\n\nRange constraints: {}\n");
}

TEST(OneProgram, WhereAResultIsBornInAPlaceholderThatIsWritten) {
  Placement placement = copy_at(1);
  placement.copies.resize(2);
  placement.copies[1].in_place = true;
  const Row after = prove_placement(born_in_its_target(), placement, {});
  EXPECT_EQ(after.verdict, Verdict::proved) << after.note;
  EXPECT_EQ(after.solver, "z3+cvc5");
  placement.copies[0].at = {slot_at(0), 0};
  EXPECT_EQ(prove_placement(born_in_its_target(), placement, {}).verdict, Verdict::refuted);
}

TEST(OneProgram, LeastIsWhatTheOptimiserFinds) {
  const auto least = prove_least(many_choices(2), copy_at(4), {});
  ASSERT_TRUE(least);
  EXPECT_EQ(least->verdict, Verdict::proved) << least->note;
  EXPECT_EQ(prove_least(many_choices(2), copy_at(3), {})->verdict, Verdict::refuted);
}

}  // namespace
}  // namespace writeback::proofs
