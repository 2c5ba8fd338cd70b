// Reports word for word, for a few planted faults. WRITEBACK_UPDATE_GOLDEN=1 writes the files anew; read what changed.
#include "fuzz/report.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include "fuzz/faults.h"
#include "ref/graph/text.h"
#include "tests/fuzz/files.h"

namespace writeback::fuzz {
namespace {

/// The report of the corpus program that is kept for a fault, against tests/fuzz/golden/<fault>/.
void expect_golden(const std::string& fault) {
  const std::string program = content(kCorpus / (fault + ".txt"));
  ASSERT_FALSE(program.empty());
  const std::filesystem::path folder = kTests / "fuzz" / "golden" / fault;
  const bool update = std::getenv("WRITEBACK_UPDATE_GOLDEN") != nullptr;
  std::size_t compared = 0;
  for (const auto& [name, text] : report_files(program, "fault:" + fault, *implementation("fault:" + fault), {})) {
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

/// The bridge's tests run these scripts with PyTorch.
TEST(Report, EveryFaultHasAScript) {
  for (const PlantedFault& fault : planted_faults()) {
    bool script = false;
    const std::string name = "fault:" + std::string(fault.name);
    for (const auto& [file, text] :
         report_files(content(kCorpus / (std::string(fault.name) + ".txt")), name, *implementation(name), {}))
      script = script || file == "reproduce.py";
    EXPECT_TRUE(script) << fault.name;
  }
}

}  // namespace
}  // namespace writeback::fuzz
