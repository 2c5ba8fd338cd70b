// Files of the tests.
#pragma once

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

namespace writeback::fuzz {

inline const std::filesystem::path kTests = WRITEBACK_TESTS_DIR;
inline const std::filesystem::path kCorpus = kTests.parent_path() / "fuzz" / "corpus";

inline std::string content(const std::filesystem::path& path) {
  std::ostringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return text.str();
}

}  // namespace writeback::fuzz
