// Metamorphic relations: changes of a program that change the right placement in a known way, or not at all. They need no
// reference, only the implementation itself, so they also speak where a program is too large to judge.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "fuzz/drivers.h"
#include "ref/graph/options.h"
#include "ref/graph/placement.h"
#include "ref/graph/program.h"

namespace writeback::fuzz {

struct Relation {
  std::string name;
  Program program;
  /// Is this placement of the changed program related to that of the original?
  std::function<bool(const Placement& original, const Placement& changed)> holds;
};

/// Every value and input gets another name.
Relation renamed(const Program&);
/// A node that looks at the metadata of a placeholder only is added; nullopt without placeholders.
std::optional<Relation> with_metadata_reader(const Program&, Random&);
/// An operand is read through one more view; nullopt where no node has a tensor operand.
std::optional<Relation> with_split_view(const Program&, const Options&, Random&);
/// Two neighbours that have nothing to do with each other change places; nullopt where there are none.
std::optional<Relation> with_swapped_neighbours(const Program&, const Options&, Random&);

}  // namespace writeback::fuzz
