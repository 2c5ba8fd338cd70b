#include "ref/graph/region.h"

#include <gtest/gtest.h>

#include <limits>
#include <set>
#include <utility>

namespace writeback {
namespace {

constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();

/// By definition: visits every index.
bool overlaps_by_counting(const Region& r) {
  std::multiset<std::int64_t> cells;
  std::vector<std::int64_t> index(r.sizes.size(), 0);
  if (r.is_empty()) return false;
  for (;;) {
    std::int64_t cell = r.offset;
    for (std::size_t i = 0; i < index.size(); ++i) cell += index[i] * r.strides[i];
    if (cells.count(cell) != 0) return true;
    cells.insert(cell);
    std::size_t i = 0;
    while (i < index.size() && ++index[i] == r.sizes[i]) index[i++] = 0;
    if (i == index.size()) return false;
  }
}

TEST(Region, NumelAndEndCountCells) {
  EXPECT_EQ(Region::contiguous({2, 3}, 4).numel(), 6);
  EXPECT_EQ(Region::contiguous({2, 3}, 4).end(), 10);
  EXPECT_EQ((Region{3, {2, 2}, {10, 3}}.end()), 17);
  EXPECT_EQ(Region::contiguous({}).numel(), 1);
  EXPECT_EQ(Region::contiguous({2, 0}, 7).end(), 0);
}

TEST(Region, HugeSizesSaturate) {
  EXPECT_EQ(Region::contiguous({kMax, 2}).numel(), kMax);
  EXPECT_EQ(Region::contiguous({kMax, kMax, 3}).end(), kMax);
  EXPECT_EQ(Region::contiguous({kMax, kMax, 0}).numel(), 0);
}

TEST(Region, OverlapsItselfIsExact) {
  for (std::int64_t code = 0; code < 4 * 4 * 4 * 8 * 8 * 8; ++code) {
    std::int64_t rest = code;
    const auto digit = [&](std::int64_t base) { return std::exchange(rest, rest / base) % base; };
    const Region r{1, {digit(4), digit(4), digit(4)}, {digit(8), digit(8), digit(8)}};
    ASSERT_EQ(r.overlaps_itself(), overlaps_by_counting(r)) << code;
  }
}

TEST(Region, OverlapOfHugeRegionsIsFoundAtOnce) {
  EXPECT_FALSE((Region{0, {1'000'000, 1'000'000}, {1'000'003, 1}}.overlaps_itself()));
  EXPECT_TRUE((Region{0, {1'000'000, 1'000'000}, {999'983, 2}}.overlaps_itself()));
  EXPECT_TRUE((Region{0, {1'000'000, 1'000'000, 5}, {1, 1, 1}}.overlaps_itself()));
}

TEST(Region, SameRegionIgnoresStridesThatDoNotCount) {
  EXPECT_TRUE(same_region({2, {1, 3}, {7, 1}}, {2, {1, 3}, {3, 1}}));
  EXPECT_FALSE(same_region({2, {2, 3}, {7, 1}}, {2, {2, 3}, {3, 1}}));
  EXPECT_FALSE(same_region({2, {3}, {1}}, {3, {3}, {1}}));
  EXPECT_FALSE(same_region({2, {3}, {1}}, {2, {1, 3}, {3, 1}}));
  EXPECT_TRUE(same_region({2, {0, 3}, {3, 1}}, {5, {0, 3}, {9, 9}}));
}

}  // namespace
}  // namespace writeback
