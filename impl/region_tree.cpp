#include "impl/region_tree.h"

#include <tuple>

namespace writeback::impl {
inline namespace WRITEBACK_BUILD {

RegionTree::RegionTree(const RegionTable& regions, std::vector<Item> items)
    : regions_(&regions), items_(std::move(items)), subtree_(items_.size()) {
  std::ranges::sort(items_, {}, [&](const Item& i) { return std::tuple(i.storage, regions.start(i.region), i.payload); });
  for (std::size_t first = 0, last = 0; first < items_.size(); first = last) {
    while (last < items_.size() && items_[last].storage == items_[first].storage) ++last;
    storages_.emplace(items_[first].storage, std::pair(first, last));
    seal(first, last);
  }
}

void RegionTree::seal(std::size_t first, std::size_t last) {
  if (first == last) return;
  const std::size_t middle = first + (last - first) / 2;
  subtree_[middle] = {regions_->end(items_[middle].region), items_[middle].weight};
  for (const auto& [from, to] : {std::pair(first, middle), std::pair(middle + 1, last)}) {
    if (from == to) continue;
    seal(from, to);
    const Subtree& child = subtree_[from + (to - from) / 2];
    subtree_[middle] = {std::max(subtree_[middle].end, child.end), std::max(subtree_[middle].weight, child.weight)};
  }
}

}  // namespace WRITEBACK_BUILD
}  // namespace writeback::impl
