// Planners: valid, no better than the bound, and as good as claimed on MiniMalloc's public challenging set.
#include "impl/plan/allocation.h"

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <random>

namespace writeback::impl::plan {
namespace {

/// Columns id, lower, upper, size, with a header line.
std::vector<Buffer> read_csv(const std::filesystem::path& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  std::vector<Buffer> buffers;
  for (long long id, lower, upper, bytes; std::getline(file, line);) {
    if (std::sscanf(line.c_str(), "%lld,%lld,%lld,%lld", &id, &lower, &upper, &bytes) == 4)
      buffers.push_back({lower, upper, bytes});
  }
  return buffers;
}

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

TEST(Allocation, ExactIsNoWorseThanAnyPlanner) {
  std::mt19937 random(2);
  for (int round = 0; round < 60; ++round) {
    const std::vector<Buffer> buffers = random_buffers(random, 7);
    const std::optional<Allocation> best = exact(buffers);
    ASSERT_TRUE(best);
    EXPECT_FALSE(validate(buffers, *best));
    EXPECT_LE(best->total, portfolio(buffers, {200, 1}).total);
    EXPECT_GE(best->total, lower_bound(buffers).bytes);
  }
  EXPECT_FALSE(exact(random_buffers(random, 10)));
}

TEST(Allocation, ThePortfolioIsWithin129PercentOnTheChallengingSet) {
  double logs = 0;
  int sets = 0;
  for (const auto& entry :
       std::filesystem::directory_iterator(std::filesystem::path(WRITEBACK_TESTS_DIR) / "impl/plan/minimalloc")) {
    const std::vector<Buffer> buffers = read_csv(entry.path());
    const Allocation a = portfolio(buffers);
    ASSERT_FALSE(validate(buffers, a)) << entry.path();
    logs += std::log(static_cast<double>(a.total) / 1048576.0);
    ++sets;
  }
  ASSERT_EQ(sets, 11);
  EXPECT_LE(std::exp(logs / sets), 1.29);
}

}  // namespace
}  // namespace writeback::impl::plan
