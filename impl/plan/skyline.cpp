#include "impl/plan/skyline.h"

#include <algorithm>
#include <array>
#include <numeric>

namespace writeback::impl::plan {
namespace {

constexpr std::int64_t kNowhere = -1, kPlaced = -1;

std::vector<std::int64_t> borders_of(std::span<const Buffer> buffers) {
  std::vector<std::int64_t> borders;
  for (const Buffer& b : buffers) borders.push_back(b.begin), borders.push_back(b.end);
  std::sort(borders.begin(), borders.end());
  borders.erase(std::unique(borders.begin(), borders.end()), borders.end());
  return borders;
}

}  // namespace

Skyline::Skyline(std::span<const Buffer> buffers) : buffers_(buffers), neighbours_(buffers) {
  const std::vector<std::int64_t> borders = borders_of(buffers);
  const auto section = [&](std::int64_t step) {
    return static_cast<std::uint32_t>(std::lower_bound(borders.begin(), borders.end(), step) - borders.begin());
  };
  live_.resize(borders.size());
  touched_at_.resize(borders.size());
  for (std::uint32_t b = 0; b < buffers.size(); ++b) {
    first_.push_back(section(buffers[b].begin)), last_.push_back(section(buffers[b].end));
    for (std::uint32_t s = first_[b]; s < last_[b] && buffers[b].bytes > 0; ++s) live_[s].push_back(b);
  }
}

Skyline::Answer Skyline::fit(std::int64_t capacity, Preference preference, Effort& effort) {
  capacity_ = capacity;
  preference_ = preference;
  effort_ = &effort;
  clear();
  Ids all;
  for (std::uint32_t b = 0; b < buffers_.size(); ++b) {
    if (buffers_[b].bytes > capacity) return Answer::none;
    if (buffers_[b].bytes > 0) {
      all.push_back(b);
      count(b, +1);
    } else {
      offset_[b] = 0;
    }
  }
  return search_parts(std::move(all), 0);
}

Allocation Skyline::found() const {
  Allocation result{offset_, 0};
  for (std::size_t b = 0; b < buffers_.size(); ++b) result.total = std::max(result.total, offset_[b] + buffers_[b].bytes);
  return result;
}

void Skyline::clear() {
  offset_.assign(buffers_.size(), kNowhere);
  low_.assign(buffers_.size(), 0);
  unplaced_.assign(live_.size(), 0);
  crossing_.assign(live_.size(), 0);
  changes_.clear();
}

/// Cuts the time axis where no buffer crosses. One part without a solution means none for all.
Skyline::Answer Skyline::search_parts(Ids buffers, std::int64_t lowest) {
  std::sort(buffers.begin(), buffers.end(), [&](auto a, auto b) { return first_[a] < first_[b]; });
  for (std::size_t i = 0; i < buffers.size();) {
    Part part{{}, first_[buffers[i]], last_[buffers[i]]};
    for (; i < buffers.size() && first_[buffers[i]] < part.last; ++i) {
      part.last = std::max(part.last, last_[buffers[i]]);
      part.buffers.push_back(buffers[i]);
    }
    rank(part.buffers);
    if (const Answer answer = search(part, {lowest, 0}); answer != Answer::found) return answer;
  }
  return Answer::found;
}

Skyline::Answer Skyline::search(const Part& part, Candidate after) {
  const auto placed = [&](std::uint32_t b) { return offset_[b] != kNowhere; };
  if (std::all_of(part.buffers.begin(), part.buffers.end(), placed)) return Answer::found;
  if (effort_->steps-- <= 0 || Clock::now() > effort_->deadline) return Answer::spent;
  for (const Candidate& c : candidates(part, after)) {
    const std::size_t mark = changes_.size();
    const Answer answer = place(part.buffers[c.rank]) ? search_above(part, c) : Answer::none;
    if (answer != Answer::none) return answer;
    undo(mark);
  }
  return Answer::none;
}

Skyline::Answer Skyline::search_above(const Part& part, Candidate placed) {
  if (!falls_apart_at(part.buffers[placed.rank])) return search(part, placed);
  Ids rest;
  std::copy_if(part.buffers.begin(), part.buffers.end(), std::back_inserter(rest), [&](auto b) { return offset_[b] == kNowhere; });
  return search_parts(std::move(rest), placed.low);
}

std::vector<Skyline::Candidate> Skyline::candidates(const Part& part, Candidate after) const {
  std::int64_t highest = capacity_;
  for (std::uint32_t s = part.first; s < part.last; ++s) highest = std::min(highest, capacity_ - unplaced_[s]);
  for (std::uint32_t b : part.buffers) {
    if (offset_[b] == kNowhere) highest = std::min(highest, low_[b] + buffers_[b].bytes - 1);
  }
  std::vector<Candidate> result;
  for (std::uint32_t r = 0; r < part.buffers.size(); ++r) {
    const Candidate candidate{low_[part.buffers[r]], r};
    if (offset_[part.buffers[r]] == kNowhere && candidate >= after && candidate.low <= highest) result.push_back(candidate);
  }
  std::sort(result.begin(), result.end());
  return result;
}

void Skyline::rank(Ids& buffers) const {
  std::vector<std::pair<std::array<std::int64_t, 3>, std::uint32_t>> keys;
  for (std::uint32_t b : buffers) {
    const std::int64_t length = buffers_[b].end - buffers_[b].begin, area = length * buffers_[b].bytes;
    const std::int64_t fullest = *std::max_element(unplaced_.begin() + first_[b], unplaced_.begin() + last_[b]);
    switch (preference_) {
      case Preference::longest:
        keys.push_back({{-length, -area, -fullest}, b});
        break;
      case Preference::fullest_by_area:
        keys.push_back({{-fullest, -area, -length}, b});
        break;
      case Preference::fullest_by_length:
        keys.push_back({{-fullest, -length, -area}, b});
        break;
    }
  }
  std::sort(keys.begin(), keys.end());
  std::transform(keys.begin(), keys.end(), buffers.begin(), [](const auto& key) { return key.second; });
}

/// At its low. False where that leaves too little room for what is unplaced.
bool Skyline::place(std::uint32_t b) {
  changes_.push_back({b, kPlaced});
  offset_[b] = low_[b];
  count(b, -1);
  touched_.clear();
  ++placed_;
  touch(b);
  return raise_neighbours(b) && touched_sections_have_room();
}

bool Skyline::raise_neighbours(std::uint32_t b) {
  const std::int64_t top = offset_[b] + buffers_[b].bytes;
  for (std::uint32_t n : neighbours_.neighbours(b)) {
    if (offset_[n] != kNowhere || low_[n] >= top) continue;
    if (top + buffers_[n].bytes > capacity_) return false;
    changes_.push_back({n, low_[n]});
    low_[n] = top;
    touch(n);
  }
  return true;
}

void Skyline::touch(std::uint32_t b) {
  for (std::uint32_t s = first_[b]; s < last_[b]; ++s) {
    if (touched_at_[s] != placed_) touched_.push_back(s);
    touched_at_[s] = placed_;
  }
}

/// Some unplaced buffer of the section must lie so low that all of them fit above.
bool Skyline::touched_sections_have_room() const {
  return std::all_of(touched_.begin(), touched_.end(), [&](std::uint32_t s) {
    const auto is_low = [&](std::uint32_t b) { return offset_[b] == kNowhere && low_[b] + unplaced_[s] <= capacity_; };
    return unplaced_[s] == 0 || std::any_of(live_[s].begin(), live_[s].end(), is_low);
  });
}

bool Skyline::falls_apart_at(std::uint32_t b) const {
  return std::find(crossing_.begin() + first_[b] + 1, crossing_.begin() + last_[b], 0) != crossing_.begin() + last_[b];
}

void Skyline::count(std::uint32_t b, int sign) {
  for (std::uint32_t s = first_[b]; s < last_[b]; ++s) unplaced_[s] += sign * buffers_[b].bytes;
  for (std::uint32_t s = first_[b] + 1; s < last_[b]; ++s) crossing_[s] += sign;
}

void Skyline::undo(std::size_t mark) {
  for (; changes_.size() > mark; changes_.pop_back()) {
    const Change& change = changes_.back();
    if (change.low_before == kPlaced) {
      offset_[change.buffer] = kNowhere;
      count(change.buffer, +1);
    } else {
      low_[change.buffer] = change.low_before;
    }
  }
}

}  // namespace writeback::impl::plan
