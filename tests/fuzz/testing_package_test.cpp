// Somebody else's project, configured against the installed package, tests its own pass: it fails, in words that can be read, where
// the pass is wrong, and passes where it is right.
#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "tests/fuzz/shell.h"

namespace writeback::fuzz {
namespace {

TEST(TestingPackage, AWrongPassFailsWithAReportAndARightOnePassesLong) {
  const std::string folder = ::testing::TempDir() + "testing_package", log = folder + "/log 2>&1";
  std::filesystem::remove_all(folder);
  std::filesystem::create_directories(folder);
  ASSERT_TRUE(runs("cmake --install " WRITEBACK_BUILD_DIR " --prefix " + folder + "/prefix > " + log))
      << output_of("cat " + folder + "/log");
  ASSERT_TRUE(runs("cmake -S " WRITEBACK_TESTS_DIR "/testing_project -B " + folder +
                   "/build -DCMAKE_BUILD_TYPE=Release -DCMAKE_PREFIX_PATH=" + folder + "/prefix > " + log + " && cmake --build " +
                   folder + "/build -j2 >> " + log))
      << output_of("tail -40 " + folder + "/log");

  EXPECT_TRUE(runs("RC_PARAMS=seed=1 " + folder + "/build/right_pass > " + log)) << output_of("tail -60 " + folder + "/log");
  EXPECT_FALSE(runs(folder + "/build/wrong_pass > " + log));
  const std::string report = output_of("cat " + folder + "/log");
  for (const char* words : {"case ", "# unsafe", "## Program", "class GraphModule(torch.nn.Module):",
                            "| write-back | found | right |", "## First difference", "| the meaning |", "| as placed |"}) {
    EXPECT_NE(report.find(words), std::string::npos) << "no '" << words << "' in:\n" << report;
  }
  EXPECT_EQ(report.find("t4: "), std::string::npos) << "more nodes than a minimised program should have:\n" << report;
}

}  // namespace
}  // namespace writeback::fuzz
