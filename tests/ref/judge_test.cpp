#include "ref/judge.h"

#include <gtest/gtest.h>

#include "ref/graph/text.h"
#include "tests/ref/small_programs.h"

namespace writeback::ref {
namespace {

Placement moved(Placement p, std::size_t copy, std::size_t slot) {
  p.copies[copy].at = {slot_at(slot), 99};
  return p;
}

TEST(Judge, CopyAfterTheLastReaderIsSafe) {
  const Program p = small_program("b_a x", {"new = add(b_a, x)", "y = mul(b_a, new)"}, "new -> b_a, y");
  const Placement earliest = earliest_by_trace(p, {});
  EXPECT_EQ(earliest.copies[0].at.slot, slot_at(2));
  EXPECT_EQ(judge(p, earliest, {}).verdict, Verdict::safe);
}

TEST(Judge, CopyBeforeAReaderNamesTheReader) {
  const Program p = small_program("b_a x", {"new = add(b_a, x)", "y = mul(b_a, new)"}, "new -> b_a, y");
  const Judgement j = judge(p, moved(earliest_by_trace(p, {}), 0, 1), {});
  EXPECT_EQ(j.verdict, Verdict::unsafe);
  ASSERT_FALSE(j.hazards.empty());
  EXPECT_EQ(j.hazards[0].rule, "reads_target");
  EXPECT_EQ(j.hazards[0].node, "y");
  EXPECT_EQ(j.witness->where, "node y");
}

TEST(Judge, CopyBeforeItsValueIsComputedCannotRun) {
  const Program p = small_program("b_a x", {"new = add(b_a, x)", "y = neg(x)"}, "new -> b_a, y");
  const Judgement j = judge(p, moved(earliest_by_trace(p, {}), 0, 0), {});
  EXPECT_EQ(j.verdict, Verdict::unsafe);
  EXPECT_EQ(j.hazards.at(0).rule, "computes_value");
}

TEST(Judge, ReadThroughALaterAliasHoldsTheCopy) {
  const Program p = small_program("b_a x", {"v = view_copy(b_a, [4])", "new = add(b_a, x)", "y = neg(v)"}, "new -> b_a, y");
  EXPECT_EQ(earliest_by_trace(p, {}).copies[0].at.slot, slot_at(3));
  const Judgement j = judge(p, moved(earliest_by_trace(p, {}), 0, 2), {});
  EXPECT_EQ(j.verdict, Verdict::unsafe);
  EXPECT_EQ(j.hazards.at(0).node, "y");
  EXPECT_EQ(j.witness->choices.at("v: lowering"), "lowered");
}

TEST(Judge, WithoutLoweringAViewCopyHoldsNothing) {
  const Program p = small_program("b_a x", {"v = view_copy(b_a, [4])", "new = add(b_a, x)", "y = neg(v)"}, "new -> b_a, y");
  Options none;
  none.lowering = Lowering::none;
  EXPECT_EQ(earliest_by_trace(p, none).copies[0].at.slot, slot_at(2));
}

TEST(Judge, WriteOfTheValueThroughItsBaseHoldsTheCopy) {
  const Program p = small_program("b_a x", {"t = neg(x)", "v = view(t, [4])", "m = mul_(t, 2)"}, "v -> b_a");
  const Judgement j = judge(p, moved(earliest_by_trace(p, {}), 0, 2), {});
  EXPECT_EQ(earliest_by_trace(p, {}).copies[0].at.slot, slot_at(3));
  EXPECT_EQ(j.verdict, Verdict::unsafe);
  EXPECT_EQ(j.hazards.at(0).rule, "writes_value");
  EXPECT_EQ(j.hazards.at(0).node, "m");
}

TEST(Judge, LoweringThatChangesAReaderIsALoweringHazardWhereverTheCopiesStand) {
  const Program p = small_program("b_a x", {"t = neg(x)", "v = view_copy(t, [4])", "m = mul_(t, 2)", "y = sin(v)"}, "m -> b_a, y");
  const Judgement j = judge(p, end_placement(p), {});
  EXPECT_EQ(j.verdict, Verdict::unsafe);
  EXPECT_EQ(j.hazards.at(0).rule, "lowering");
  EXPECT_EQ(j.hazards.at(0).node, "y");
}

TEST(Judge, AnOutputThatNoSlotSuitsIsALoweringHazard) {
  // y is read after m, which truly writes it, and before n, which writes it by lowering alone.
  const Program p =
      small_program("x", {"t = neg(x)", "v = view_copy(t, [4])", "y = view(v, [4])", "n = mul_(t, 2)", "m = mul_(v, 3)"}, "y");
  const Judgement j = judge(p, end_placement(p), {});
  EXPECT_EQ(j.verdict, Verdict::unsafe);
  EXPECT_EQ(j.hazards.at(0).rule, "lowering");
}

TEST(Judge, DelayLineAtTheEndIsUnsafeUnderParallelSemanticsAlone) {
  const Program p = small_program("b_a b_b x", {"y = neg(x)"}, "x -> b_a, b_a -> b_b, y");
  EXPECT_EQ(judge(p, end_placement(p), {}).verdict, Verdict::unsafe);
  EXPECT_EQ(clobbered(p, {}), (std::vector<Clobbered>{{1, 0}}));
  Options sequential;
  sequential.semantics = Semantics::sequential;
  EXPECT_EQ(judge(p, end_placement(p), sequential).verdict, Verdict::safe);
}

TEST(Judge, ValueThatOverlapsItsTargetIsATrapWithoutATemporary) {
  const Program p = small_program("b_a:2,2", {"v = t(b_a) : 2,2"}, "v -> b_a");
  Placement earliest = earliest_by_trace(p, {});
  EXPECT_EQ(earliest.temporaries.size(), 1u);
  EXPECT_EQ(judge(p, earliest, {}).verdict, Verdict::safe);
  EXPECT_EQ(judge(p, end_placement(p), {}).verdict, Verdict::unsafe);
}

TEST(Judge, AnOpaqueResultThatIsAnArgumentHasItsOwnSizes) {
  const Program p = small_program("b_a:2,2 b_b", {"t = my::mix(b_a) : 4"}, "t -> b_b", {"# schema: my::mix(Tensor x) -> Tensor"});
  EXPECT_EQ(judge(p, end_placement(p), {}).verdict, Verdict::safe);
}

TEST(Judge, ValueThatDoesNotHaveItsSizesYetIsATrap) {
  const Program p = small_program("b_a:1,4 x:4,1", {"n = neg(x) : 4,1", "t = t_(n) : 1,4", "y = neg(x) : 4,1"}, "n -> b_a, y");
  Placement early = end_placement(p);
  early.copies[0].at = {slot_at(1), 0};
  EXPECT_EQ(judge(p, early, {}).verdict, Verdict::unsafe);
  EXPECT_EQ(judge(p, end_placement(p), {}).verdict, Verdict::safe);
}

TEST(Judge, ChoicesThatAreNamedAreTriedFirst) {
  const Program p = small_program("b_a x", {"v = reshape(b_a, [4])", "new = neg(x)", "y = sin(v)"}, "new -> b_a, y");
  Placement early = end_placement(p);
  early.copies[0].at.slot = slot_at(2);
  Limits one;
  one.choices = 1;
  Arena arena;
  Judge judge(p, {}, one, arena);
  EXPECT_NE(judge.judge(early).verdict, Verdict::unsafe) << "the one choice tried is the copy";
  Limits all;
  const Judgement found = writeback::ref::judge(p, early, {}, all);
  ASSERT_EQ(found.verdict, Verdict::unsafe);
  EXPECT_EQ(judge.judge(early, found.witness->choices).verdict, Verdict::unsafe);
}

TEST(Judge, ChoicesBeyondTheLimitLeaveItUndecidedUnlessStoragesDecide) {
  const Program p = small_program("b_a x", {"u = reshape(x, [4])", "v = reshape(u, [4])", "m = mul_(v, 2)", "new = add(b_a, m)"},
                                  "new -> b_a, v");
  Limits few;
  few.choices = 2;
  EXPECT_EQ(judge(p, end_placement(p), {}, few).verdict, Verdict::safe);
}

TEST(Judge, WriteToATensorThatOverlapsItselfIsRefused) {
  const Program p = small_program("b_a x:1", {"e = expand(x, [4])", "m = mul_(e, 2)"}, "m -> b_a");
  EXPECT_THROW(judge(p, end_placement(p), {}), std::exception);
}

}  // namespace
}  // namespace writeback::ref
