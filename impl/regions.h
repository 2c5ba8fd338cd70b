// Which tensors share cells: overlap of strided regions, and a table that gives equal regions one small id. The overlap test is
// exact within a budget of steps that ordinary views (slices, selects, transposes, reshapes of one base) never use up; beyond it,
// and for regions that are not known, the answer errs to "overlaps".
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "impl/hash_index.h"
#include "impl/planted.h"
#include "ref/graph/region.h"

namespace writeback::impl {
inline namespace WRITEBACK_BUILD {

/// False only if no cell is in both.
bool overlap(const Region&, const Region&);

enum class RegionId : std::uint32_t {};

/// Regions of any storages, each once. Of a region that is not exactly known the table has the cells that it can cover: all those
/// of another region, or of the storage.
class RegionTable {
 public:
  RegionId intern(const Region&);
  /// A tensor of symbolic sizes that is its whole storage. Each one is a region of its own.
  RegionId add_symbolic();
  /// Some region inside this one; two such are never known to be the same.
  RegionId part_of(RegionId);
  /// Some region of the storage.
  RegionId unknown();

  /// nullptr where the region is not exactly known.
  const Region* find(RegionId id) const { return entry(id).kind == Kind::exact ? &entry(id).region : nullptr; }
  /// Certainly the same tensor over the same cells (of one storage).
  bool same(RegionId, RegionId) const;
  /// Different indices certainly name different cells.
  bool injective(RegionId id) const { return entry(id).injective; }
  /// The smallest interval that holds the region, half-open; [0, max) where it is not known.
  std::int64_t start(RegionId id) const { return entry(id).start; }
  std::int64_t end(RegionId id) const { return entry(id).end; }
  bool overlap(RegionId, RegionId) const;

 private:
  enum class Kind : std::uint8_t { exact, symbolic, part };
  struct Entry {
    Region region;  ///< that of which it is a part; meaningless where `bounded` is false
    std::int64_t start = 0, end = std::numeric_limits<std::int64_t>::max();
    Kind kind = Kind::part;
    bool bounded = false, injective = false;
    std::optional<RegionId> part;  ///< part_of, once asked for
  };
  const Entry& entry(RegionId id) const { return entries_[static_cast<std::size_t>(id)]; }
  RegionId add(Entry);

  std::vector<Entry> entries_;
  HashIndex by_hash_;
  std::optional<RegionId> unknown_;
};

}  // namespace WRITEBACK_BUILD
}  // namespace writeback::impl
