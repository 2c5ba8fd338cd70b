// The bank of planted faults: mistakes that a good engineer would make, with which a campaign shows that it is able to fail. The
// rule of the bank: a fault is one rule changed in the very sources of the implementation (impl/planted.h), or one misreading of
// the program; each is found by a campaign in a minute on one core, and its smallest program has at most six nodes.
//
// Misreadings stand for faults in what implementation and reference share (effects, text, tables). Here the reference reads right
// and sees them; a fault that both share only the comparison with PyTorch can see, which runs the same bank.
#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "impl/planted.h"
#include "ref/graph/program.h"

namespace writeback::fuzz {

struct PlantedFault {
  std::string_view name;
  std::string_view rule;         ///< which rule or part is changed
  std::string_view description;  ///< the mistake, in a sentence
  impl::Fault fault = impl::Fault::none;
  std::optional<impl::Clause> clause = std::nullopt;  ///< the clause of impl/rules.h that is left out
  Program (*misread)(const Program&) = nullptr;       ///< how the program is read instead
  bool rewrites = false;                              ///< it is in what goes beyond placing: the rewritten program is judged
};

std::span<const PlantedFault> planted_faults();
/// nullptr where there is none of that name.
const PlantedFault* find_fault(std::string_view name);
/// Turns it on in this thread, until another one or Fault::none is planted.
void plant(const PlantedFault&);

}  // namespace writeback::fuzz
