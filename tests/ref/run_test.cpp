#include "ref/run.h"

#include <gtest/gtest.h>

#include "ref/graph/error.h"
#include "ref/meaning.h"
#include "tests/ref/small_programs.h"

namespace writeback::ref {
namespace {

RunResult meaning_of(const Program& p, std::map<std::string, std::vector<std::int64_t>> inputs, const Options& options = {}) {
  RunOptions how;
  how.inputs = std::move(inputs);
  return run(p, nullptr, options, how);
}

TEST(Run, ParallelSemanticsReadsAllValuesBeforeItWrites) {
  const Program p = small_program("b_a:1 b_b:1 x:1", {"y = neg(x) : 1"}, "x -> b_a, b_a -> b_b, y");
  const RunResult r = meaning_of(p, {{"b_a", {1}}, {"b_b", {2}}, {"x", {3}}});
  EXPECT_EQ(r.state.at("b_a"), Values{"3"});
  EXPECT_EQ(r.state.at("b_b"), Values{"1"});
}

TEST(Run, SequentialSemanticsLetsALaterCopyReadWhatAnEarlierOneWrote) {
  const Program p = small_program("b_a:1 b_b:1 x:1", {"y = neg(x) : 1"}, "x -> b_a, b_a -> b_b, y");
  Options sequential;
  sequential.semantics = Semantics::sequential;
  EXPECT_EQ(meaning_of(p, {{"b_a", {1}}, {"b_b", {2}}, {"x", {3}}}, sequential).state.at("b_b"), Values{"3"});
}

TEST(Run, AnOutputThatIsATargetIsReadBeforeTheTargetIsWritten) {
  const Program p = small_program("b_a:2 x:2", {"new = add(b_a, x) : 2"}, "new -> b_a, b_a");
  EXPECT_EQ(meaning_of(p, {{"b_a", {1, 2}}, {"x", {10, 10}}}).outputs.at(0), (Values{"1", "2"}));
}

TEST(Run, InPlaceOpsWriteThroughViews) {
  const Program p = small_program("x", {"h = slice(x, 0, 1, 3) : 2", "m = mul_(h, 10) : 2"}, "x");
  EXPECT_EQ(meaning_of(p, {{"x", {1, 2, 3, 4}}}).outputs.at(0), (Values{"1", "20", "30", "4"}));
}

TEST(Run, ForeachWorksElementByElement) {
  const Program p =
      small_program("x:1", {"t = neg(x) : 1", "v = view(t, [1]) : 1", "l = _foreach_add_.Scalar([t, v], 1) : none"}, "t");
  EXPECT_EQ(meaning_of(p, {{"x", {5}}}).outputs.at(0), Values{"-3"});
}

TEST(Run, AnOutArgumentHoldsWhatTheOperandsDtypeComputes) {
  const Program p =
      small_program("x:1", {"t = lt.Scalar(x, 9) : b8[1]", "o = full([1], 5) : i64[1]", "r = add.out(t, t, out=o) : i64[1]"}, "o");
  EXPECT_EQ(meaning_of(p, {{"x", {7}}}).outputs.at(0), Values{"1"});
}

TEST(Run, InPlaceTransposeChangesTheGeometryOfAllNames) {
  const Program p = small_program("x:2,2", {"a = neg(x) : 2,2", "b = t_(a) : 2,2", "c = add(a, 0) : 2,2"}, "c");
  EXPECT_EQ(meaning_of(p, {{"x", {1, 2, 3, 4}}}).outputs.at(0), (Values{"-1", "-3", "-2", "-4"}));
}

TEST(Run, WriteBackBroadcastsTheValue) {
  const Program p = small_program("b_a:2,2 x:2", {"v = neg(x) : 2"}, "v -> b_a");
  EXPECT_EQ(meaning_of(p, {{"b_a", {0, 0, 0, 0}}, {"x", {1, 2}}}).state.at("b_a"), (Values{"-1", "-2", "-1", "-2"}));
}

TEST(Run, WhatHasNoKernelPrintsAsATerm) {
  const Program p = small_program("x:1", {"y = sin(x) : 1", "z = add(y, y) : 1"}, "z");
  EXPECT_EQ(meaning_of(p, {{"x", {7}}}).outputs.at(0), Values{"add.Tensor(sin(7)[0], sin(7)[0])[0]"});
}

TEST(Run, LoweringShowsWhereAViewCopyBecomesAnAlias) {
  const Program p =
      small_program("b_a:2 x:2", {"v = view_copy(b_a, [2]) : 2", "m = mul_(b_a, 2) : 2", "y = neg(v) : 2"}, "m -> b_a, y");
  RunOptions how;
  how.inputs = {{"b_a", {1, 2}}, {"x", {0, 0}}};
  const Placement end = end_placement(p);
  EXPECT_EQ(run(p, &end, {}, how).outputs.at(0), (Values{"-1", "-2"}));
  how.lowered = true;
  EXPECT_EQ(run(p, &end, {}, how).outputs.at(0), (Values{"-2", "-4"}));
}

TEST(Run, AValueThatDoesNotFitItsTargetIsRefused) {
  const Program p = small_program("b_a:4 x:3", {"v = neg(x) : 3"}, "v -> b_a");
  EXPECT_THROW(meaning_of(p, {}), InputError);
}

TEST(Run, TrappedTellsOfACopyWhoseValueOverlapsItsTarget) {
  const Program p = small_program("b_a:2,2", {"v = t(b_a) : 2,2"}, "v -> b_a");
  const Placement end = end_placement(p), earliest = earliest_by_trace(p, {});
  EXPECT_TRUE(run(p, &end, {}, {}).trapped);
  EXPECT_FALSE(run(p, &earliest, {}, {}).trapped);
}

TEST(Run, DrawnContentsDependOnTheSeedAlone) {
  const Program p = small_program("x", {"y = neg(x)"}, "y");
  RunOptions one, two;
  two.seed = 1;
  EXPECT_EQ(run(p, nullptr, {}, one).inputs, run(p, nullptr, {}, one).inputs);
  EXPECT_NE(run(p, nullptr, {}, one).inputs, run(p, nullptr, {}, two).inputs);
}

TEST(Run, ContentsOfTheWrongSizeAreRefused) {
  const Program p = small_program("x", {"y = neg(x)"}, "y");
  EXPECT_THROW(meaning_of(p, {{"x", {1, 2, 3}}}), InputError);
  EXPECT_THROW(meaning_of(p, {{"nobody", {1}}}), InputError);
}

}  // namespace
}  // namespace writeback::ref
