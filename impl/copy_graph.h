// From a program to its copy graph: which write-backs are kept as copies (rule 7), which values are read first (rule 8,
// self-overlap, missed deadlines), and what must come first among copies (rule 5). Constraints that follow from others are left
// out: of the copies that write the same cells the first stands for all, since they keep their output order.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "impl/aliases.h"
#include "impl/bounds.h"
#include "impl/place.h"
#include "impl/planted.h"
#include "impl/schedule.h"
#include "impl/targets.h"

namespace writeback::impl {
inline namespace WRITEBACK_BUILD {

/// What the steps of a placement share.
struct Problem {
  const Program& program;
  const Options& options;
  const Aliases& aliases;
  const std::vector<WriteBack>& write_backs;
  Bounds& bounds;

  bool sequential() const { return options.semantics == Semantics::sequential; }
  Bound earliest_write(const WriteBack& w) const {
    const auto& deadline = bounds.deadline(w.value);
    return bounds.earliest_write(w.target, cause_of_being_target(program, aliases, w), deadline ? deadline->slot : kNever);
  }
};

/// Per write-back: it is kept as a copy, rather than dropped because it is in place.
std::vector<bool> kept_copies(const Problem&, const Targets& all_targets);

/// A copy graph over the kept copies, and where its events come from.
struct PlacementGraph {
  CopyGraph graph;
  std::vector<std::uint32_t> write_back;  ///< per copy of the graph: its write-back
  std::vector<ValueId> value;             ///< per reader
  std::vector<bool> forced;               ///< per reader: needs a temporary in any case
  std::vector<bool> output;               ///< per reader: user outputs with this value are read first
  /// Write-backs that no slot suits: their last writer comes after their deadline. They stand at the end.
  std::vector<std::uint32_t> hopeless;
};

PlacementGraph placement_graph(const Problem&, const std::vector<bool>& kept);

/// Pairs of write-backs of which the first finds its value overwritten by the second when all stand at the end in output order.
std::vector<Clobbered> clobbered(const Problem&, const std::vector<bool>& kept);

}  // namespace WRITEBACK_BUILD
}  // namespace writeback::impl
