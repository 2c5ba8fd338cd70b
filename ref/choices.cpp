#include "ref/choices.h"

#include <algorithm>
#include <limits>

namespace writeback::ref {

std::vector<std::uint8_t> options_of(std::span<const ChoicePoint> points) {
  std::vector<std::uint8_t> options;
  for (const ChoicePoint& p : points) options.push_back(static_cast<std::uint8_t>(std::min(p.options, 255u)));
  return options;
}

ChoiceWalk::ChoiceWalk(const Steps& steps, std::uint64_t limit)
    : ChoiceWalk(options_of(steps.semantic_choices()), options_of(steps.lowering_choices()), limit) {}

ChoiceWalk::ChoiceWalk(std::vector<std::uint8_t> major, const std::vector<std::uint8_t>& minor, std::uint64_t limit)
    : options_(std::move(major)), semantic_(options_.size()), limit_(limit) {
  options_.insert(options_.end(), minor.begin(), minor.end());
  for (const std::uint8_t options : options_) {
    const bool fits = total_ <= std::numeric_limits<std::uint64_t>::max() / std::max<std::uint64_t>(options, 1);
    total_ = fits ? total_ * options : std::numeric_limits<std::uint64_t>::max();
  }
  exhaustive_ = total_ <= limit_;
  choices_.assign(options_.size(), 0);
}

bool ChoiceWalk::next() {
  if (visited_ >= std::min(total_, limit_)) return false;
  const bool first = visited_++ == 0;
  if (first) return true;
  if (exhaustive_) return count_up();
  changed_ = true;
  draw();
  return true;
}

bool ChoiceWalk::count_up() {
  std::size_t i = choices_.size();
  while (choices_[i - 1] + 1 == options_[i - 1]) choices_[--i] = 0;
  --i;
  ++choices_[i];
  changed_ = i < semantic_;
  return true;
}

void ChoiceWalk::set(std::size_t from, std::size_t to, bool last) {
  for (std::size_t i = from; i < to; ++i) choices_[i] = static_cast<std::uint8_t>(last ? options_[i] - 1 : 0);
}

// Vector number visited_ - 1 of a sample; number 0 is all zero.
void ChoiceWalk::draw() {
  const std::size_t count = choices_.size(), number = visited_ - 1;
  if (number <= 3) {
    set(0, semantic_, number != 2);
    set(semantic_, count, number != 3);
    return;
  }
  if (number - 4 < count) {
    set(0, count, false);
    choices_[number - 4] = static_cast<std::uint8_t>(options_[number - 4] - 1);
    return;
  }
  for (std::size_t i = 0; i < count; ++i) {
    state_ = state_ * 6364136223846793005ull + 1442695040888963407ull;
    choices_[i] = static_cast<std::uint8_t>((state_ >> 33) % options_[i]);
  }
}

}  // namespace writeback::ref
