// The files of this folder, by extension.
#pragma once

#include <algorithm>
#include <filesystem>
#include <set>
#include <string>
#include <vector>

namespace writeback {

inline std::vector<std::filesystem::path> model_files(const std::set<std::string>& extensions) {
  std::vector<std::filesystem::path> found;
  for (const auto& entry : std::filesystem::directory_iterator(std::filesystem::path(WRITEBACK_TESTS_DIR) / "models")) {
    if (extensions.count(entry.path().extension().string()) > 0) found.push_back(entry.path());
  }
  std::sort(found.begin(), found.end());
  return found;
}

}  // namespace writeback
