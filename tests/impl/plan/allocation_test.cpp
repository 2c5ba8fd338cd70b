// Planners: valid, no better than the bound, and as good as claimed on MiniMalloc's public challenging set.
#include "impl/plan/allocation.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>

#include "impl/plan/skyline.h"
#include "tests/impl/plan/minimalloc/read.h"

namespace writeback::impl::plan {
namespace {

std::vector<Buffer> random_buffers(std::mt19937& random, std::size_t count) {
  std::vector<Buffer> buffers;
  for (std::size_t i = 0; i < count; ++i) {
    const std::int64_t begin = random() % 10;
    buffers.push_back(
        {begin, begin + 1 + static_cast<std::int64_t>(random() % 6), 16 * (1 + static_cast<std::int64_t>(random() % 8))});
  }
  return buffers;
}

TEST(Allocation, TheBoundIsTheBusiestStep) {
  const std::vector<Buffer> buffers{{0, 3, 16}, {2, 5, 32}, {3, 4, 48}};
  EXPECT_EQ(lower_bound(buffers).bytes, 80);
  EXPECT_EQ(lower_bound(buffers).step, 3);
}

TEST(Allocation, TheValidatorSeesASharedByte) {
  const std::vector<Buffer> together{{0, 2, 16}, {1, 3, 16}}, apart{{0, 2, 16}, {2, 3, 16}};
  EXPECT_TRUE(validate(together, {{0, 0}, 16}));
  EXPECT_FALSE(validate(together, {{0, 16}, 32}));
  EXPECT_FALSE(validate(apart, {{0, 0}, 16}));
  EXPECT_TRUE(validate(apart, {{0, 8}, 16})) << "outside the arena";
}

TEST(Allocation, EveryPlannerIsValidAndNoneBeatsTheBound) {
  std::mt19937 random(1);
  for (int round = 0; round < 300; ++round) {
    const std::vector<Buffer> buffers = random_buffers(random, 1 + random() % 12);
    for (const Allocation& a : {naive(buffers), first_fit_by_size(buffers), portfolio(buffers)}) {
      EXPECT_FALSE(validate(buffers, a));
      EXPECT_GE(a.total, lower_bound(buffers).bytes);
    }
  }
}

/// a, b, c, d of one byte each live at step 2. What was there before wants a beside c and b beside d, what comes after wants a
/// beside b and c beside d; a line of four has three neighbourhoods.
const std::vector<Buffer> kKnot{{2, 3, 1}, {1, 3, 1}, {2, 4, 1}, {1, 4, 1}, {0, 2, 2}, {0, 1, 2}, {3, 5, 2}, {4, 5, 2}};

/// The smallest arena, by all orders of first fit: push an optimal arena down and read its buffers by offset.
std::int64_t smallest_by_all_orders(const std::vector<Buffer>& buffers) {
  std::vector<std::size_t> order(buffers.size());
  std::iota(order.begin(), order.end(), 0u);
  std::int64_t smallest = INT64_MAX;
  do {
    std::vector<std::pair<std::size_t, std::int64_t>> placed;
    std::int64_t total = 0;
    for (const std::size_t b : order) {
      std::int64_t offset = 0;
      for (const auto& [other, at] : placed) {
        if (live_together(buffers[b], buffers[other])) offset = std::max(offset, at + buffers[other].bytes);
      }
      placed.emplace_back(b, offset);
      total = std::max(total, offset + buffers[b].bytes);
    }
    smallest = std::min(smallest, total);
  } while (std::next_permutation(order.begin(), order.end()));
  return smallest;
}

TEST(Allocation, TightenFindsTheSmallestArenaOfAll) {
  std::mt19937 random(2);
  int above_bound = 0;
  for (int round = 0; round < 100; ++round) {
    std::vector<Buffer> buffers = round % 2 == 0 ? kKnot : random_buffers(random, 8);
    for (Buffer& b : buffers) b.bytes += static_cast<std::int64_t>(random() % 2);
    const Allocation best = tighten(buffers, naive(buffers));
    EXPECT_FALSE(validate(buffers, best));
    EXPECT_EQ(best.total, smallest_by_all_orders(buffers)) << round;
    above_bound += best.total > lower_bound(buffers).bytes;
  }
  EXPECT_GT(above_bound, 0) << "where the bound is met nothing need be proved";
}

TEST(Allocation, TightenProvesThatTheBoundCannotBeMet) {
  EXPECT_EQ(lower_bound(kKnot).bytes, 4);
  EXPECT_EQ(tighten(kKnot, naive(kKnot)).total, 5);
  Skyline::Effort effort{1000, Skyline::Clock::time_point::max()};
  EXPECT_EQ(Skyline(kKnot).fit(4, Skyline::Preference::longest, effort), Skyline::Answer::none);
  EXPECT_GT(effort.steps, 0);
}

TEST(Allocation, TightenKeepsBuffersOfNoBytes) {
  const std::vector<Buffer> buffers{{0, 2, 16}, {1, 3, 0}, {1, 3, 16}};
  const Allocation best = tighten(buffers, naive(buffers));
  EXPECT_FALSE(validate(buffers, best));
  EXPECT_EQ(best.total, 32);
}

/// The mean of total / 2^20 over the set, geometric, and that each plan is valid and no larger than the portfolio's.
template <typename Planner>
double mean_ratio(Planner planner) {
  double logs = 0;
  const std::vector<Challenge> set = challenges();
  for (const Challenge& c : set) {
    const Allocation a = planner(c.buffers);
    EXPECT_FALSE(validate(c.buffers, a)) << c.name;
    EXPECT_LE(a.total, portfolio(c.buffers).total) << c.name;
    logs += std::log(static_cast<double>(a.total) / kChallengeBytes);
  }
  EXPECT_EQ(set.size(), 11u);
  return std::exp(logs / static_cast<double>(set.size()));
}

TEST(Allocation, ThePortfolioIsWithin129PercentOnTheChallengingSet) {
  EXPECT_LE(mean_ratio([](const auto& buffers) { return portfolio(buffers); }), 1.29);
}

TEST(Allocation, TheBestIsWithin106PercentOnTheChallengingSet) {
  EXPECT_LE(mean_ratio([](const auto& buffers) { return tighten(buffers, portfolio(buffers)); }), 1.06);
}

TEST(Allocation, AnySearchIsNoWorse) {
  for (const double seconds : {0.0, 0.01})
    mean_ratio([&](const auto& buffers) { return tighten(buffers, portfolio(buffers), {0, seconds}); });
}

TEST(AllocationLong, MoreStepsSolveTheChallengingSet) {
  EXPECT_LE(mean_ratio([](const auto& buffers) { return tighten(buffers, portfolio(buffers), {1'000'000, {}}); }), 1.0);
}

}  // namespace
}  // namespace writeback::impl::plan
