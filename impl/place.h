// The fast placement: for each write-back the earliest safe slot, in near-linear time, each with its reason.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "impl/planted.h"
#include "impl/rule.h"
#include "ref/graph/options.h"
#include "ref/graph/placement.h"
#include "ref/graph/program.h"

namespace writeback::impl {

/// Why a copy stands where it stands: the blocking node or the blocking copy, and the values through which it reaches the cells.
struct Reason {
  Rule rule = Rule::start;
  std::optional<NodeId> node;
  std::optional<std::uint32_t> copy;  ///< index of a write-back
  std::vector<ValueId> via;
};

/// Copy `copy` has its value overwritten by copy `by` when all stand at the end in output order.
struct Clobbered {
  std::uint32_t copy = 0, by = 0;
  bool operator==(const Clobbered&) const = default;
};

/// Lowering changes what this gets, wherever the copies stand.
struct LoweringHazard {
  std::optional<NodeId> node;           ///< the node that reads something else, or
  std::optional<std::uint32_t> output;  ///< the output, or
  std::optional<ValueId> input;         ///< the untouched input, or
  std::optional<std::uint32_t> copy;    ///< the write-back that no slot suits
  NodeId view{};                        ///< the node whose lowering does it
  std::string sentence;
};

struct PlaceResult {
  std::vector<WriteBack> write_backs;
  Placement placement;
  std::vector<Reason> reasons;  ///< one per write-back
  std::vector<Clobbered> clobbered;
  std::vector<LoweringHazard> lowering_hazards;
  std::vector<std::string> warnings;
};

/// A pair of events that a placement puts in the wrong order.
struct Conflict {
  std::uint32_t copy = 0;
  Rule rule = Rule::start;
  std::optional<NodeId> node;
  std::optional<std::uint32_t> other_copy;
  std::optional<std::uint32_t> output;
};

inline namespace WRITEBACK_BUILD {

/// The earliest safe placement. Throws InputError on a program that is not well formed or that it must refuse.
PlaceResult place(const Program&, const Options& = {});

/// Checks every pair of a placement by the predicates of rules.h, quadratically and plainly. Empty = accepted; what is accepted is
/// safe (proofs/).
std::vector<Conflict> accept(const Program&, const Placement&, const Options& = {});

/// "%mul reads %v, a later alias of b_a": one clause for a reason.
std::string sentence(const Program&, const PlaceResult&, std::uint32_t copy);

}  // namespace WRITEBACK_BUILD
}  // namespace writeback::impl
