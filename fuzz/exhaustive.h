// Every program of a small world: two buffers and one input of four cells, up to N nodes from a fixed alphabet, each buffer written
// back from any value that fits or from none, one user output or none. The number of programs is computed first, from the alphabet
// alone and not by the enumeration, and the two must agree.
//
// Worlds: 0 = three storages; 1 = the two buffers share one.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "fuzz/choices.h"
#include "fuzz/oracle.h"
#include "ref/graph/program.h"

namespace writeback::fuzz {

/// Answers "which of n?" with every sequence of answers in turn, like the wheels of a counter; a sequence may decide how many
/// questions follow.
class Odometer final : public Choices {
 public:
  std::uint32_t pick(std::uint32_t n) override;
  /// Moves to the next sequence; false when all have been seen.
  bool next();

 private:
  std::vector<std::pair<std::uint32_t, std::uint32_t>> wheels_;  ///< answer, n
  std::size_t at_ = 0;
};

enum class Alphabet : std::uint8_t { small, full };

struct Enumeration {
  Alphabet alphabet = Alphabet::full;
  std::uint32_t world = 0;
  std::uint32_t nodes = 2;  ///< exactly
  std::uint64_t shard = 0, shards = 1;
};

/// The number of programs of all shards.
std::uint64_t count(const Enumeration&);

/// Calls `see` for every program of the shard until it answers false; the number of programs seen.
std::uint64_t enumerate(const Enumeration&, const std::function<bool(const Program&)>& see);

struct Exhaustion {
  std::uint64_t cases = 0, skipped = 0;
  std::optional<std::pair<Program, Judged>> failure;  ///< the first, which ends it
};

/// Asks the oracle about every program of the shard; `progress` hears of the number of cases now and then.
Exhaustion judge_all(Implementation&, const Enumeration&, const Options& base,
                     const std::function<void(std::uint64_t)>& progress = {});

}  // namespace writeback::fuzz
