// The forward walk: for every value where its tensor can be, and for every node which cells it touches. One pass in program order;
// values that no write-back cares about (interest.h) keep the empty set.
//
//   value kind     plain entries                               entries via lowering
//   fresh          a storage of its own                        those of the argument whose allocation it may share
//   same, alias    the operand's, seen through the view        the operand's, seen through the view
//   may_alias      both of the above
//   opaque         a storage of its own, any part of operands  any part of operands
//   view_copy      a storage of its own                        those of its chain's root, seen through the view
//
// Where a view's geometry is not known the entry is an unknown part of the storage. It errs to larger sets. Programs in which sets
// would grow without measure (opaque ops on opaque ops) are walked with one storage a class, and `coarse` says so.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include "impl/cell_sets.h"
#include "impl/interest.h"
#include "impl/planted.h"
#include "ref/graph/effects.h"
#include "ref/graph/options.h"
#include "ref/graph/placement.h"
#include "ref/graph/program.h"

namespace writeback::impl {
inline namespace WRITEBACK_BUILD {

/// A node's use of the cells of one operand, or of a result that takes an argument's storage.
struct Touch {
  NodeId node{};
  ValueId value{};
  SetId cells{};
  bool reads = false;  ///< only for live nodes
  bool writes = false;
};

/// A view_copy of a view_copy: later re-based on the chain's root, it no longer reads the link before it.
struct RebasedRead {
  NodeId node{};
  ValueId link{};
  SetId chain{};  ///< the cells of link and root
};

struct Aliases {
  RegionTable regions;
  CellSets sets;
  Causes causes;
  std::vector<SetId> cells;            ///< per value, as of the end of the program
  std::vector<ValueId> tensor;         ///< per value: the first value that is the very same tensor (in-place results)
  std::vector<ValueId> base;           ///< per value: the operand that it can be an alias of (or is re-based through), or itself
  std::vector<std::uint32_t> birth;    ///< per value: the slot after which the oldest storage that it can lie in exists
  std::vector<std::uint32_t> settled;  ///< per value: the slot after which it has its name and its final geometry
  std::vector<bool> live;              ///< per node
  std::vector<Touch> touches;          ///< in program order; operands in order
  std::vector<RebasedRead> rebased;
  bool lowered = false;  ///< some tensor has an entry via lowering
  bool coarse = false;

  /// v is x or an alias, of an alias, ... of x.
  bool descends(ValueId v, ValueId x) const {
    while (v != x && base[index_of(v)] != v) v = base[index_of(v)];
    return v == x;
  }
  /// The node writes more than one operand.
  bool writes_several(NodeId n) const {
    const auto first = std::lower_bound(touches.begin(), touches.end(), n, [](const Touch& t, NodeId m) { return t.node < m; });
    const auto last = std::upper_bound(first, touches.end(), n, [](NodeId m, const Touch& t) { return m < t.node; });
    return std::count_if(first, last, [](const Touch& t) { return t.writes; }) > 1;
  }
  std::span<const Entry> entries(ValueId v) const { return sets[cells[index_of(v)]]; }
};

/// True for values that leave the program as user outputs (or in any way but a mutation), but for those that a placement reads
/// first: there the temporary leaves in their stead.
std::vector<bool> user_outputs(const Program&, const Placement* = nullptr);

/// `returned`: the user outputs, whose view_copy stays a copy. Throws InputError where a node writes a tensor that overlaps itself.
Aliases walk_aliases(const Program&, const Effects&, const Options&, const std::vector<WriteBack>&,
                     const std::vector<bool>& returned);

}  // namespace WRITEBACK_BUILD
}  // namespace writeback::impl
