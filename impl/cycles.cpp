// Tarjan's algorithm (SIAM J. Comput. 1, 1972) with an explicit stack: chains of thousands of copies must not exhaust the real one.
#include "impl/cycles.h"

#include <algorithm>

namespace writeback::impl {
inline namespace WRITEBACK_BUILD {
namespace {

class Tarjan {
 public:
  Tarjan(const CopyGraph& graph, const std::vector<bool>& cloned)
      : later_(graph.copies.size()), index_(graph.copies.size(), 0), low_(index_), on_stack_(graph.copies.size(), false) {
    for (std::uint32_t k = 0; k < later_.size(); ++k) {
      for_each_later_copy(graph, cloned, k, [&](std::uint32_t j) { later_[k].push_back(j); });
    }
  }

  std::vector<std::vector<std::uint32_t>> run() {
    for (std::uint32_t k = 0; k < later_.size(); ++k) {
      if (index_[k] == 0) walk_from(k);
    }
    std::ranges::reverse(groups_);  // they are found last first
    return std::move(groups_);
  }

 private:
  struct Frame {
    std::uint32_t copy;
    std::size_t next_edge = 0;
  };

  void enter(std::uint32_t k) {
    index_[k] = low_[k] = ++counter_;
    stack_.push_back(k);
    on_stack_[k] = true;
    frames_.push_back({k});
  }

  void walk_from(std::uint32_t start) {
    enter(start);
    while (!frames_.empty()) {
      Frame& frame = frames_.back();
      const std::uint32_t k = frame.copy;
      if (frame.next_edge < later_[k].size()) {
        const std::uint32_t j = later_[k][frame.next_edge++];
        if (index_[j] == 0) {
          enter(j);
        } else if (on_stack_[j]) {
          low_[k] = std::min(low_[k], index_[j]);
        }
        continue;
      }
      frames_.pop_back();
      if (!frames_.empty()) low_[frames_.back().copy] = std::min(low_[frames_.back().copy], low_[k]);
      if (low_[k] == index_[k]) leave(k);
    }
  }

  void leave(std::uint32_t k) {
    const auto first = std::find(stack_.rbegin(), stack_.rend(), k).base() - 1;
    std::vector<std::uint32_t> group(first, stack_.end());
    stack_.erase(first, stack_.end());
    for (const std::uint32_t j : group) on_stack_[j] = false;
    if (group.size() < 2) return;
    std::ranges::sort(group);
    groups_.push_back(std::move(group));
  }

  std::vector<std::vector<std::uint32_t>> later_;
  std::vector<std::uint32_t> index_, low_;
  std::vector<bool> on_stack_;
  std::vector<std::uint32_t> stack_;
  std::vector<Frame> frames_;
  std::vector<std::vector<std::uint32_t>> groups_;
  std::uint32_t counter_ = 0;
};

}  // namespace

std::vector<std::vector<std::uint32_t>> cycles(const CopyGraph& graph, const std::vector<bool>& cloned) {
  return Tarjan(graph, cloned).run();
}

}  // namespace WRITEBACK_BUILD
}  // namespace writeback::impl
