// An interrupted proof leaves nothing behind: no file, no solver that goes on alone.
#include "proofs/interrupt.h"

#include <gtest/gtest.h>

#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <string>

#include "proofs/process.h"
#include "proofs/smt.h"

namespace writeback::proofs {
namespace {

/// Asks until it is true, for ten seconds at most.
bool becomes_true(const std::function<bool()>& asked) {
  for (int i = 0; i < 1000 && !asked(); ++i) std::this_thread::sleep_for(std::chrono::milliseconds(10));
  return asked();
}

/// In a process of its own: a workspace, and a "solver" that writes its process id there and where the workspace is to `told`.
[[noreturn]] void prove_something(const std::string& told) {
  const Workspace workspace({});
  const std::string pid = workspace.file("pid", "").string();
  run({"sh", "-c", "echo $$ > " + pid + "; echo " + pid + " > " + told + ".new; mv " + told + ".new " + told + "; exec sleep 100"},
      100);
  _exit(1);
}

class WhenInterruptedBy : public testing::TestWithParam<int> {};

TEST_P(WhenInterruptedBy, NoFileAndNoProcessIsLeft) {
  const std::string told = testing::TempDir() + "writeback-interrupted-" + std::to_string(getpid());
  const pid_t prover = fork();
  if (prover == 0) prove_something(told);
  ASSERT_TRUE(becomes_true([&] { return std::filesystem::exists(told); }));
  std::string file;
  std::ifstream(told) >> file;
  pid_t solver = 0;
  std::ifstream(file) >> solver;
  std::filesystem::remove(told);
  ASSERT_GT(solver, 0);

  kill(prover, GetParam());
  int status = 0;
  ASSERT_EQ(waitpid(prover, &status, 0), prover);
  EXPECT_TRUE(WIFSIGNALED(status));
  EXPECT_EQ(WTERMSIG(status), GetParam());
  EXPECT_FALSE(std::filesystem::exists(std::filesystem::path(file).parent_path()));
  EXPECT_TRUE(becomes_true([&] { return kill(solver, 0) != 0; }));
}

INSTANTIATE_TEST_SUITE_P(Signals, WhenInterruptedBy, testing::Values(SIGINT, SIGTERM));

TEST(WhenInterrupted, TheSignalsAreAsTheyWereAfterwards) {
  sigset_t before, after;
  pthread_sigmask(SIG_BLOCK, nullptr, &before);
  {
    const WhenInterrupted watched([] { ADD_FAILURE() << "nobody has interrupted"; });
  }
  pthread_sigmask(SIG_BLOCK, nullptr, &after);
  for (const int s : {SIGINT, SIGTERM, SIGUSR1}) EXPECT_EQ(sigismember(&before, s), sigismember(&after, s)) << s;
}

}  // namespace
}  // namespace writeback::proofs
