#include "ref/memory.h"

#include <fmt/format.h>

#include <algorithm>

#include "ref/graph/error.h"

namespace writeback::ref {
namespace {

constexpr std::int64_t kMostCells = 1 << 24;  // a list longer than this is a fault of the caller, who should use one-cell mode

std::uint64_t hash_of(const Region& r) {
  std::uint64_t h = static_cast<std::uint64_t>(r.offset) + r.sizes.size();
  const auto mix = [&](std::int64_t x) { h = (h ^ static_cast<std::uint64_t>(x)) * 0x9e3779b97f4a7c15ull, h ^= h >> 31; };
  for (const std::int64_t x : r.sizes) mix(x);
  for (const std::int64_t x : r.strides) mix(x);
  return h;
}

std::string list_text(const std::vector<std::int64_t>& list) {
  std::string out;
  for (const std::int64_t x : list) out += (out.empty() ? "" : ", ") + std::to_string(x);
  return out;
}

}  // namespace

std::vector<std::uint32_t> list_cells(const Region& r) {
  if (r.numel() > kMostCells || r.end() > kMostCells) throw InputError("", "a tensor of more cells than can be listed");
  std::vector<std::uint32_t> cells;
  if (r.is_empty()) return cells;
  cells.push_back(static_cast<std::uint32_t>(r.offset));
  for (std::size_t d = 0; d < r.sizes.size(); ++d) {  // each dimension multiplies the list, the last varying fastest
    std::vector<std::uint32_t> next;
    next.reserve(cells.size() * static_cast<std::size_t>(r.sizes[d]));
    for (const std::uint32_t cell : cells) {
      for (std::int64_t i = 0; i < r.sizes[d]; ++i) next.push_back(cell + static_cast<std::uint32_t>(i * r.strides[d]));
    }
    cells = std::move(next);
  }
  return cells;
}

RegionId Regions::add(Entry entry) {
  entries_.push_back(std::move(entry));
  return RegionId{static_cast<std::uint32_t>(entries_.size() - 1)};
}

RegionId Regions::intern(const Region& region) {
  const std::uint64_t hash = hash_of(region);
  const auto [first, last] = by_hash_.equal_range(hash);
  for (auto i = first; i != last; ++i) {
    if (*entry(i->second).geometry == region) return i->second;
  }
  Entry e;
  e.geometry = region;
  e.overlaps_itself = region.overlaps_itself();
  e.contiguous = region.offset == 0 && same_region(region, Region::contiguous(region.sizes));
  const RegionId id = add(std::move(e));
  by_hash_.emplace(hash, id);
  return id;
}

RegionId Regions::intern_path(RegionId base, const std::string& step, bool dense) {
  const std::string path = fmt::format("{} of {}", step, static_cast<std::int32_t>(base));
  if (const auto found = by_path_.find(path); found != by_path_.end()) return found->second;
  Entry e;
  e.path = path;
  e.dense = dense;
  return by_path_[path] = add(std::move(e));
}

RegionId Regions::expand(RegionId id, RegionId target) {
  const Region *from = geometry(id), *to = geometry(target);
  if (from == nullptr || to == nullptr) return id == target ? id : intern_path(id, "expand to " + text(target));
  if (from->sizes == to->sizes) return id;
  if (const auto found = expanded_.find({id, target}); found != expanded_.end()) return found->second;
  const std::size_t rank = to->sizes.size();
  if (from->sizes.size() > rank) return kNoRegion;
  Region result{from->offset, to->sizes, std::vector<std::int64_t>(rank, 0)};
  for (std::size_t d = 0; d < from->sizes.size(); ++d) {
    const std::size_t at = rank - from->sizes.size() + d;
    if (from->sizes[d] == to->sizes[at])
      result.strides[at] = from->strides[d];
    else if (from->sizes[d] != 1)
      return kNoRegion;
  }
  const RegionId interned = intern(result);
  return expanded_[{id, target}] = interned;
}

std::span<const std::uint32_t> Regions::cells(RegionId id) {
  static constexpr std::uint32_t kOne[] = {0};
  if (one_cell_) return kOne;
  Entry& e = entries_[static_cast<std::uint32_t>(id)];
  if (!e.listed) {
    e.cells = list_cells(*e.geometry);
    e.listed = true;
  }
  return e.cells;
}

bool Regions::same(RegionId a, RegionId b) const {
  if (a == b) return true;
  const Region *x = geometry(a), *y = geometry(b);
  return x != nullptr && y != nullptr && same_region(*x, *y);
}

bool Regions::same_elements(RegionId a, RegionId b) const {
  if (same(a, b) || (entry(a).dense && entry(b).dense)) return true;
  return entry(a).contiguous && entry(b).contiguous && geometry(a)->numel() == geometry(b)->numel();
}

std::optional<bool> Regions::overlap(RegionId a, RegionId b) {
  if (a == b) return geometry(a) == nullptr || !geometry(a)->is_empty();
  const std::uint64_t key = (static_cast<std::uint64_t>(a) << 32) | static_cast<std::uint64_t>(b);
  const auto found = overlaps_.find(key);
  return found != overlaps_.end() ? found->second : overlaps_[key] = compute_overlap(a, b);
}

std::optional<bool> Regions::compute_overlap(RegionId a, RegionId b) const {
  const Region *x = geometry(a), *y = geometry(b);
  if (x == nullptr || y == nullptr) return a == b ? std::optional(true) : std::nullopt;
  if (x->is_empty() || y->is_empty() || x->end() <= y->offset || y->end() <= x->offset) return false;
  if (same(a, b)) return true;
  if (x->numel() > kMostCells || y->numel() > kMostCells) return std::nullopt;
  std::vector<std::uint32_t> of_x = list_cells(*x), of_y = list_cells(*y);
  std::ranges::sort(of_x);
  std::ranges::sort(of_y);
  for (std::size_t i = 0, j = 0; i < of_x.size() && j < of_y.size();) {
    if (of_x[i] == of_y[j]) return true;
    ++(of_x[i] < of_y[j] ? i : j);
  }
  return false;
}

std::string Regions::text(RegionId id) const {
  const Region* r = geometry(id);
  if (r == nullptr) return entry(id).path;
  return std::to_string(r->offset) + "; " + list_text(r->sizes) + "; " + list_text(r->strides);
}

}  // namespace writeback::ref
