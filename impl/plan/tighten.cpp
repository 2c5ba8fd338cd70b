// The search for a smaller arena: Skyline is asked for one of the bound's size, then for one halfway between what was not found and
// the best so far; by each preference in turn, and again with twice the steps, so that no hard question holds up an easy one.
#include <algorithm>
#include <numeric>

#include "impl/plan/allocation.h"
#include "impl/plan/skyline.h"

namespace writeback::impl::plan {
namespace {

constexpr Skyline::Preference kPreferences[] = {Skyline::Preference::longest, Skyline::Preference::fullest_by_area,
                                                Skyline::Preference::fullest_by_length};

Skyline::Clock::time_point deadline_of(const SearchLimits& limits) {
  if (!limits.seconds) return Skyline::Clock::time_point::max();
  return Skyline::Clock::now() +
         std::chrono::duration_cast<Skyline::Clock::duration>(std::chrono::duration<double>(*limits.seconds));
}

class Tightening {
 public:
  Tightening(std::span<const Buffer> buffers, Allocation start, const SearchLimits& limits)
      : skyline_(buffers),
        best_(std::move(start)),
        bound_(lower_bound(buffers).bytes),
        steps_(limits.seconds ? INT64_MAX : limits.steps),
        deadline_(deadline_of(limits)) {
    for (const Buffer& b : buffers) unit_ = std::gcd(unit_, b.bytes);
  }

  Allocation run(std::int64_t steps) {
    for (; is_open(bound_); steps *= 2) {
      std::int64_t low = bound_;
      for (std::int64_t capacity = low; is_open(low); capacity = low + (best_.total - low) / unit_ / 2 * unit_) {
        if (!finds(capacity, steps)) low = capacity + unit_;
      }
    }
    return best_;
  }

 private:
  bool is_open(std::int64_t low) const { return low < best_.total && steps_ > 0 && Skyline::Clock::now() < deadline_; }

  bool finds(std::int64_t capacity, std::int64_t steps) {
    for (const Skyline::Preference preference : kPreferences) {
      const std::int64_t granted = std::min(steps, steps_);
      Skyline::Effort effort{granted, deadline_};
      const Skyline::Answer answer = skyline_.fit(capacity, preference, effort);
      steps_ -= granted - effort.steps;
      if (answer == Skyline::Answer::found) best_ = skyline_.found();
      if (answer == Skyline::Answer::none) bound_ = std::max(bound_, capacity + unit_);
      if (answer != Skyline::Answer::spent) return answer == Skyline::Answer::found;
    }
    return false;
  }

  Skyline skyline_;
  Allocation best_;
  std::int64_t bound_;     ///< no arena is smaller
  std::int64_t unit_ = 0;  ///< every arena that rests is a multiple
  std::int64_t steps_;
  Skyline::Clock::time_point deadline_;
};

}  // namespace

Allocation tighten(std::span<const Buffer> buffers, Allocation start, const SearchLimits& limits) {
  constexpr std::size_t kMostBuffers = 8192;  // the search is as deep as there are buffers
  if (buffers.empty() || buffers.size() > kMostBuffers || start.total == lower_bound(buffers).bytes) return start;
  return Tightening(buffers, std::move(start), limits).run(static_cast<std::int64_t>(2 * buffers.size()));
}

}  // namespace writeback::impl::plan
