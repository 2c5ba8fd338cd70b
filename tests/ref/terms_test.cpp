#include "ref/terms.h"

#include <gtest/gtest.h>

#include "ref/kernels.h"
#include "ref/memory.h"

namespace writeback::ref {
namespace {

TEST(Terms, EqualTermsAreOneObject) {
  Symbols symbols;
  Terms terms;
  const Term x0 = terms.make(symbols.intern("x"), {}, 0, 0), x1 = terms.make(symbols.intern("x"), {}, 0, 1);
  const Term both[] = {x0, x1}, swapped[] = {x1, x0};
  EXPECT_EQ(terms.make(symbols.intern("f"), both), terms.make(symbols.intern("f"), both));
  EXPECT_NE(terms.make(symbols.intern("f"), both), terms.make(symbols.intern("f"), swapped));
  EXPECT_EQ(terms.text(terms.make(symbols.intern("f"), both, 0, 3), symbols), "f(x[0:2])[3]");
}

TEST(Terms, ManyTermsOutgrowTheFirstTable) {
  Symbols symbols;
  Terms terms;
  std::vector<Term> first;
  for (std::uint32_t i = 0; i < 20000; ++i) first.push_back(terms.make(symbols.intern("x"), {}, 0, i));
  for (std::uint32_t i = 0; i < 20000; ++i) ASSERT_EQ(terms.make(symbols.intern("x"), {}, 0, i), first[i]);
  terms.clear();
  EXPECT_EQ(terms.make(symbols.intern("x"), {}, 0, 7), Term{0});
}

TEST(Regions, CellsFollowTheIndicesInRowMajorOrder) {
  EXPECT_EQ(list_cells({1, {2, 2}, {1, 2}}), (std::vector<std::uint32_t>{1, 3, 2, 4}));
  EXPECT_TRUE(list_cells({0, {2, 0}, {1, 1}}).empty());
}

TEST(Regions, ExpandIsBroadcasting) {
  Regions regions;
  const RegionId row = regions.intern(Region::contiguous({3})), matrix = regions.intern(Region::contiguous({2, 3})),
                 four = regions.intern(Region::contiguous({4}));
  EXPECT_EQ(regions.cells(regions.expand(row, matrix)).size(), 6u);
  EXPECT_EQ(regions.expand(four, matrix), kNoRegion);
  EXPECT_EQ(regions.expand(matrix, row), kNoRegion);
}

TEST(Regions, OverlapIsExact) {
  Regions regions;
  const RegionId even = regions.intern({0, {4}, {2}}), odd = regions.intern({1, {4}, {2}}), all = regions.intern({0, {8}, {1}});
  EXPECT_EQ(regions.overlap(even, odd), false);
  EXPECT_EQ(regions.overlap(even, all), true);
}

TEST(Kernels, NumbersWrapAroundInTheirDtype) {
  EXPECT_EQ(wrap(300, DType::u8), 44);
  EXPECT_EQ(wrap(200, DType::i8), -56);
  EXPECT_EQ(wrap(7, DType::b8), 1);
  EXPECT_EQ(wrap(-7, DType::f32), -7);
}

TEST(Kernels, InPlaceAndOutVariantsAreTheOp) {
  EXPECT_TRUE(has_kernel({Target::Kind::op, "aten", "add_", "Tensor"}));
  EXPECT_TRUE(has_kernel({Target::Kind::op, "aten", "add", "out"}));
  EXPECT_TRUE(has_kernel({Target::Kind::op, "aten", "_foreach_mul_", "Scalar"}));
  EXPECT_FALSE(has_kernel({Target::Kind::op, "aten", "sin", "default"}));
  EXPECT_FALSE(has_kernel({Target::Kind::op, "my", "add", "default"}));
}

}  // namespace
}  // namespace writeback::ref
