// A region: the cells of one storage that a tensor covers, given as offset, sizes and strides in elements. A region with no
// dimension is one cell; one with a size of 0 is empty. Strides may be 0 (expand) or, where torch allows, overlap; never negative.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace writeback {

struct Region {
  std::int64_t offset = 0;
  std::vector<std::int64_t> sizes, strides;  ///< equal lengths

  static Region contiguous(std::vector<std::int64_t> sizes, std::int64_t offset = 0);

  /// Number of elements; saturates at int64's maximum.
  std::int64_t numel() const;
  /// One past the last cell that it touches, 0 if empty; saturates.
  std::int64_t end() const;
  bool is_empty() const { return numel() == 0; }
  /// True where two indices name one cell (stride 0 with size > 1, or strides that collide). Exact.
  bool overlaps_itself() const;

  bool operator==(const Region&) const = default;
};

/// The same tensor over the same cells: strides of size-1 dimensions do not count, nor anything but sizes where empty.
bool same_region(const Region&, const Region&);

/// Contiguous strides for sizes.
std::vector<std::int64_t> contiguous_strides(const std::vector<std::int64_t>& sizes);

}  // namespace writeback
