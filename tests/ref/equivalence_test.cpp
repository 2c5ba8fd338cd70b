#include <gtest/gtest.h>

#include "ref/graph/error.h"
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

TEST(Equivalent, OtherInputsAreRefused) {
  EXPECT_THROW(equivalent(before(), small_program("b_a z", {"new = add(b_a, z)"}, "new -> b_a, new"), {}), InputError);
}

TEST(Equivalent, ChoicesAreMatchedByTheNamesOfNodes) {
  const Program p = small_program("b_a x", {"r = reshape(x, [4])", "m = mul_(r, 2)", "new = add(x, b_a)"}, "new -> b_a");
  const Program q = small_program(
      "b_a x", {"r = reshape(x, [4])", "m = mul_(r, 2)", "new = add(x, b_a)", "k = clone(new)", "c = copy_(b_a, k)"}, "c -> b_a");
  EXPECT_EQ(equivalent(p, q, {}).verdict, Verdict::safe);
}

}  // namespace
}  // namespace writeback::ref
