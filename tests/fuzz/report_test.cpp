// Reports word for word, for a few planted faults. WRITEBACK_UPDATE_GOLDEN=1 writes the files anew; read what changed.
#include "fuzz/report.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "fuzz/faults.h"
#include "ref/graph/text.h"

namespace writeback::fuzz {
namespace {

const std::filesystem::path kTests = WRITEBACK_TESTS_DIR;

std::string content(const std::filesystem::path& path) {
  std::ostringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return text.str();
}

/// The report of the corpus program that is kept for a fault, against tests/fuzz/golden/<fault>/.
void expect_golden(const std::string& fault) {
  const std::string program = content(kTests.parent_path() / "fuzz" / "corpus" / (fault + ".txt"));
  ASSERT_FALSE(program.empty());
  const std::filesystem::path folder = kTests / "fuzz" / "golden" / fault;
  const bool update = std::getenv("WRITEBACK_UPDATE_GOLDEN") != nullptr;
  std::size_t compared = 0;
  for (const auto& [name, text] : report_files(program, "fault:" + fault, {})) {
    if (update && std::filesystem::exists(folder / name)) std::ofstream(folder / name, std::ios::binary) << text;
    if (!std::filesystem::exists(folder / name)) continue;
    EXPECT_EQ(text, content(folder / name)) << folder / name;
    ++compared;
  }
  EXPECT_GE(compared, 3u) << folder;
}

TEST(Report, OfAForgottenReader) { expect_golden("readers_forgotten"); }
TEST(Report, OfALostAliasGroup) { expect_golden("alias_group_lost"); }
TEST(Report, OfAnExplanation) { expect_golden("rule_misnamed"); }

/// A script is for failures that values show; each of those has one, and it names what the placement does.
TEST(Report, EveryFailureOfValuesHasAScript) {
  for (const PlantedFault& fault : planted_faults()) {
    const std::filesystem::path file = kTests.parent_path() / "fuzz" / "corpus" / (std::string(fault.name) + ".txt");
    if (!std::filesystem::exists(file)) continue;
    bool script = false, unsafe = false;
    for (const auto& [name, text] : report_files(content(file), "fault:" + std::string(fault.name), {})) {
      script = script || (name == "reproduce.py" && text.find("EVENTS = {") != std::string::npos);
      unsafe = unsafe || (name == "report.md" && text.starts_with("# unsafe"));
    }
    EXPECT_EQ(script, unsafe) << fault.name;
  }
}

}  // namespace
}  // namespace writeback::fuzz
