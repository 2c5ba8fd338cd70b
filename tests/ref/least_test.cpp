#include <gtest/gtest.h>

#include "ref/judge.h"
#include "tests/ref/small_programs.h"

namespace writeback::ref {
namespace {

std::size_t slot(const Placement& p, std::size_t copy) { return index_of(p.copies.at(copy).at.slot); }

TEST(Least, SwapTakesOneTemporary) {
  const Program p = small_program("b_a b_b", {"y = neg(b_a)"}, "b_b -> b_a, b_a -> b_b, y");
  const Placement least = earliest_by_trace(p, {});
  EXPECT_EQ(least.temporaries.size(), 1u);
  EXPECT_EQ(judge(p, least, {}).verdict, Verdict::safe);
}

TEST(Least, RotationOfThreeTakesOneTemporary) {
  const Program p = small_program("b_a b_b b_c", {}, "b_b -> b_a, b_c -> b_b, b_a -> b_c");
  const Placement least = earliest_by_trace(p, {});
  EXPECT_EQ(least.temporaries.size(), 1u);
  EXPECT_EQ(judge(p, least, {}).verdict, Verdict::safe);
}

TEST(Least, ReadOfAViewCopyBeforeItsBaseIsMutatedIsADeadline) {
  const Program p = small_program("b_a x", {"t = neg(x)", "v = view_copy(t, [4])", "m = mul_(t, 2)", "y = sin(m)"}, "v -> b_a, y");
  const Placement least = earliest_by_trace(p, {});
  EXPECT_EQ(slot(least, 0), 2u);
  EXPECT_EQ(judge(p, least, {}).verdict, Verdict::safe);
  const Judgement late = judge(p, end_placement(p), {});
  EXPECT_EQ(late.verdict, Verdict::unsafe);
  EXPECT_EQ(late.hazards.at(0).rule, "deadline");
}

TEST(Least, MissedDeadlineTakesATemporary) {
  const Program p =
      small_program("b_a x", {"t = neg(x)", "v = view_copy(t, [4])", "m = mul_(t, 2)", "y = add(m, b_a)"}, "v -> b_a, y");
  const Placement least = earliest_by_trace(p, {});
  EXPECT_EQ(slot(least, 0), 4u);
  ASSERT_EQ(least.temporaries.size(), 1u);
  EXPECT_EQ(least.temporaries[0].at.slot, slot_at(2));
  EXPECT_EQ(judge(p, least, {}).verdict, Verdict::safe);
}

TEST(Least, OutputThatIsATargetIsReadFirst) {
  const Program p = small_program("b_a x", {"new = add(b_a, x)"}, "new -> b_a, b_a");
  const Placement least = earliest_by_trace(p, {});
  ASSERT_EQ(least.outputs_read_first.size(), 1u);
  Placement without = least;
  without.outputs_read_first.clear();
  EXPECT_EQ(judge(p, without, {}).hazards.at(0).rule, "read_first");
}

TEST(Least, OutputsAreNotReadFirstUnderSequentialSemantics) {
  const Program p = small_program("b_a x", {"new = add(b_a, x)"}, "new -> b_a, b_a");
  Options sequential;
  sequential.semantics = Semantics::sequential;
  const Placement least = earliest_by_trace(p, sequential);
  EXPECT_TRUE(least.temporaries.empty());
  EXPECT_EQ(judge(p, least, sequential).verdict, Verdict::safe);
}

TEST(Least, ConflictingCopiesKeepOutputOrderUnderSequentialSemantics) {
  const Program p = small_program("b_a b_b x", {"y = neg(x)"}, "x -> b_a, b_a -> b_b, y");
  Options sequential;
  sequential.semantics = Semantics::sequential;
  const Placement least = earliest_by_trace(p, sequential);
  EXPECT_LT(least.copies[0].at, least.copies[1].at);
  EXPECT_EQ(judge(p, least, sequential).verdict, Verdict::safe);
}

TEST(Least, InPlaceResultOfTheTargetNeedsNoCopy) {
  const Program p = small_program("b_a x", {"r = add_(b_a, x)"}, "r -> b_a");
  EXPECT_TRUE(earliest_by_trace(p, {}).copies[0].in_place);
  Placement wrong = earliest_by_trace(small_program("b_a x", {"r = add(b_a, x)"}, "r -> b_a"), {});
  wrong.copies[0].in_place = true;
  const Judgement j = judge(small_program("b_a x", {"r = add(b_a, x)"}, "r -> b_a"), wrong, {});
  EXPECT_EQ(j.verdict, Verdict::unsafe);
  EXPECT_EQ(j.hazards.at(0).rule, "in_place");
}

TEST(Least, SharedAllocationThatOverwritesAnOutputIsADeadlineForReadingIt) {
  const Program p = small_program("b_a x", {"t = neg(x)", "u = mul(t, 2)", "n = sin(x)"}, "n -> b_a, t, u", {"# share_alloc: u 0"});
  const Placement least = earliest_by_trace(p, {});
  ASSERT_EQ(least.outputs_read_first.size(), 1u);
  EXPECT_EQ(least.temporaries.at(0).at.slot, slot_at(1));
  EXPECT_EQ(judge(p, least, {}).verdict, Verdict::safe);
}

TEST(Least, RebasedViewCopyReadsTheRoot) {
  const Program p = small_program(
      "b_a x", {"v = view_copy(b_a, [4])", "w = view_copy(v, [2, 2]) : 2,2", "n = neg(x)", "y = sin(w) : 2,2"}, "n -> b_a, y, v");
  const Placement least = earliest_by_trace(p, {});
  EXPECT_EQ(slot(least, 0), 4u);  // v is returned and stays a copy, but w becomes a view of b_a all the same
  EXPECT_EQ(judge(p, least, {}).verdict, Verdict::safe);
}

TEST(Least, OpaqueOpMayReturnAPartOfTheTarget) {
  const Program p = small_program("b_a x", {"t = my::touch(b_a)"}, "t -> b_a", {"# schema: my::touch(Tensor x) -> Tensor"});
  EXPECT_EQ(earliest_by_trace(p, {}).temporaries.size(), 1u);
  Options trusting;
  trusting.trusted = {"my"};
  EXPECT_TRUE(earliest_by_trace(p, trusting).temporaries.empty());
}

TEST(Least, SearchNeverEndsLaterThanTheTrace) {
  const Program p = small_program("b_a b_b x", {"d = add_(b_b, x)", "n = neg(x)", "y = sin(n)"}, "x -> b_b, n -> b_a, y");
  const Placement trace = earliest_by_trace(p, {}), search = earliest_by_search(p, {});
  for (std::size_t i = 0; i < 2; ++i) EXPECT_LE(slot(search, i), slot(trace, i));
  EXPECT_EQ(judge(p, search, {}).verdict, Verdict::safe);
}

}  // namespace
}  // namespace writeback::ref
