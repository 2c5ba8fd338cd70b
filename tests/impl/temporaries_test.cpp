// The order of copies and the fewest temporaries, against every subset of readers.
#include "impl/temporaries.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <random>

#include "impl/cycles.h"

namespace writeback::impl {
namespace {

/// n copies; copy k reads reader k.
CopyGraph graph_of(std::uint32_t n, const std::vector<std::pair<std::uint32_t, std::uint32_t>>& reads_before_write) {
  CopyGraph g;
  for (std::uint32_t k = 0; k < n; ++k) {
    g.readers.push_back({});
    g.copies.push_back({k, 0, {}});
  }
  for (const auto& [k, j] : reads_before_write) g.readers[k].before.push_back(j);
  return g;
}

bool holds(const CopyGraph& g, const std::vector<bool>& cloned) {
  const auto schedule = least_schedule(g, cloned);
  return schedule && late_readers(g, *schedule).empty();
}

std::uint32_t count(const std::vector<bool>& cloned) {
  return static_cast<std::uint32_t>(std::count(cloned.begin(), cloned.end(), true));
}

TEST(Temporaries, AChainNeedsNone) {
  const CopyGraph g = graph_of(3, {{0, 1}, {1, 2}});
  EXPECT_EQ(count(fewest_temporaries(g, std::vector<bool>(3)).cloned), 0u);
}

TEST(Temporaries, ASwapNeedsOne) {
  const CopyGraph g = graph_of(2, {{0, 1}, {1, 0}});
  const Temporaries t = fewest_temporaries(g, std::vector<bool>(2));
  EXPECT_EQ(t.cloned, (std::vector<bool>{true, false}));
  EXPECT_LT(least_schedule(g, t.cloned)->copies[1], least_schedule(g, t.cloned)->copies[0]);
}

TEST(Temporaries, ARotationOfThousandsNeedsOneAndIsExactlyThat) {
  const std::uint32_t n = 5000;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> edges;
  for (std::uint32_t k = 0; k < n; ++k) edges.emplace_back(k, (k + 1) % n);
  const Temporaries t = fewest_temporaries(graph_of(n, edges), std::vector<bool>(n));
  EXPECT_EQ(count(t.cloned), 1u);
  EXPECT_TRUE(t.greedy);
}

TEST(Temporaries, ALateReaderIsClonedInTime) {
  CopyGraph g = graph_of(2, {{1, 0}});
  g.readers[0].deadline = 3;
  g.copies[1].earliest = 5;  // so copy 0, which waits for it, cannot read by slot 3
  const Temporaries t = fewest_temporaries(g, std::vector<bool>(2));
  EXPECT_EQ(count(t.cloned), 1u);
  EXPECT_TRUE(holds(g, t.cloned));
}

TEST(Temporaries, AreTheFewestOnRandomGraphs) {
  std::mt19937 random(11);
  int with_some = 0;
  for (int round = 0; round < 600; ++round) {
    const std::uint32_t n = 2 + random() % 5;
    std::vector<std::pair<std::uint32_t, std::uint32_t>> edges;
    for (std::uint32_t e = random() % (2 * n); e > 0; --e) {
      const std::uint32_t k = random() % n, j = random() % n;
      if (k != j) edges.emplace_back(k, j);
    }
    CopyGraph g = graph_of(n, edges);
    for (std::uint32_t k = 0; k < n; ++k) {
      g.copies[k].earliest = random() % 4;
      g.readers[k].earliest = random() % 3;
      if (random() % 4 == 0) g.readers[k].deadline = g.readers[k].earliest + random() % 3;
      if (k > 0 && random() % 6 == 0) g.copies[k - 1].before.push_back(k);
    }
    std::uint32_t fewest = n + 1;
    for (std::uint32_t bits = 0; bits < (1u << n); ++bits) {
      std::vector<bool> cloned(n);
      for (std::uint32_t k = 0; k < n; ++k) cloned[k] = ((bits >> k) & 1u) != 0;
      if (holds(g, cloned)) fewest = std::min(fewest, static_cast<std::uint32_t>(std::popcount(bits)));
    }
    const Temporaries t = fewest_temporaries(g, std::vector<bool>(n));
    ASSERT_TRUE(holds(g, t.cloned)) << round;
    ASSERT_EQ(count(t.cloned), fewest) << round;
    with_some += fewest > 0;
  }
  EXPECT_GT(with_some, 100);
}

TEST(Cycles, AreFoundInTopologicalOrder) {
  const CopyGraph g = graph_of(6, {{4, 5}, {5, 4}, {5, 0}, {0, 1}, {1, 0}, {1, 2}, {2, 3}});
  const std::vector<std::vector<std::uint32_t>> expected{{4, 5}, {0, 1}};
  EXPECT_EQ(cycles(g, std::vector<bool>(6)), expected);
}

}  // namespace
}  // namespace writeback::impl
