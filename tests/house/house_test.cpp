// The house rules, as tests that equal the rules: which room may include which, how a file opens, that the README names only what
// exists. The tree is read from the source folder, whatever is in it.
#include <fmt/core.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <map>
#include <regex>
#include <string>
#include <type_traits>
#include <vector>

#include "ref/graph/ids.h"

namespace writeback {
namespace {

namespace fs = std::filesystem;

const fs::path kRoot = fs::path(WRITEBACK_TESTS_DIR).parent_path();
constexpr std::array kRooms{"ref", "impl", "fuzz", "proofs", "tests"};

std::string contents(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::string in_tree(const fs::path& path) { return path.lexically_relative(kRoot).generic_string(); }

bool starts_with(const std::string& text, const std::string& prefix) { return text.rfind(prefix, 0) == 0; }

std::vector<fs::path> sources() {
  std::vector<fs::path> found;
  for (const char* room : kRooms) {
    for (const auto& entry : fs::recursive_directory_iterator(kRoot / room)) {
      const auto extension = entry.path().extension();
      if (extension == ".cpp" || extension == ".h") found.push_back(entry.path());
    }
  }
  return found;
}

/// The room of a path: the longest folder that the table of arrows knows.
std::string room_of(const std::string& path, const std::map<std::string, std::vector<std::string>>& arrows) {
  std::string best;
  for (const auto& [room, allowed] : arrows) {
    if (starts_with(path, room + "/") && room.size() > best.size()) best = room;
  }
  return best;
}

/// Room -> the rooms (or single files) whose headers it may include, besides its own.
const std::map<std::string, std::vector<std::string>> kArrows{
    {"ref/graph", {}},
    {"ref", {"ref/graph"}},
    {"impl", {"ref/graph"}},
    {"impl/import", {"ref/graph"}},
    {"impl/plan", {"ref/graph", "impl"}},
    {"impl/report", {"ref/graph", "impl", "impl/plan"}},
    {"fuzz", {"ref/graph", "ref", "impl", "impl/import", "impl/plan"}},
    {"proofs", {"ref/graph", "ref", "impl/rules.h", "impl/rule.h"}},
    {"impl/cli", {"ref/graph", "ref", "impl", "impl/import", "impl/plan", "impl/report", "fuzz", "proofs"}},
    {"tests", {"ref/graph", "ref", "impl", "impl/import", "impl/plan", "impl/report", "fuzz", "proofs"}},
};

TEST(House, RoomsIncludeOnlyAlongTheArrows) {
  const std::regex include(R"re(#include "([^"]+)")re");
  for (const fs::path& path : sources()) {
    const std::string file = in_tree(path), room = room_of(file, kArrows), text = contents(path);
    if (path.filename() == "house_test.cpp") continue;  // its own pattern looks like an include
    for (std::sregex_iterator it(text.begin(), text.end(), include), end; it != end; ++it) {
      const std::string header = (*it)[1], other = room_of(header, kArrows);
      const auto& allowed = kArrows.at(room);
      const bool fits = other == room || std::find(allowed.begin(), allowed.end(), other) != allowed.end() ||
                        std::find(allowed.begin(), allowed.end(), header) != allowed.end();
      EXPECT_TRUE(fits) << file << " includes " << header;
    }
  }
}

TEST(House, EveryFileSaysWhatItIs) {
  for (const fs::path& path : sources()) {
    const std::string text = contents(path);
    if (starts_with(in_tree(path), "tests/")) continue;  // names of tests are claims
    const bool implementation = path.extension() == ".cpp" && fs::exists(fs::path(path).replace_extension(".h"));
    EXPECT_TRUE(implementation || starts_with(text, "//")) << in_tree(path) << " does not open with a comment";
  }
}

TEST(House, LinesFitAndHoldNoTabs) {
  for (const fs::path& path : sources()) {
    if (starts_with(in_tree(path), "tests/")) continue;  // texts as PyTorch printed them stand there
    std::ifstream file(path);
    std::size_t number = 0;
    for (std::string line; std::getline(file, line);) {
      ++number;
      EXPECT_LE(line.size(), 132u) << in_tree(path) << ":" << number;
      EXPECT_EQ(line.find('\t'), std::string::npos) << in_tree(path) << ":" << number;
    }
  }
}

TEST(House, NoUnreasonedTodo) {
  const std::regex bare(R"(\b(TODO|FIXME|XXX)\b(?!\())");
  for (const fs::path& path : sources()) {
    if (path.filename() == "house_test.cpp") continue;
    EXPECT_FALSE(std::regex_search(contents(path), bare)) << in_tree(path);
  }
}

TEST(House, TopLevelIsTheCard) {
  const std::vector<std::string> allowed{
      "ref", "impl", "fuzz", "proofs", "tests", "CMakeLists.txt", "README.md", "Makefile", "LICENSE", "CMakePresets.json", "build"};
  for (const auto& entry : fs::directory_iterator(kRoot)) {
    const std::string name = entry.path().filename().string();
    EXPECT_TRUE(name[0] == '.' || std::find(allowed.begin(), allowed.end(), name) != allowed.end()) << name;
  }
}

/// Words in back quotes in the README.
std::vector<std::string> quoted_words(const std::string& text) {
  std::vector<std::string> words;
  const std::regex quoted("`([^`\n]+)`");
  for (std::sregex_iterator it(text.begin(), text.end(), quoted), end; it != end; ++it) words.push_back((*it)[1]);
  return words;
}

TEST(House, TheReadmeNamesOnlyPathsThatExist) {
  const std::regex path(R"(^(ref|impl|fuzz|proofs|tests|\.ci)/[A-Za-z0-9_./-]*$)");
  std::size_t seen = 0;
  for (const std::string& word : quoted_words(contents(kRoot / "README.md"))) {
    if (!std::regex_match(word, path)) continue;
    ++seen;
    EXPECT_TRUE(fs::exists(kRoot / word)) << word;
  }
  EXPECT_GT(seen, 5u);
}

TEST(House, TheReadmeNamesOnlyTargetsThatExist) {
  const std::string makefile = contents(kRoot / "Makefile"), readme = contents(kRoot / "README.md");
  const std::regex target(R"(\bmake ([a-z][a-z-]*))");
  std::size_t seen = 0;
  for (std::sregex_iterator it(readme.begin(), readme.end(), target), end; it != end; ++it) {
    ++seen;
    EXPECT_NE(makefile.find("\n" + (*it)[1].str() + ":"), std::string::npos) << "make " << (*it)[1];
  }
  EXPECT_GT(seen, 1u);
}

TEST(House, TheReadmeNamesOnlyTestsThatExist) {
  const std::regex test_name(R"(^([A-Z][A-Za-z0-9]+)\.([A-Z][A-Za-z0-9]+)$)");
  std::string all;
  for (const fs::path& path : sources()) {
    if (starts_with(in_tree(path), "tests/")) all += contents(path);
  }
  for (const std::string& word : quoted_words(contents(kRoot / "README.md"))) {
    std::smatch match;
    if (!std::regex_match(word, match, test_name)) continue;
    const std::regex definition(R"(TEST(_F|_P)?\()" + match[1].str() + R"(, )" + match[2].str() + R"(\))");
    EXPECT_TRUE(std::regex_search(all, definition)) << word;
  }
}

template <typename From, typename To>
constexpr bool kPassesAs = std::is_convertible_v<From, To> || std::is_assignable_v<To&, From>;

TEST(House, IdsAreTypes) {
  static_assert(!kPassesAs<NodeId, ValueId> && !kPassesAs<ValueId, NodeId> && !kPassesAs<Slot, NodeId>);
  static_assert(!kPassesAs<int, NodeId> && !kPassesAs<NodeId, std::size_t> && !kPassesAs<TargetId, NodeId>);
  EXPECT_EQ(index_of(slot_after(node_id(4))), 5u);
}

}  // namespace
}  // namespace writeback
