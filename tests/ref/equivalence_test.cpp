#include <gtest/gtest.h>

#include "ref/graph/error.h"
#include "ref/graph/text.h"
#include "ref/meaning.h"
#include "tests/ref/small_programs.h"

namespace writeback::ref {
namespace {

const Program& before() {
  static const Program p =
      small_program("b_a x", {"v = view_copy(b_a, [4])", "new = add(b_a, x)", "y = mul(v, v)"}, "new -> b_a, y");
  return p;
}

TEST(Equivalent, ExplicitCopiesOfASafePlacement) {
  EXPECT_EQ(equivalent(before(), with_explicit_copies(before(), earliest_by_trace(before(), {})), {}).verdict, Verdict::safe);
}

TEST(Equivalent, ALoweredProgramIsJudgedAsAWhole) {
  const Program after =
      small_program("b_a x", {"v = view(b_a, [4])", "new = add(b_a, x)", "y = mul(v, v)", "c = copy_(b_a, new)"}, "c -> b_a, y");
  EXPECT_EQ(equivalent(before(), after, {}).verdict, Verdict::safe);
}

TEST(Equivalent, ALoweredProgramThatReadsTheNewStateIsNot) {
  const Program after =
      small_program("b_a x", {"v = view(b_a, [4])", "new = add(b_a, x)", "c = copy_(b_a, new)", "y = mul(v, v)"}, "c -> b_a, y");
  const Judgement j = equivalent(before(), after, {});
  EXPECT_EQ(j.verdict, Verdict::unsafe);
  EXPECT_EQ(j.hazards.at(0).rule, "reads_target");
  EXPECT_EQ(j.hazards.at(0).node, "y");
}

TEST(Equivalent, ADroppedCopyIsUnsafe) {
  const Program after = small_program("b_a x", {"w = view(b_a, [4])", "new = add(b_a, x)", "y = mul(w, w)"}, "new -> b_a, y");
  const Judgement j = equivalent(before(), after, {});
  EXPECT_EQ(j.verdict, Verdict::unsafe);
  EXPECT_EQ(j.hazards.back().target, "b_a");
}

/// A pass that drops dead nodes besides is judged by its copies: dead nodes make no other failure of one.
TEST(Equivalent, WhatAPassCleansUpChangesNoHazard) {
  const std::vector<std::string> used = {"v = view_copy(b_a, [4])", "new = add(b_a, x)"};
  const Program kept = small_program("b_a x", {used[0], used[1], "y = mul(v, v)"}, "new -> b_a, y");
  const Program dead = small_program("b_a x", {used[0], "d = neg(x)", "e = neg(d)", used[1], "y = mul(v, v)"}, "new -> b_a, y");
  const Program after = small_program("b_a x", {used[0], used[1], "c = copy_(b_a, new)", "y = mul(v, v)"}, "c -> b_a, y");
  const Judgement expected = equivalent(kept, after, {}), found = equivalent(dead, after, {});
  ASSERT_EQ(expected.verdict, Verdict::unsafe);
  EXPECT_EQ(found.hazards.at(0).rule, expected.hazards.at(0).rule);
  EXPECT_EQ(found.hazards.at(0).target, "b_a");
  const Program written = small_program("b_a x", {used[0], "d = neg_(x)", used[1], "y = mul(v, v)"}, "new -> b_a, y");
  const Program at_end = small_program("b_a x", {used[0], used[1], "y = mul(v, v)", "c = copy_(b_a, new)"}, "c -> b_a, y");
  EXPECT_EQ(equivalent(dead, at_end, {}).verdict, Verdict::safe);
  EXPECT_EQ(equivalent(written, at_end, {}).verdict, Verdict::unsafe);  // a node that writes is not dead
}

TEST(Equivalent, AnOutputThatLoweringMakesAViewOfAnInputMayBeOne) {
  const Program copies = small_program("b_a", {"v = view_copy(b_a, [4])", "w = view(v, [2, 2])"}, "w");
  const Program views = small_program("b_a", {"v = view(b_a, [4])", "w = view(v, [2, 2])"}, "w");
  EXPECT_EQ(equivalent(copies, views, {}).verdict, Verdict::safe);
  Options unlowered;
  unlowered.lowering = Lowering::none;
  EXPECT_EQ(equivalent(copies, views, unlowered).verdict, Verdict::unsafe);
  const Program returned = small_program("b_a", {"v = view_copy(b_a, [4])"}, "v");
  EXPECT_EQ(equivalent(returned, small_program("b_a", {"v = view(b_a, [4])"}, "v"), {}).verdict, Verdict::unsafe);
}

/// zeros_like looks at the metadata of its operand alone.
Program zeros_like_a_view(const std::string& view, const std::string& meta) {
  return read_text("def forward(self, b_a: \"f32[2, 3]\"):\n    v: \"f32" + meta + "\" = torch.ops.aten." + view +
                   "\n    z: \"f32[3, 2]\" = torch.ops.aten.zeros_like.default(v)\n    return (z,)\n");
}

TEST(Equivalent, WhetherTheStridesOfAViewAreToldMakesNoDifference) {
  const Program untold = zeros_like_a_view("t.default(b_a)", "[3, 2]");
  EXPECT_EQ(equivalent(untold, zeros_like_a_view("t.default(b_a)", "[3, 2][1, 3]"), {}).verdict, Verdict::safe);
  EXPECT_EQ(equivalent(untold, zeros_like_a_view("view.default(b_a, [3, 2])", "[3, 2]"), {}).verdict, Verdict::unsafe);
}

TEST(Equivalent, AnotherInterfaceIsRefusedAndTheDifferenceIsNamed) {
  const auto message = [](const Program& after) -> std::string {
    try {
      equivalent(before(), after, {});
    } catch (const InputError& e) {
      return e.what();
    }
    return "";
  };
  EXPECT_EQ(message(small_program("b_a z", {"new = add(b_a, z)"}, "new -> b_a, new")),
            "input 1: the first program has %x, the second %z");
  EXPECT_EQ(message(small_program("b_a", {"new = neg(b_a)"}, "new -> b_a, new")), "inputs: the first program has 2, the second 1");
  EXPECT_EQ(message(small_program("b_a x", {"new = neg(b_a)"}, "new -> b_a")),
            "outputs: the first program has 1 user outputs, the second 0");
}

TEST(Equivalent, ChoicesAreMatchedByTheNamesOfNodes) {
  const Program p = small_program("b_a x", {"r = reshape(x, [4])", "m = mul_(r, 2)", "new = add(x, b_a)"}, "new -> b_a");
  const Program q = small_program(
      "b_a x", {"r = reshape(x, [4])", "m = mul_(r, 2)", "new = add(x, b_a)", "k = clone(new)", "c = copy_(b_a, k)"}, "c -> b_a");
  EXPECT_EQ(equivalent(p, q, {}).verdict, Verdict::safe);
}

/// A text that the tool printed of an archive: strides are left out, of symbolic sizes too.
TEST(Equivalent, WhatTheSecondTextDoesNotTellTheFirstProgramTells) {
  Program p = small_program("b_a:4 x:s0,4", {"t = permute(x, [1, 0]) : 4,s0", "s = sum(t, [1]) : 4", "new = add(b_a, s) : 4"},
                            "new -> b_a, s");
  std::get<TensorMeta>(p.graph.placeholders[1].meta).strides = {4, 1};
  std::get<TensorMeta>(p.graph.nodes[0].meta).strides = {1, 4};
  Program q = small_program("b_a:4 x:s0,4",
                            {"t = permute(x, [1, 0]) : 4,s0", "s = sum(t, [1]) : 4", "new = add(b_a, s) : 4",
                             "c = copy_(b_a, new) : 4", "k = view(s, [4]) : 4"},
                            "c -> b_a, k");
  const Judgement j = equivalent(p, q, {});
  EXPECT_EQ(j.method, Method::one_cell);
  EXPECT_EQ(j.verdict, Verdict::safe) << j.note;
}

TEST(Equivalent, WithOneCellADifferenceOfWholeProgramsIsNoVerdict) {
  const Program p = small_program("b_a:s0 x:s0", {"new = add(b_a, x) : s0", "y = neg(x) : s0"}, "new -> b_a, y");
  const Program q = small_program("b_a:s0 x:s0", {"new = add(b_a, x) : s0", "n = sin(x) : s0", "y = neg(n) : s0"}, "new -> b_a, y");
  const Judgement j = equivalent(p, q, {});
  EXPECT_EQ(j.verdict, Verdict::undecided);
  EXPECT_EQ(j.note, "with one cell a storage the runs differ at node y");
}

}  // namespace
}  // namespace writeback::ref
