// Where the copies go: the one thing that the implementation computes and the reference judges.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "ref/graph/program.h"

namespace writeback {

/// Place of a copy or temporary: after the first index_of(slot) nodes; `order` is its position among the copies and temporaries
/// of that slot, from 0.
struct Position {
  Slot slot{};
  std::uint32_t order = 0;
  auto operator<=>(const Position&) const = default;
};

/// A clone of a value.
struct Temporary {
  std::string name;
  ValueId of{};
  Position at;
  bool operator==(const Temporary&) const = default;
};

struct PlacedCopy {
  bool in_place = false;  ///< no copy needed; `at` and `temporary` mean nothing then
  Position at;
  std::optional<std::uint32_t> temporary;  ///< the copy reads this temporary instead of the value
  bool operator==(const PlacedCopy&) const = default;
};

/// A user output that is read before its storage changes: it becomes the temporary.
struct OutputReadFirst {
  std::uint32_t output = 0;     ///< index into outputs
  std::uint32_t temporary = 0;  ///< index into Placement::temporaries
  bool operator==(const OutputReadFirst&) const = default;
};

/// One PlacedCopy per write-back, in output order (as write_backs(program) lists them).
struct Placement {
  std::vector<PlacedCopy> copies;
  std::vector<Temporary> temporaries;
  std::vector<OutputReadFirst> outputs_read_first;

  bool reads_first(std::uint32_t output) const {
    return std::any_of(outputs_read_first.begin(), outputs_read_first.end(),
                       [&](const OutputReadFirst& r) { return r.output == output; });
  }
  bool operator==(const Placement&) const = default;
};

/// Every copy after the last node, in output order, none in place, no temporary: what ExecuTorch does.
Placement end_placement(const Program&);

/// The program with its copies as explicit nodes: `copy_`, `copy__1`, ... = aten.copy_.default(target, value or temporary), the
/// temporaries as aten.clone.default; mutation specs name the copies' results, outputs read first name their temporaries.
/// `comment_of(copy index)` gives the trailing comment of a copy ("# after %y: ..."), empty for none.
Program with_explicit_copies(const Program&, const Placement&, const std::vector<std::string>& comments = {});

/// The inverse, for a program that is `before` with explicit write-back copies: which copy_ nodes are write-backs is section 9 of
/// the design (self is a target placeholder, src or result is named by a mutation spec, not in `before`). nullopt where `after`
/// differs from `before` in anything else.
std::optional<Placement> placement_of(const Program& before, const Program& after);

/// The program without its explicit write-back copies: its mutation specs name the values that the copies stored.
Program without_explicit_copies(const Program&);

}  // namespace writeback
