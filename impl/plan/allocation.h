// Dynamic storage allocation: buffers with live ranges and sizes are given offsets in one arena so that no two that live at the
// same step share a byte. Planners here know nothing of programs; live_ranges.h makes their input, validate() judges their output.
//
// Finding the smallest arena is NP-hard (Garey and Johnson, SR2). The largest sum of live bytes is a lower bound; a planner stops
// when it meets it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace writeback::impl::plan {

/// Live during the steps [begin, end), half-open and not empty; `bytes` already rounded up to the alignment.
struct Buffer {
  std::int64_t begin = 0, end = 0;
  std::int64_t bytes = 0;
};

inline bool live_together(const Buffer& a, const Buffer& b) { return a.begin < b.end && b.begin < a.end; }

/// offsets[i] is the place of buffer i; `total` one past the highest byte used.
struct Allocation {
  std::vector<std::int64_t> offsets;
  std::int64_t total = 0;
};

/// No arena is smaller than the bytes that live at one step.
struct Bound {
  std::int64_t bytes = 0;
  std::int64_t step = 0;  ///< the first step at which so many bytes live
};
Bound lower_bound(std::span<const Buffer>);

/// Live bytes at each change: (step, bytes from that step on), ascending, for the curve.
std::vector<std::pair<std::int64_t, std::int64_t>> live_bytes(std::span<const Buffer>);

/// One after the other, nothing shared.
Allocation naive(std::span<const Buffer>);

/// Each buffer, largest first, into the lowest gap that holds it.
Allocation first_fit_by_size(std::span<const Buffer>);

/// The best of several first-fit orders; ends at the lower bound.
Allocation portfolio(std::span<const Buffer>);

/// Steps are counted, so that results repeat; seconds are not.
struct SearchLimits {
  std::int64_t steps = 20'000;
  std::optional<double> seconds;  ///< instead of steps
};

/// A smaller arena than `start`, or `start` where none is found: Skyline is asked for less and less. The smallest of all, if the
/// limits are not reached.
Allocation tighten(std::span<const Buffer>, Allocation start, const SearchLimits& = {});

/// Two buffers that share a byte and a step, or one that lies outside the arena.
struct Violation {
  std::size_t first = 0, second = 0;
  std::string message;
};
/// Plain and quadratic in the buffers of one step; shares no code with the planners.
std::optional<Violation> validate(std::span<const Buffer>, const Allocation&);

}  // namespace writeback::impl::plan
