// Ctrl-C and SIGTERM in the middle of a proof: outside solvers are ended and files removed before the program goes.
//
// A handler may do next to nothing, and Z3 brings one of its own that only gives up the query in hand. So the signals are blocked
// in every thread, and one thread waits for them.
#pragma once

#include <csignal>
#include <functional>
#include <thread>

namespace writeback::proofs {

/// While it lives, SIGINT and SIGTERM run `clean_up` in a thread of its own and then end the program as they would have.
/// Made and destroyed by one thread; threads that are to be interrupted start later.
class WhenInterrupted {
 public:
  explicit WhenInterrupted(std::function<void()> clean_up);
  ~WhenInterrupted();
  WhenInterrupted(const WhenInterrupted&) = delete;
  WhenInterrupted& operator=(const WhenInterrupted&) = delete;

 private:
  sigset_t before_{};
  std::thread watcher_;
};

}  // namespace writeback::proofs
