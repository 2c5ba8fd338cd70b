// Overlap of regions against the cells themselves.
#include "impl/regions.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>

namespace writeback::impl {
namespace {

void collect(const Region& r, std::size_t dimension, std::int64_t at, std::set<std::int64_t>& cells) {
  if (dimension == r.sizes.size()) {
    cells.insert(at);
    return;
  }
  for (std::int64_t i = 0; i < r.sizes[dimension]; ++i) collect(r, dimension + 1, at + i * r.strides[dimension], cells);
}

bool share_a_cell(const Region& a, const Region& b) {
  std::set<std::int64_t> x, y;
  collect(a, 0, a.offset, x);
  collect(b, 0, b.offset, y);
  return std::any_of(x.begin(), x.end(), [&](std::int64_t cell) { return y.contains(cell); });
}

TEST(Regions, OverlapIsExactOnSmallRegions) {
  std::mt19937 random(7);
  const auto draw = [&](int n) { return static_cast<std::int64_t>(random() % static_cast<unsigned>(n)); };
  const auto region = [&] {
    Region r;
    r.offset = draw(12);
    for (std::int64_t i = draw(4); i > 0; --i) {
      r.sizes.push_back(draw(8) == 0 ? 0 : 1 + draw(4));
      r.strides.push_back(draw(9));
    }
    return r;
  };
  int disjoint = 0;
  for (int i = 0; i < 20000; ++i) {
    const Region a = region(), b = region();
    ASSERT_EQ(overlap(a, b), share_a_cell(a, b)) << i;
    disjoint += !overlap(a, b);
  }
  EXPECT_GT(disjoint, 1000);
}

TEST(Regions, ColumnsOfOneMatrixAreApart) {
  const auto column = [](std::int64_t j) { return Region{j, {1 << 20}, {1 << 10}}; };
  EXPECT_FALSE(overlap(column(3), column(4)));
  EXPECT_TRUE(overlap(column(3), column(3)));
}

TEST(Regions, HugeRegionsDoNotOverflow) {
  const std::int64_t big = std::int64_t{1} << 62;
  const Region all{0, {big, 2}, {2, 1}}, odd{1, {big}, {2}};
  EXPECT_TRUE(overlap(all, odd));
}

TEST(Regions, APartOverlapsWhatItsWholeDoesAndIsNeverTheSame) {
  RegionTable table;
  const RegionId left = table.intern(Region::contiguous({4})), right = table.intern(Region::contiguous({4}, 4));
  const RegionId part = table.part_of(left);
  EXPECT_TRUE(table.overlap(part, left));
  EXPECT_FALSE(table.overlap(part, right));
  EXPECT_FALSE(table.same(part, part));
  EXPECT_TRUE(table.overlap(table.unknown(), right));
}

TEST(Regions, SymbolicTensorsAreTheSameOnlyAsThemselves) {
  RegionTable table;
  const RegionId a = table.add_symbolic(), b = table.add_symbolic();
  EXPECT_TRUE(table.same(a, a));
  EXPECT_FALSE(table.same(a, b));
  EXPECT_TRUE(table.overlap(a, b));
}

}  // namespace
}  // namespace writeback::impl
