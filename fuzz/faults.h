// The bank of planted faults: mistakes that a good engineer would make, with which a campaign shows that it is able to fail. The
// rule of the bank: a fault is one rule changed in the very sources of the implementation (impl/planted.h), or one misreading of
// the program by what both sides share; each is found by a campaign in a minute, and its smallest program has at most six nodes.
//
// Shared faults are misreadings that the reference makes too, so a campaign in this process cannot see them; they are for the
// comparison with PyTorch, which reads the program itself.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "fuzz/implementation.h"

namespace writeback::fuzz {

struct PlantedFault {
  std::string_view name;
  std::string_view rule;         ///< which rule or part is changed
  std::string_view description;  ///< the mistake, in a sentence
  impl::Fault fault = impl::Fault::none;
  Program (*misread)(const Program&) = nullptr;  ///< shared faults: how the program is read
};

std::span<const PlantedFault> planted_faults();
/// nullptr where there is none of that name.
const PlantedFault* find_fault(std::string_view name);

}  // namespace writeback::fuzz
