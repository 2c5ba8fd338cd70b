#include <fmt/format.h>
#include <gtest/gtest.h>

#include "ref/meaning.h"
#include "tests/ref/small_programs.h"

namespace writeback::ref {
namespace {

Program large(const std::string& n, const std::vector<std::string>& nodes) {
  return small_program(fmt::format("b_a:{0} x:{0}", n), nodes, "new -> b_a, y");
}

class OneCell : public testing::TestWithParam<std::string> {};

TEST_P(OneCell, EarliestPlacementIsSafeAndOneSlotEarlierIsNot) {
  const std::string n = GetParam();
  const std::string sizes = fmt::format(" : {}", n);
  const Program p = large(n, {fmt::format("v = view_copy(b_a, [-1]){}", sizes), fmt::format("new = add(b_a, x){}", sizes),
                              fmt::format("y = mul(v, v){}", sizes)});
  Placement earliest = earliest_by_trace(p, {});
  EXPECT_EQ(earliest.copies[0].at.slot, slot_at(3));
  const Judgement j = judge(p, earliest, {});
  EXPECT_EQ(j.verdict, Verdict::safe);
  EXPECT_EQ(j.method, Method::one_cell);
  earliest.copies[0].at = {slot_at(2), 0};
  const Judgement early = judge(p, earliest, {});
  EXPECT_EQ(early.verdict, Verdict::unsafe);
  EXPECT_EQ(early.hazards.at(0).rule, "reads_target");
  EXPECT_EQ(early.hazards.at(0).node, "y");
}

INSTANTIATE_TEST_SUITE_P(LargeAndSymbolic, OneCell, testing::Values("100000", "s0"));

TEST(OneCellParts, APartThatTheCopyDoesNotTouchDoesNotMakeItUnsafe) {
  const Program p =
      small_program("b_a:50000 b_b:50000 x:50000", {"h = slice(b_b, 0, 0, 10) : 10", "new = neg(x) : 50000", "y = neg(h) : 10"},
                    "new -> b_a, y", {"# alias: b_a = b_b[50000; 50000; 1]"});
  const Judgement j = judge(p, earliest_by_trace(p, {}), {});
  EXPECT_NE(j.verdict, Verdict::unsafe);
}

TEST(OneCellChoices, ThousandsOfViewCopiesAreDecidedAllAtOnce) {
  std::vector<std::string> nodes = {"v0 = neg(b_a) : 10000"};
  for (int i = 1; i < 600; ++i) {
    nodes.push_back(i % 2 ? fmt::format("v{} = view_copy(v{}, [10000]) : 10000", i, i - 1)
                          : fmt::format("v{} = sin(v{}) : 10000", i, i - 1));
  }
  nodes.push_back("new = neg(v599) : 10000");
  nodes.push_back("y = neg(new) : 10000");
  const Program p = large("10000", nodes);
  const Placement earliest = earliest_by_trace(p, {});
  EXPECT_EQ(judge(p, earliest, {}).verdict, Verdict::safe);
}

}  // namespace
}  // namespace writeback::ref
