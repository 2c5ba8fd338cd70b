#include "fuzz/exhaustive.h"

#include <gtest/gtest.h>

#include "ref/graph/text.h"

namespace writeback::fuzz {
namespace {

TEST(Exhaustive, TheCountIsWhatTheEnumerationSees) {
  for (const std::uint32_t world : {0u, 1u}) {
    for (const std::uint32_t nodes : {0u, 1u, 2u}) {
      Enumeration e{Alphabet::small, world, nodes, 0, 1};
      EXPECT_EQ(enumerate(e, [](const Program&) { return true; }), count(e)) << nodes << " nodes, world " << world;
    }
    Enumeration e{Alphabet::full, world, 1, 0, 1};
    EXPECT_EQ(enumerate(e, [](const Program&) { return true; }), count(e));
  }
}

TEST(Exhaustive, ShardsAddUpToTheWhole) {
  std::uint64_t sum = 0;
  for (std::uint64_t shard = 0; shard < 7; ++shard) {
    sum += enumerate({Alphabet::full, 0, 1, shard, 7}, [](const Program&) { return true; });
  }
  EXPECT_EQ(sum, count({Alphabet::full, 0, 1, 0, 1}));
}

/// All programs of the shard are judged and right, in both worlds; without shards their number is the closed form's.
void expect_right(std::uint32_t nodes, std::uint64_t shards) {
  const auto fast = implementation("fast");
  for (const std::uint32_t world : {0u, 1u}) {
    const Enumeration e{Alphabet::full, world, nodes, 0, shards};
    const Exhaustion all = judge_all(*fast, e, {});
    if (all.failure) FAIL() << all.failure->second.reason << "\n" << print_text(all.failure->first);
    if (shards == 1) {
      EXPECT_EQ(all.cases, count(e));
    }
    EXPECT_GT(all.cases, 0u);
    EXPECT_LE(all.skipped * 1000, all.cases);
  }
}

TEST(Exhaustive, EveryProgramOfOneNodeIsRight) { expect_right(1, 1); }
TEST(Exhaustive, EverySixtiethProgramOfTwoNodesIsRight) { expect_right(2, 60); }
TEST(Exhaustive, EveryProgramOfTwoNodesIsRightLong) { expect_right(2, 1); }

}  // namespace
}  // namespace writeback::fuzz
