#include "proofs/process.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdlib>
#include <mutex>
#include <set>
#include <sstream>
#include <thread>

extern char** environ;

namespace writeback::proofs {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

/// The children that have not been waited for.
struct Children {
  std::mutex mutex;
  std::set<pid_t> running;
};

Children& children() {
  static Children all;
  return all;
}

/// Starts the command with both outputs going to `fd`, and with no signal blocked. 0 where it cannot start.
pid_t start(const std::vector<std::string>& command, int fd) {
  std::vector<char*> words;
  for (const std::string& word : command) words.push_back(const_cast<char*>(word.c_str()));
  words.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, fd, STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, fd, STDERR_FILENO);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  sigset_t none;
  sigemptyset(&none);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
  pid_t pid = 0;
  const std::lock_guard lock(children().mutex);
  if (posix_spawnp(&pid, words[0], &actions, &attributes, words.data(), environ) != 0) pid = 0;
  if (pid != 0) children().running.insert(pid);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  return pid;
}

/// Waits until the child ends or the time is up; the child is gone afterwards.
Outcome wait_for(pid_t pid, double limit) {
  const auto begin = Clock::now();
  int status = 0;
  bool late = false;
  for (auto pause = std::chrono::microseconds(200); waitpid(pid, &status, WNOHANG) == 0;
       pause = std::min(pause * 2, std::chrono::microseconds(20000))) {
    if (!late && seconds_since(begin) > limit) {
      kill(pid, SIGKILL);
      late = true;
    }
    std::this_thread::sleep_for(pause);
  }
  const std::lock_guard lock(children().mutex);
  children().running.erase(pid);
  Outcome outcome;
  outcome.seconds = seconds_since(begin);
  outcome.kind = late ? Outcome::Kind::timed_out : WIFEXITED(status) ? Outcome::Kind::exited : Outcome::Kind::killed;
  if (WIFEXITED(status)) outcome.status = WEXITSTATUS(status);
  return outcome;
}

std::string read_back(int fd) {
  std::string text;
  std::array<char, 4096> block{};
  lseek(fd, 0, SEEK_SET);
  for (ssize_t n = 0; (n = read(fd, block.data(), block.size())) > 0;) text.append(block.data(), static_cast<std::size_t>(n));
  return text;
}

}  // namespace

void end_all() {
  children().mutex.lock();  // and never unlocked
  for (const pid_t pid : children().running) kill(pid, SIGKILL);
}

bool installed(const std::string& program) {
  const char* path = std::getenv("PATH");
  std::istringstream folders(path == nullptr ? "" : path);
  for (std::string folder; std::getline(folders, folder, ':');)
    if (access((folder + "/" + program).c_str(), X_OK) == 0) return true;
  return false;
}

Outcome run(const std::vector<std::string>& command, double seconds) {
  // The output goes to an unlinked file and not to a pipe: nobody has to read while the child runs.
  std::string name = "/tmp/writeback-solver-XXXXXX";
  const int fd = mkstemp(name.data());
  if (fd < 0) return {};
  unlink(name.c_str());
  Outcome outcome;
  if (installed(command[0]))
    if (const pid_t pid = start(command, fd); pid != 0) outcome = wait_for(pid, seconds);
  outcome.output = read_back(fd);
  close(fd);
  return outcome;
}

}  // namespace writeback::proofs
