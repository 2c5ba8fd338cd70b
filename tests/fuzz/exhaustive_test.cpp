#include "fuzz/exhaustive.h"

#include <gtest/gtest.h>

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

}  // namespace
}  // namespace writeback::fuzz
