#include "impl/uses.h"

#include <algorithm>

namespace writeback::impl {
inline namespace WRITEBACK_BUILD {

void Uses::add(const Entry& at, Use use) {
  const auto [found, added] = index_.try_emplace(at, static_cast<std::uint32_t>(places_.size()));
  if (added) places_.push_back({at, {}});
  use.home = at.home;
  places_[found->second].uses.push_back(use);
}

void Uses::seal(const RegionTable& regions) {
  std::vector<RegionTree::Item> items;
  items.reserve(places_.size());
  for (std::uint32_t i = 0; i < places_.size(); ++i) {
    items.push_back({places_[i].at.storage, places_[i].at.region, places_[i].uses.back().slot, i});
  }
  tree_ = RegionTree(regions, std::move(items));
}

std::optional<Use> Uses::last(const Entry& at, const Causes& causes, CauseId unless) const {
  const RegionTree::Item* item = tree_.heaviest(at, [&](const RegionTree::Item& i) {
    return unless == CauseId::none || !causes.implies(places_[i.payload].at.cause, unless);
  });
  if (item == nullptr) return std::nullopt;
  return places_[item->payload].uses.back();
}

std::optional<Use> Uses::first(const Entry& at, std::uint32_t after, bool anew) const {
  std::optional<Use> best;
  tree_.for_each(at, [&](const RegionTree::Item& item) {
    const Place& place = places_[item.payload];
    if (item.weight <= after || (anew && same_home(place.at, at))) return;
    const auto use = std::ranges::upper_bound(place.uses, after, {}, &Use::slot);
    if (!best || use->slot < best->slot) best = *use;
  });
  return best;
}

}  // namespace WRITEBACK_BUILD
}  // namespace writeback::impl
