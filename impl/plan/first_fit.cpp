#include "impl/plan/first_fit.h"

#include <algorithm>
#include <numeric>

namespace writeback::impl::plan {
namespace {

constexpr std::int64_t kUnplaced = -1;

std::vector<std::uint32_t> indices_by_begin(std::span<const Buffer> buffers) {
  std::vector<std::uint32_t> indices(buffers.size());
  std::iota(indices.begin(), indices.end(), 0u);
  std::stable_sort(indices.begin(), indices.end(), [&](auto a, auto b) { return buffers[a].begin < buffers[b].begin; });
  return indices;
}

}  // namespace

FirstFit::FirstFit(std::span<const Buffer> buffers) : buffers_(buffers), first_(buffers.size() + 1, 0) {
  std::vector<std::pair<std::uint32_t, std::uint32_t>> pairs;
  std::vector<std::uint32_t> live;
  for (std::uint32_t b : indices_by_begin(buffers)) {
    std::erase_if(live, [&](std::uint32_t a) { return buffers[a].end <= buffers[b].begin; });
    for (std::uint32_t a : live) {
      if (live_together(buffers[a], buffers[b])) pairs.emplace_back(a, b);
    }
    live.push_back(b);
  }
  for (const auto& [a, b] : pairs) ++first_[a + 1], ++first_[b + 1];
  std::partial_sum(first_.begin(), first_.end(), first_.begin());
  neighbours_.resize(2 * pairs.size());
  std::vector<std::uint32_t> next(first_.begin(), first_.end() - 1);
  for (const auto& [a, b] : pairs) neighbours_[next[a]++] = b, neighbours_[next[b]++] = a;
}

std::span<const std::uint32_t> FirstFit::neighbours(std::uint32_t b) const {
  return std::span(neighbours_).subspan(first_[b], first_[b + 1] - first_[b]);
}

std::int64_t FirstFit::lowest_gap(std::uint32_t buffer, const std::vector<std::int64_t>& offsets) {
  occupied_.clear();
  for (std::uint32_t n : neighbours(buffer)) {
    if (offsets[n] != kUnplaced && buffers_[n].bytes > 0) occupied_.emplace_back(offsets[n], offsets[n] + buffers_[n].bytes);
  }
  std::sort(occupied_.begin(), occupied_.end());
  std::int64_t gap = 0;
  for (const auto& [begin, end] : occupied_) {
    if (begin - gap >= buffers_[buffer].bytes) break;
    gap = std::max(gap, end);
  }
  return gap;
}

Allocation FirstFit::run(std::span<const std::uint32_t> order, std::int64_t limit) {
  Allocation result{std::vector<std::int64_t>(buffers_.size(), kUnplaced), 0};
  for (std::uint32_t b : order) {
    result.offsets[b] = lowest_gap(b, result.offsets);
    result.total = std::max(result.total, result.offsets[b] + buffers_[b].bytes);
    if (result.total >= limit) {
      result.total = limit;
      return result;
    }
  }
  return result;
}

}  // namespace writeback::impl::plan
