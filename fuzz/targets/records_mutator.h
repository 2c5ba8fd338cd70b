// The custom mutator and crossover, for targets whose inputs are records. Included by the target itself: an engine finds them by
// name.
#pragma once

#include "fuzz/targets/target.h"

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t most, unsigned seed) {
  return writeback::fuzz::mutate_records(data, size, most, seed);
}

extern "C" std::size_t LLVMFuzzerCustomCrossOver(const std::uint8_t* a, std::size_t a_size, const std::uint8_t* b,
                                                 std::size_t b_size, std::uint8_t* out, std::size_t most, unsigned seed) {
  return writeback::fuzz::cross_records(a, a_size, b, b_size, out, most, seed);
}
