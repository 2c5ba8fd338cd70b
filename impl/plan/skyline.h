// Is there an arena of so many bytes? A complete search, after Moffitt's MiniMalloc (ASPLOS 2023).
//
// An arena whose offsets have the least sum rests: each buffer lies on the floor or on another. Such an arena is built by placing
// buffers in ascending order of (offset, rank), each at its `low`, the lowest byte above all that is placed and lives with it. So
// it suffices to try, step by step, the buffers whose low is
//  - not before the last one placed, in that order: the other order is tried elsewhere;
//  - beneath the top of every unplaced buffer, put at its own low: a gap that takes one whole would not be left by the least sum;
//  - so low that the unplaced bytes of every section still fit above it (a section: steps between which nothing is born or dies).
// Where no unplaced buffer crosses a border of sections any more, both sides are searched each for itself.
#pragma once

#include <chrono>
#include <compare>
#include <cstdint>
#include <span>
#include <vector>

#include "impl/plan/allocation.h"
#include "impl/plan/first_fit.h"

namespace writeback::impl::plan {

class Skyline {
 public:
  using Clock = std::chrono::steady_clock;
  enum class Answer : std::uint8_t { found, none, spent };
  /// Which of the buffers with the same low is tried first: the one that lives longest, or the one of the fullest section.
  enum class Preference : std::uint8_t { longest, fullest_by_area, fullest_by_length };
  struct Effort {
    std::int64_t steps = 0;
    Clock::time_point deadline = Clock::time_point::max();
  };

  explicit Skyline(std::span<const Buffer>);

  /// `none` is a proof that no arena has so few bytes. Takes the steps that it needed off the effort.
  Answer fit(std::int64_t capacity, Preference, Effort&);
  /// Where the last fit() that found one has put the buffers.
  Allocation found() const;

 private:
  using Ids = std::vector<std::uint32_t>;
  /// Unplaced buffers with nothing in common with those of other parts, by rank; sections [first, last).
  struct Part {
    Ids buffers;
    std::uint32_t first = 0, last = 0;
  };
  struct Candidate {
    std::int64_t low = 0;
    std::uint32_t rank = 0;
    auto operator<=>(const Candidate&) const = default;
  };
  struct Change {
    std::uint32_t buffer = 0;
    std::int64_t low_before = 0;  ///< kPlaced: it was given its place
  };

  void clear();
  Answer search_parts(Ids buffers, std::int64_t lowest);
  Answer search(const Part&, Candidate after);
  Answer search_above(const Part&, Candidate placed);
  std::vector<Candidate> candidates(const Part&, Candidate after) const;
  void rank(Ids& buffers) const;
  bool place(std::uint32_t buffer);
  bool raise_neighbours(std::uint32_t buffer);
  void touch(std::uint32_t buffer);
  bool touched_sections_have_room() const;
  bool falls_apart_at(std::uint32_t buffer) const;
  void count(std::uint32_t buffer, int sign);
  void undo(std::size_t mark);

  std::span<const Buffer> buffers_;
  FirstFit neighbours_;
  std::vector<std::uint32_t> first_, last_;  ///< sections of a buffer, half-open
  std::vector<Ids> live_;                    ///< buffers of a section
  std::int64_t capacity_ = 0;
  Preference preference_ = Preference::longest;
  Effort* effort_ = nullptr;
  std::vector<std::int64_t> offset_, low_;
  std::vector<std::int64_t> unplaced_;  ///< bytes of a section
  std::vector<std::int64_t> crossing_;  ///< unplaced buffers that live in a section and the one before
  std::vector<Change> changes_;         ///< to go back
  Ids touched_;                         ///< sections in which a low was raised by the last place()
  std::vector<std::uint64_t> touched_at_;
  std::uint64_t placed_ = 0;
};

}  // namespace writeback::impl::plan
