// Walks over choice vectors: all of them where they are few enough, else a sample. The lowering choices vary fastest, so that a
// walker can keep what depends on the semantic ones alone.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "ref/steps.h"

namespace writeback::ref {

std::vector<std::uint8_t> options_of(std::span<const ChoicePoint>);

class ChoiceWalk {
 public:
  /// Visits every vector if there are at most `limit`, else `limit` of them: all zero, all the last option, the same with the
  /// lowering alone, each choice by itself, then random ones (always the same).
  ChoiceWalk(const Steps&, std::uint64_t limit);
  /// The same over plain numbers of options, the `minor` ones varying fastest.
  ChoiceWalk(std::vector<std::uint8_t> major, const std::vector<std::uint8_t>& minor, std::uint64_t limit);

  bool exhaustive() const { return exhaustive_; }
  /// Number of all vectors; saturates.
  std::uint64_t total() const { return total_; }
  /// Moves to the next vector (at first: to the first one); false at the end.
  bool next();
  /// Semantic choices, then lowering choices.
  std::span<const std::uint8_t> choices() const { return choices_; }
  /// Did the last next() change a semantic choice?
  bool semantics_changed() const { return changed_; }

 private:
  bool count_up();
  void draw();
  void set(std::size_t from, std::size_t to, bool last);

  std::vector<std::uint8_t> options_, choices_;
  std::size_t semantic_;
  std::uint64_t limit_, total_ = 1, visited_ = 0, state_ = 0x9e3779b97f4a7c15ull;
  bool exhaustive_ = true, changed_ = true;
};

}  // namespace writeback::ref
