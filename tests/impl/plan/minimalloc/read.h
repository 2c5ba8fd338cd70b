// MiniMalloc's public challenging set (README.md here): buffers that are known to fit into one MiB.
#pragma once

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "impl/plan/allocation.h"

namespace writeback::impl::plan {

constexpr double kChallengeBytes = 1 << 20;

struct Challenge {
  std::string name;
  std::vector<Buffer> buffers;
};

/// Columns id, lower, upper, size, with a header line.
inline std::vector<Challenge> challenges() {
  std::vector<Challenge> all;
  for (const auto& entry :
       std::filesystem::directory_iterator(std::filesystem::path(WRITEBACK_TESTS_DIR) / "impl/plan/minimalloc")) {
    if (entry.path().extension() != ".csv") continue;
    Challenge challenge{entry.path().stem().string(), {}};
    std::ifstream file(entry.path());
    std::string line;
    long long id = 0, lower = 0, upper = 0, bytes = 0;
    while (std::getline(file, line)) {
      if (std::sscanf(line.c_str(), "%lld,%lld,%lld,%lld", &id, &lower, &upper, &bytes) == 4)
        challenge.buffers.push_back({lower, upper, bytes});
    }
    all.push_back(std::move(challenge));
  }
  return all;
}

}  // namespace writeback::impl::plan
