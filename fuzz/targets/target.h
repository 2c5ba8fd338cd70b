// What the fuzz targets share. Each target is one function that libFuzzer, AFL++ or Honggfuzz calls; standalone_main.cpp calls it
// on files where there is no engine. A target ends the process where a claim does not hold, after it has said which.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "ref/graph/program.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace writeback::fuzz {

/// A program from an input: text where it starts like one of ours (the corpus is kept as programs), else the bytes of records.
Program program_of_input(const std::uint8_t* data, std::size_t size);

inline std::string_view text_of_input(const std::uint8_t* data, std::size_t size) {
  return {reinterpret_cast<const char*>(data), size};
}

/// Prints the claim and what breaks it, and aborts.
[[noreturn]] void broken(const std::string& claim, const std::string& detail);

/// Mutates records as wholes: inserts, erases, repeats, swaps, or changes bytes of one. For LLVMFuzzerCustomMutator.
std::size_t mutate_records(std::uint8_t* data, std::size_t size, std::size_t most, unsigned seed);
/// Takes each record from one of two inputs. For LLVMFuzzerCustomCrossOver.
std::size_t cross_records(const std::uint8_t* a, std::size_t a_size, const std::uint8_t* b, std::size_t b_size, std::uint8_t* out,
                          std::size_t most, unsigned seed);

}  // namespace writeback::fuzz
