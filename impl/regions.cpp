// Do offset1 + sum(stride1 * index1) and offset2 + sum(stride2 * index2) ever agree? Equal strides of both sides are one unknown,
// the strides are taken from the largest down, and each unknown runs only over the values that the smaller ones can still make up
// for: one or two at each step where strides are nested, as those of views of one base are.
#include "impl/regions.h"

#include <algorithm>
#include <numeric>

namespace writeback::impl {
inline namespace WRITEBACK_BUILD {
namespace {

using Wide = __int128;  // sizes and strides come from files

/// stride * k for k in [low, high].
struct Term {
  Wide stride, low, high;
};

Wide floor_divide(Wide a, Wide b) { return a / b - (a % b != 0 && a < 0); }
Wide ceil_divide(Wide a, Wide b) { return -floor_divide(-a, b); }

class MeetingPoint {
 public:
  MeetingPoint(const Region& a, const Region& b) {
    add(a, 1);
    add(b, -1);
    std::sort(terms_.begin(), terms_.end(), [](const Term& x, const Term& y) { return x.stride > y.stride; });
    low_.assign(terms_.size() + 1, 0);
    high_ = gcd_ = low_;
    for (std::size_t i = terms_.size(); i-- > 0;) {
      low_[i] = low_[i + 1] + terms_[i].stride * terms_[i].low;
      high_[i] = high_[i + 1] + terms_[i].stride * terms_[i].high;
      gcd_[i] = greatest_common_divisor(terms_[i].stride, gcd_[i + 1]);
    }
  }

  bool exists(Wide difference) { return from(0, difference); }

 private:
  static Wide greatest_common_divisor(Wide a, Wide b) {
    while (b != 0) std::swap(a %= b, b);
    return a;
  }

  void add(const Region& region, int sign) {
    for (std::size_t i = 0; i < region.sizes.size(); ++i) {
      const Wide stride = region.strides[i], reach = region.sizes[i] - 1;
      if (stride == 0 || reach == 0) continue;
      const auto same = std::find_if(terms_.begin(), terms_.end(), [&](const Term& t) { return t.stride == stride; });
      Term& term = same != terms_.end() ? *same : terms_.emplace_back(Term{stride, 0, 0});
      (sign > 0 ? term.high : term.low) += sign * reach;
    }
  }

  /// Can terms i, i + 1, ... sum up to `rest`?
  bool from(std::size_t i, Wide rest) {
    if (++steps_ > kBudget) return true;
    if (rest < low_[i] || rest > high_[i]) return false;
    if (i == terms_.size()) return true;  // both bounds are 0 here
    if (rest % gcd_[i] != 0) return false;
    const Term& t = terms_[i];
    const Wide first = std::max(t.low, ceil_divide(rest - high_[i + 1], t.stride)),
               last = std::min(t.high, floor_divide(rest - low_[i + 1], t.stride));
    for (Wide k = first; k <= last; ++k) {
      if (from(i + 1, rest - k * t.stride)) return true;
    }
    return false;
  }

  static constexpr int kBudget = 4096;
  std::vector<Term> terms_;             ///< by falling stride
  std::vector<Wide> low_, high_, gcd_;  ///< of the terms from i on
  int steps_ = 0;
};

std::size_t hash_of(const Region& region) {
  std::size_t hash = static_cast<std::size_t>(region.offset);
  const auto mix = [&](std::int64_t x) { hash = (hash ^ static_cast<std::size_t>(x)) * 0x9e3779b97f4a7c15ull + (hash >> 29); };
  for (const std::int64_t size : region.sizes) mix(size);
  for (const std::int64_t stride : region.strides) mix(stride);
  return hash;
}

}  // namespace

bool overlap(const Region& a, const Region& b) {
  if (a.is_empty() || b.is_empty()) return false;
  const std::int64_t end = a.end() - (planted(Fault::overlap_off_by_one) ? 1 : 0);
  if (a.offset >= b.end() || b.offset >= end) return false;
  return MeetingPoint(a, b).exists(Wide{b.offset} - a.offset);
}

RegionId RegionTable::intern(const Region& region) {
  const std::size_t hash = hash_of(region);
  const auto known = by_hash_.find(hash, [&](std::uint32_t i) { return entries_[i].region == region; });
  if (known) return static_cast<RegionId>(*known);
  const RegionId id = add({.region = region,
                           .start = region.is_empty() ? 0 : region.offset,
                           .end = region.end(),
                           .kind = Kind::exact,
                           .bounded = true,
                           .injective = !region.overlaps_itself(),
                           .part = {}});
  by_hash_.add(hash, static_cast<std::uint32_t>(id));
  return id;
}

RegionId RegionTable::add(Entry e) {
  entries_.push_back(std::move(e));
  return static_cast<RegionId>(entries_.size() - 1);
}

RegionId RegionTable::add_symbolic() {
  Entry e;
  e.kind = Kind::symbolic;
  e.injective = true;
  return add(std::move(e));
}

RegionId RegionTable::part_of(RegionId whole) {
  if (entry(whole).kind == Kind::part) return whole;
  if (!entry(whole).part) {
    Entry e = entry(whole);
    e.kind = Kind::part;
    e.injective = false;
    const RegionId id = add(std::move(e));
    entries_[static_cast<std::size_t>(whole)].part = id;
  }
  return *entry(whole).part;
}

RegionId RegionTable::unknown() {
  if (!unknown_) unknown_ = add({});
  return *unknown_;
}

bool RegionTable::same(RegionId a, RegionId b) const {
  if (find(a) != nullptr && find(b) != nullptr) return same_region(*find(a), *find(b));
  return a == b && entry(a).kind == Kind::symbolic;
}

bool RegionTable::overlap(RegionId a, RegionId b) const {
  if (start(a) >= end(b) || start(b) >= end(a)) return false;
  return a == b || !entry(a).bounded || !entry(b).bounded || WRITEBACK_BUILD::overlap(entry(a).region, entry(b).region);
}

}  // namespace WRITEBACK_BUILD
}  // namespace writeback::impl
