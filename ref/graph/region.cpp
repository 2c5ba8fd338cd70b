// Regions by arithmetic on offset, sizes and strides. Sizes come from files and may be anything, so sums and products saturate or
// are done in 128 bits. Self-overlap is a question about integers (is there a non-zero index difference with stride product 0?),
// which is answered by search over the dimensions whose strides are not nested in one another: none in ordinary tensors. A search
// that passes a million steps gives up and says "overlaps", the side on which a write is refused.
#include "ref/graph/region.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>

namespace writeback {
namespace {

constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();
using Wide = __int128;

std::int64_t saturate(Wide x) { return x > kMax ? kMax : static_cast<std::int64_t>(x); }

/// A dimension of more than one index: differences of its index run from -reach to reach.
struct Dimension {
  Wide stride, reach;
};

/// Looks for index differences d, not all zero, with sum(d * stride) = 0. Dimensions stand by falling stride.
class CollisionSearch {
 public:
  explicit CollisionSearch(std::vector<Dimension> dimensions)
      : dimensions_(std::move(dimensions)), span_(dimensions_.size() + 1, 0) {
    for (std::size_t i = dimensions_.size(); i-- > 0;) span_[i] = span_[i + 1] + dimensions_[i].stride * dimensions_[i].reach;
  }

  bool found() {
    std::size_t first = 0;  // a stride beyond all that the smaller ones reach together lets its difference be 0 only
    while (first < dimensions_.size() && dimensions_[first].stride > span_[first + 1]) ++first;
    if (first == dimensions_.size()) return false;
    if (first + 2 == dimensions_.size()) return two_collide(dimensions_[first], dimensions_[first + 1]);
    return from(first, 0, false);
  }

 private:
  static bool two_collide(const Dimension& a, const Dimension& b) {
    Wide x = a.stride, y = b.stride;
    while (y != 0) std::swap(x %= y, y);
    return b.stride / x <= a.reach && a.stride / x <= b.reach;
  }

  bool from(std::size_t i, Wide sum, bool some) {
    if (++steps_ > 1'000'000) return true;
    if (i == dimensions_.size()) return some && sum == 0;
    const Dimension& d = dimensions_[i];
    const Wide rest = span_[i + 1];
    // |sum + k * stride| must stay within what the rest can take back.
    const Wide low = std::max(-d.reach, -floor_divide(sum + rest, d.stride)),
               high = std::min(d.reach, floor_divide(rest - sum, d.stride));
    for (Wide k = low; k <= high; ++k) {
      if (from(i + 1, sum + k * d.stride, some || k != 0)) return true;
    }
    return false;
  }

  static Wide floor_divide(Wide a, Wide b) { return a / b - (a % b != 0 && a < 0); }

  std::vector<Dimension> dimensions_;
  std::vector<Wide> span_;  ///< what dimensions i, i + 1, ... reach together
  std::uint64_t steps_ = 0;
};

}  // namespace

Region Region::contiguous(std::vector<std::int64_t> sizes, std::int64_t offset) {
  std::vector<std::int64_t> strides = contiguous_strides(sizes);
  return {offset, std::move(sizes), std::move(strides)};
}

std::int64_t Region::numel() const {
  if (std::find(sizes.begin(), sizes.end(), 0) != sizes.end()) return 0;
  std::int64_t product = 1;
  for (const std::int64_t size : sizes) product = saturate(Wide{product} * size);
  return product;
}

std::int64_t Region::end() const {
  if (is_empty()) return 0;
  std::int64_t last = offset;
  for (std::size_t i = 0; i < sizes.size(); ++i) last = saturate(Wide{last} + Wide{sizes[i] - 1} * strides[i]);
  return saturate(Wide{last} + 1);
}

bool Region::overlaps_itself() const {
  if (is_empty()) return false;
  if (end() == kMax) return true;  // no such memory
  std::vector<Dimension> dimensions;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    if (sizes[i] == 1) continue;
    if (strides[i] == 0) return true;
    dimensions.push_back({strides[i], sizes[i] - 1});
  }
  std::sort(dimensions.begin(), dimensions.end(), [](const Dimension& a, const Dimension& b) { return a.stride > b.stride; });
  return CollisionSearch(std::move(dimensions)).found();
}

bool same_region(const Region& a, const Region& b) {
  if (a.sizes != b.sizes) return false;
  if (a.is_empty()) return true;
  if (a.offset != b.offset) return false;
  for (std::size_t i = 0; i < a.sizes.size(); ++i) {
    if (a.sizes[i] != 1 && a.strides[i] != b.strides[i]) return false;
  }
  return true;
}

std::vector<std::int64_t> contiguous_strides(const std::vector<std::int64_t>& sizes) {
  std::vector<std::int64_t> strides(sizes.size(), 1);
  for (std::size_t i = sizes.size(); i-- > 1;) strides[i - 1] = saturate(Wide{strides[i]} * std::max<std::int64_t>(sizes[i], 1));
  return strides;
}

}  // namespace writeback
