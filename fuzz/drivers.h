// The sources of records: bytes of an engine, and random numbers. RapidCheck's is in testing.h, the enumeration in exhaustive.h.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "fuzz/choices.h"
#include "fuzz/generate.h"

namespace writeback::fuzz {

/// Bytes as records; the last record is filled up with zeros.
Records records_of(std::span<const std::uint8_t> bytes);
std::vector<std::uint8_t> bytes_of(std::span<const Record>);

/// A small fast generator of random numbers (Steele, Lea and Flood, "Fast splittable pseudorandom number generators", 2014):
/// the same numbers on every platform, so that a seed names a case for ever.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}
  std::uint64_t next();
  std::uint32_t below(std::uint32_t n) { return static_cast<std::uint32_t>(next() % n); }

 private:
  std::uint64_t state_;
};

/// Records of a program of the usual make: one to four placeholders, up to `sizes.nodes` nodes, one to four outputs. Three
/// families, as programs come in three dialects: functional with view copies, true views and in-place ops, and everything.
Records random_records(Random&, const Sizes& = {});

}  // namespace writeback::fuzz
