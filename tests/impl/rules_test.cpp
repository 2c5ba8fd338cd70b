// The rules on sets of cells that are bit masks: each clause holds a copy back by itself.
#include "impl/rules.h"

#include <gtest/gtest.h>

namespace writeback::impl {
namespace {

struct Bits {
  using Bool = bool;
  using Set = unsigned;
  bool meet(unsigned a, unsigned b) const { return (a & b) != 0; }
  bool meet_anew(unsigned a, unsigned b) const { return (a & b) != 0; }
  bool either(bool a, bool b) const { return a || b; }
  bool both(bool a, bool b) const { return a && b; }
  bool negate(bool a) const { return !a; }
  bool clause(Clause c, bool b) const { return b && c != out; }
  Clause out = static_cast<Clause>(kClauseCount);
};

constexpr Cells<Bits> kNone{0, 0};

TEST(Rules, EachClauseOfAReadHoldsByItself) {
  const Cells<Bits> value{1, 2};
  EXPECT_TRUE(read_after_node(Bits{}, value, {true, kNone, kNone}, true));
  EXPECT_FALSE(read_after_node(Bits{Clause::computes_value}, value, {true, kNone, kNone}, true));
  EXPECT_TRUE(read_after_node(Bits{}, value, {true, kNone, {1, 0}}, false));
  EXPECT_FALSE(read_after_node(Bits{Clause::writes_value}, value, {true, kNone, {1, 0}}, false));
  EXPECT_FALSE(read_after_node(Bits{}, value, {true, kNone, {2, 1}}, false)) << "what lowering does is a deadline";
}

TEST(Rules, EachClauseOfADeadlineHoldsByItself) {
  const Cells<Bits> value{1, 2};
  const auto before = [&](Clause out, Cells<Bits> writes) {
    return read_before_node(Bits{out}, value, {true, kNone, writes}, true);
  };
  const Clause all = static_cast<Clause>(kClauseCount);
  EXPECT_TRUE(before(all, {0, 1}));
  EXPECT_FALSE(before(Clause::lowered_write_hits_value, {0, 1}));
  EXPECT_TRUE(before(all, {2, 0}));
  EXPECT_FALSE(before(Clause::write_hits_lowered_value, {2, 0}));
  EXPECT_TRUE(before(all, {0, 2}));
  EXPECT_FALSE(before(Clause::lowered_write_hits_lowered_value, {0, 2}));
  EXPECT_FALSE(before(all, {1, 0})) << "a write as the program has it is no deadline";
  EXPECT_FALSE(read_before_node(Bits{}, value, {true, kNone, {2, 0}}, false)) << "nor one before the value's birth";
}

TEST(Rules, DeadReadersDoNotHoldButDeadWritersDo) {
  EXPECT_TRUE(write_after_node(Bits{}, 1u, {true, {1, 0}, kNone}));
  EXPECT_FALSE(write_after_node(Bits{}, 1u, {false, {1, 1}, kNone}));
  EXPECT_TRUE(write_after_node(Bits{}, 1u, {false, kNone, {1, 0}}));
  EXPECT_TRUE(write_after_node(Bits{}, 1u, {true, {0, 1}, kNone}));
  EXPECT_FALSE(write_after_node(Bits{Clause::reads_target_by_lowering}, 1u, {true, {0, 1}, kNone}));
}

TEST(Rules, InParallelTheReaderComesFirstInSequenceTheOutputOrderDecides) {
  const Cells<Bits> value{1, 0};
  EXPECT_TRUE(read_before_write(Bits{}, value, 1u, false, false));
  EXPECT_FALSE(read_before_write(Bits{}, value, 1u, false, true));
  EXPECT_TRUE(read_after_write(Bits{}, value, 1u, false, true));
  EXPECT_FALSE(read_after_write(Bits{}, value, 1u, true, true));
  EXPECT_FALSE(output_before_write(Bits{}, value, 1u, true));
}

}  // namespace
}  // namespace writeback::impl
