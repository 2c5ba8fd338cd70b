// What forwarding and coalescing both ask of a placed program: the cells that its values may cover, followed for the values of
// write-backs too, and not only for what can overlap a target.
#pragma once

#include <vector>

#include "impl/aliases.h"
#include "impl/planted.h"
#include "impl/region_domain.h"
#include "impl/rules.h"
#include "ref/graph/effects.h"

namespace writeback::impl {
inline namespace WRITEBACK_BUILD {

class PlacedProgram {
 protected:
  using Regions = RegionDomain;
  using Sets = Cells<Regions>;

  PlacedProgram(const Program&, const Placement&, const Options&);

  Sets cells_of(SetId id) const { return {aliases_.sets.plain(id), aliases_.sets.lowered(id)}; }
  Sets cells_of(ValueId v) const { return cells_of(aliases_.cells[index_of(v)]); }
  Regions::Set target_of(std::uint32_t k) const { return aliases_.entries(write_backs_[k].target); }

  /// A user output is the value or may be an alias of it.
  bool leaves_the_program(ValueId value) const;

  /// The same dtype, sizes, strides and place in their storages: one stands for the other to any reader.
  bool same_layout(ValueId value, ValueId target) const;

  const Program& program_;
  const Placement& placement_;
  const Effects effects_;
  const std::vector<WriteBack> write_backs_;
  const Aliases aliases_;
  const Regions domain_{aliases_.regions};
};

}  // namespace WRITEBACK_BUILD
}  // namespace writeback::impl
