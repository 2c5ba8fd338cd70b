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

#include <cstdint>
#include <optional>
#include <vector>

#include "impl/cell_sets.h"
#include "impl/interest.h"
#include "impl/planted.h"
#include "ref/graph/effects.h"
#include "ref/graph/options.h"
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
  std::vector<ValueId> base;           ///< per value: the operand that it can be an alias of, or itself
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
  std::span<const Entry> entries(ValueId v) const { return sets[cells[index_of(v)]]; }
};

/// Throws InputError where a node writes a tensor that overlaps itself.
Aliases walk_aliases(const Program&, const Effects&, const Options&, const std::vector<WriteBack>&);

/// True for values that leave the program as user outputs (or in any way but a mutation).
std::vector<bool> user_outputs(const Program&);

}  // namespace WRITEBACK_BUILD
}  // namespace writeback::impl
