// The interval tree against a look at every item.
#include "impl/region_tree.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>

namespace writeback::impl {
namespace {

TEST(RegionTree, FindsWhatALookAtEveryItemFinds) {
  std::mt19937 random(3);
  const auto draw = [&](unsigned n) { return static_cast<std::int64_t>(random() % n); };
  for (int round = 0; round < 200; ++round) {
    RegionTable table;
    const auto region = [&] { return table.intern({draw(40), {1 + draw(5)}, {1 + draw(3)}}); };
    std::vector<RegionTree::Item> items;
    for (std::uint32_t i = 0; i < 30; ++i) {
      items.push_back({value_id(static_cast<std::size_t>(draw(2))), region(), static_cast<std::uint32_t>(draw(1000)), i});
    }
    const RegionTree tree(table, items);
    for (int query = 0; query < 20; ++query) {
      const Entry at{value_id(static_cast<std::size_t>(draw(3))), region()};
      std::set<std::uint32_t> expected, found;
      std::uint32_t heaviest = 0;
      for (const auto& item : items) {
        if (item.storage != at.storage || !table.overlap(item.region, at.region)) continue;
        expected.insert(item.payload);
        heaviest = std::max(heaviest, item.weight);
      }
      tree.for_each(at, [&](const RegionTree::Item& item) { found.insert(item.payload); });
      EXPECT_EQ(found, expected);
      const auto* best = tree.heaviest(at, [](const RegionTree::Item&) { return true; });
      EXPECT_EQ(best != nullptr ? best->weight : 0, heaviest);
    }
  }
}

}  // namespace
}  // namespace writeback::impl
