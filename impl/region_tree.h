// Regions of storages with a weight each, and the two questions that placement asks: which is the heaviest that meets an entry, and
// which are all that meet it. Per storage an interval tree laid in a sorted array: items by start, each with the furthest end and
// the greatest weight of its subtree. Logarithmic where regions are apart or the answer is heavy; regions that interleave without
// touching cost a test each.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "impl/cell_sets.h"
#include "impl/planted.h"

namespace writeback::impl {
inline namespace WRITEBACK_BUILD {

class RegionTree {
 public:
  struct Item {
    StorageId storage{};
    RegionId region{};
    std::uint32_t weight = 0;
    std::uint32_t payload = 0;
  };

  RegionTree() = default;
  RegionTree(const RegionTable&, std::vector<Item>);

  /// The heaviest item that meets the entry and has may(item); nullptr where there is none.
  template <typename F>
  const Item* heaviest(const Entry& at, F&& may) const {
    const Item* best = nullptr;
    const auto found = storages_.find(at.storage);
    if (found != storages_.end()) improve(found->second.first, found->second.second, at.region, may, best);
    return best;
  }

  /// f(item) for every item that meets the entry.
  template <typename F>
  void for_each(const Entry& at, F&& f) const {
    const auto found = storages_.find(at.storage);
    if (found != storages_.end()) visit(found->second.first, found->second.second, at.region, f);
  }

 private:
  struct Subtree {
    std::int64_t end = 0;
    std::uint32_t weight = 0;
  };
  void seal(std::size_t first, std::size_t last);

  // The heavier half first, so that the other is mostly cut off.
  template <typename F>
  void improve(std::size_t first, std::size_t last, RegionId region, F& may, const Item*& best) const {
    if (first == last) return;
    const std::size_t middle = first + (last - first) / 2;
    if (subtree_[middle].end <= regions_->start(region) || (best != nullptr && subtree_[middle].weight <= best->weight)) return;
    const Item& item = items_[middle];
    const bool better = best == nullptr || item.weight > best->weight;
    if (better && regions_->overlap(item.region, region) && may(item)) best = &item;
    const auto weight = [&](std::size_t from, std::size_t to) { return from == to ? 0 : subtree_[from + (to - from) / 2].weight; };
    const bool beyond = regions_->start(item.region) >= regions_->end(region);
    const bool right_first = !beyond && weight(middle + 1, last) > weight(first, middle);
    if (right_first) improve(middle + 1, last, region, may, best);
    improve(first, middle, region, may, best);
    if (!right_first && !beyond) improve(middle + 1, last, region, may, best);
  }

  template <typename F>
  void visit(std::size_t first, std::size_t last, RegionId region, F& f) const {
    if (first == last) return;
    const std::size_t middle = first + (last - first) / 2;
    if (subtree_[middle].end <= regions_->start(region)) return;
    visit(first, middle, region, f);
    if (regions_->overlap(items_[middle].region, region)) f(items_[middle]);
    if (regions_->start(items_[middle].region) < regions_->end(region)) visit(middle + 1, last, region, f);
  }

  const RegionTable* regions_ = nullptr;
  std::vector<Item> items_;                                                      ///< by storage, then start
  std::vector<Subtree> subtree_;                                                 ///< of the range whose middle the item is
  std::unordered_map<StorageId, std::pair<std::size_t, std::size_t>> storages_;  ///< ranges of items_, half-open
};

}  // namespace WRITEBACK_BUILD
}  // namespace writeback::impl
