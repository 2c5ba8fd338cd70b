#include "proofs/interrupt.h"

#include <utility>

namespace writeback::proofs {
namespace {

constexpr int kOver = SIGUSR1;  ///< tells the watcher that nobody is to be watched any more

sigset_t set_of(std::initializer_list<int> signals) {
  sigset_t set;
  sigemptyset(&set);
  for (const int s : signals) sigaddset(&set, s);
  return set;
}

void watch(const std::function<void()>& clean_up) {
  const sigset_t awaited = set_of({SIGINT, SIGTERM, kOver});
  int got = kOver;
  sigwait(&awaited, &got);
  if (got == kOver) return;
  clean_up();
  signal(got, SIG_DFL);
  const sigset_t again = set_of({got});
  pthread_sigmask(SIG_UNBLOCK, &again, nullptr);
  raise(got);
}

}  // namespace

WhenInterrupted::WhenInterrupted(std::function<void()> clean_up) {
  const sigset_t blocked = set_of({SIGINT, SIGTERM, kOver});
  pthread_sigmask(SIG_BLOCK, &blocked, &before_);
  watcher_ = std::thread([clean_up = std::move(clean_up)] { watch(clean_up); });
}

WhenInterrupted::~WhenInterrupted() {
  pthread_kill(watcher_.native_handle(), kOver);
  watcher_.join();
  pthread_sigmask(SIG_SETMASK, &before_, nullptr);
}

}  // namespace writeback::proofs
