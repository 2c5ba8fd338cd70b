// .clusterfuzzlite/build.sh as OSS-Fuzz runs it: with the compiler, flags and engine of the environment, into a folder that stands
// for $OUT; then each target on its own seed corpus, with no library but those that it brings. Builds the rooms anew: minutes.
#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "tests/fuzz/shell.h"

namespace writeback::fuzz {
namespace {

namespace fs = std::filesystem;

const fs::path kRoot = fs::path(WRITEBACK_TESTS_DIR).parent_path();

/// What OSS-Fuzz puts into the environment.
struct Engine {
  std::string cc, cxx, flags, library;
};

/// Builds into `folder`/out; the engine's archive, if it is ours, is made first.
void build(const Engine& engine, const fs::path& folder) {
  fs::remove_all(folder);
  for (const char* name : {"out", "work", "src"}) fs::create_directories(folder / name);
  fs::create_directory_symlink(kRoot, folder / "src" / "writeback");
  fs::copy_file(kRoot / ".clusterfuzzlite" / "build.sh", folder / "src" / "build.sh");
  const std::string variables = "SRC=" + (folder / "src").string() + " OUT=" + (folder / "out").string() +
                                " WORK=" + (folder / "work").string() + " CC=" + engine.cc + " CXX=" + engine.cxx + " CFLAGS='" +
                                engine.flags + "' CXXFLAGS='" + engine.flags + " -stdlib=libc++' LIB_FUZZING_ENGINE='" +
                                engine.library + "'";
  ASSERT_TRUE(runs("cd " + (folder / "src" / "writeback").string() + " && env " + variables + " bash -eu ../build.sh > " +
                   (folder / "log").string() + " 2>&1"))
      << output_of("tail -20 " + (folder / "log").string());
}

/// `arguments` go before the folder of seeds.
void run_seeds(const fs::path& folder, const std::string& arguments) {
  const fs::path out = folder / "out";
  for (const std::string name : {"placement", "checker", "memory", "text", "json", "archive"}) {
    const fs::path target = out / ("fuzz_" + name), seeds = folder / "seeds" / name;
    ASSERT_TRUE(fs::exists(target)) << target;
    EXPECT_TRUE(fs::exists(out / ("fuzz_" + name + ".options")));
    fs::create_directories(seeds);
    EXPECT_TRUE(runs("unzip -qo " + (out / ("fuzz_" + name + "_seed_corpus.zip")).string() + " -d " + seeds.string()));
    EXPECT_FALSE(fs::is_empty(seeds)) << name;
    EXPECT_TRUE(runs(target.string() + " " + arguments + " " + seeds.string() + " > " + (folder / name).string() + " 2>&1"))
        << output_of("tail -30 " + (folder / name).string());
    const std::string foreign =
        output_of("ldd " + target.string() + " | grep -E 'fmt|simdjson|libzip|stdc' | grep -v " + out.string());
    EXPECT_EQ(foreign, "") << "libraries that the target does not bring";
  }
}

TEST(OssFuzz, WithTheEngineOfClangEachTargetRunsItsSeedsLong) {
  if (!runs("which clang++-19 zip unzip > /dev/null")) GTEST_SKIP() << "needs clang++-19, zip and unzip";
  const fs::path folder = fs::path(::testing::TempDir()) / "oss_fuzz_clang";
  build({"clang-19", "clang++-19", "-O1 -gline-tables-only -fsanitize=address -fsanitize=fuzzer-no-link", "-fsanitize=fuzzer"},
        folder);
  if (!HasFatalFailure()) run_seeds(folder, "-runs=0");
}

TEST(OssFuzz, WithAnArchiveAsEngineEachTargetRunsItsSeedsLong) {
  if (!runs("which g++ zip unzip > /dev/null")) GTEST_SKIP() << "needs g++, zip and unzip";
  const fs::path folder = fs::path(::testing::TempDir()) / "oss_fuzz_archive";
  const fs::path archive = fs::path(::testing::TempDir()) / "libFuzzingEngine.a", object = archive.string() + ".o";
  ASSERT_TRUE(runs("g++ -std=c++20 -O1 -I" + kRoot.string() + " -c " + (kRoot / "fuzz/targets/standalone_main.cpp").string() +
                   " -o " + object.string() + " && ar rcs " + archive.string() + " " + object.string()));
  build({"gcc", "g++", "-O1", archive.string()}, folder);
  if (!HasFatalFailure()) run_seeds(folder, "");
}

}  // namespace
}  // namespace writeback::fuzz
