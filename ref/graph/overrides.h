// The reviewed table of annotations that lie or say too little: one row an op and fault, each with its reason. What is not in it
// follows from the schema alone (effects_rule.h). The bridge calls every op with real tensors and compares; this table is the
// result.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "ref/graph/schema.h"

namespace writeback {

enum class Correction : std::uint8_t {
  may_alias,       ///< a result may be an alias of the argument, or a copy (lists: element by element)
  alias,           ///< a result is an alias of the argument, though the schema does not say so
  reads_nothing,   ///< only metadata of the arguments is used
  overwrites,      ///< the argument's old cells are not read
  writes,          ///< the argument is read and written, though the schema does not say so
  writes_nothing,  ///< the argument is not written, though the schema says so
  uninitialized,   ///< the results' cells are unspecified
  observed,        ///< kept alive whatever becomes of the result
  random,          ///< draws, though it is not tagged nondeterministic_seeded
  not_random,      ///< tagged nondeterministic_seeded, yet draws nothing
  refused          ///< outside what this tool can judge
};

struct Override {
  std::string_view op;  ///< "aten::to": every overload; "aten::to.dtype", "aten::relu.default": one
  Correction correction;
  /// Names of arguments, comma between them. Empty: for reads_nothing, every argument that is not written; otherwise the first.
  std::string_view arguments;
  /// "training=True": the row holds unless that argument is known to have another value; a row that takes an effect away holds
  /// only where the argument is known to have it. Alternatives are joined by "|".
  std::string_view when;
  std::string_view reason;
};

std::span<const Override> overrides();

/// The rows that are about this op.
std::vector<const Override*> overrides_of(const Schema&);

}  // namespace writeback
