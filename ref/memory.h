// Regions as small numbers, each with the list of the cells that it covers in row-major order of its indices. A storage is a run of
// cells; a tensor is a storage and a region. In one-cell mode every storage has one cell and a region is a mere key: it may then be
// a path of views ("slice of transpose of ...") whose numbers nobody knows.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "ref/graph/region.h"

namespace writeback::ref {

enum class RegionId : std::uint32_t {};
constexpr RegionId kNoRegion{~std::uint32_t{0}};

/// A region of a storage; two values that name one tensor share it (in-place results).
struct Tensor {
  std::uint32_t storage = 0;
  RegionId region = kNoRegion;
  bool operator==(const Tensor&) const = default;
};

class Regions {
 public:
  explicit Regions(bool one_cell = false) : one_cell_(one_cell) {}
  bool one_cell() const { return one_cell_; }

  RegionId intern(const Region&);
  /// One-cell mode: the region that the view `step` makes of `base`, known by name alone.
  /// `dense`: it is all of its storage, in row-major order.
  RegionId intern_path(RegionId base, const std::string& step, bool dense = false);
  bool is_dense_path(RegionId id) const { return entry(id).dense; }
  /// The region as the source of a copy into something of the sizes of `target`: PyTorch's broadcasting. kNoRegion where it has
  /// none.
  RegionId expand(RegionId, RegionId target);

  /// Null for a path.
  const Region* geometry(RegionId id) const { return entry(id).geometry ? &*entry(id).geometry : nullptr; }
  /// Cells relative to the storage's first. In one-cell mode always the one.
  std::span<const std::uint32_t> cells(RegionId);
  /// The very same tensor over the same cells (strides of size-1 dimensions do not count).
  bool same(RegionId a, RegionId b) const;
  /// The same elements in the same order, though perhaps in other sizes: both contiguous from the storage's start, and equally
  /// many.
  bool same_elements(RegionId a, RegionId b) const;
  bool overlaps_itself(RegionId id) const { return entry(id).overlaps_itself; }
  /// Do two regions of one storage share a cell? nullopt where a path hides it.
  std::optional<bool> overlap(RegionId a, RegionId b);
  /// The same, "yes" where it is hidden.
  bool may_overlap(RegionId a, RegionId b) { return overlap(a, b).value_or(true); }
  std::string text(RegionId) const;
  std::size_t size() const { return entries_.size(); }

 private:
  struct Entry {
    std::optional<Region> geometry;
    std::string path;
    bool overlaps_itself = false, listed = false, contiguous = false, dense = false;
    std::vector<std::uint32_t> cells;
  };
  const Entry& entry(RegionId id) const { return entries_[static_cast<std::uint32_t>(id)]; }
  RegionId add(Entry);
  std::optional<bool> compute_overlap(RegionId a, RegionId b) const;

  bool one_cell_;
  std::vector<Entry> entries_;
  std::unordered_multimap<std::uint64_t, RegionId> by_hash_;
  std::map<std::string, RegionId> by_path_;
  std::map<std::pair<RegionId, RegionId>, RegionId> expanded_;
  std::unordered_map<std::uint64_t, std::optional<bool>> overlaps_;
};

/// The cells of a region, listed.
std::vector<std::uint32_t> list_cells(const Region&);

}  // namespace writeback::ref
