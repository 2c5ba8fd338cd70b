#include "impl/plan/allocation.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <utility>

namespace writeback::impl::plan {

std::vector<std::pair<std::int64_t, std::int64_t>> live_bytes(std::span<const Buffer> buffers) {
  std::map<std::int64_t, std::int64_t> change;
  for (const Buffer& b : buffers) {
    if (b.begin >= b.end) continue;
    change[b.begin] += b.bytes;
    change[b.end] -= b.bytes;
  }
  std::vector<std::pair<std::int64_t, std::int64_t>> curve;
  std::int64_t live = 0;
  for (const auto& [step, delta] : change) curve.emplace_back(step, live += delta);
  return curve;
}

Bound lower_bound(std::span<const Buffer> buffers) {
  Bound bound;
  for (const auto& [step, bytes] : live_bytes(buffers)) {
    if (bytes > bound.bytes) bound = {bytes, step};
  }
  return bound;
}

Allocation naive(std::span<const Buffer> buffers) {
  Allocation result;
  for (const Buffer& b : buffers) {
    result.offsets.push_back(result.total);
    result.total += b.bytes;
  }
  return result;
}

std::optional<Violation> validate(std::span<const Buffer> buffers, const Allocation& allocation) {
  if (allocation.offsets.size() != buffers.size()) return Violation{0, 0, "one offset per buffer is needed"};
  for (std::size_t i = 0; i < buffers.size(); ++i) {
    const std::int64_t offset = allocation.offsets[i];
    if (offset < 0 || offset + buffers[i].bytes > allocation.total) {
      return Violation{i, i, fmt::format("buffer {} lies outside the arena of {} bytes", i, allocation.total)};
    }
  }
  std::vector<std::size_t> by_begin(buffers.size());
  std::iota(by_begin.begin(), by_begin.end(), 0);
  std::sort(by_begin.begin(), by_begin.end(), [&](std::size_t a, std::size_t b) { return buffers[a].begin < buffers[b].begin; });
  std::vector<std::size_t> live;
  for (std::size_t i : by_begin) {
    std::erase_if(live, [&](std::size_t j) { return buffers[j].end <= buffers[i].begin; });
    for (std::size_t j : live) {
      const std::int64_t a = allocation.offsets[i], b = allocation.offsets[j];
      if (live_together(buffers[i], buffers[j]) && a < b + buffers[j].bytes && b < a + buffers[i].bytes) {
        return Violation{j, i, fmt::format("buffers {} and {} live together and share bytes", j, i)};
      }
    }
    live.push_back(i);
  }
  return std::nullopt;
}

}  // namespace writeback::impl::plan
