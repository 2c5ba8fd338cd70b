#include "impl/cell_sets.h"

#include <algorithm>
#include <tuple>

namespace writeback::impl {
inline namespace WRITEBACK_BUILD {

CauseId Causes::extend(CauseId before, ValueId choice) {
  const std::uint64_t key = std::uint64_t{static_cast<std::uint32_t>(before)} << 32 | static_cast<std::uint32_t>(choice);
  const auto [found, added] = index_.try_emplace(key, static_cast<CauseId>(steps_.size()));
  if (added) steps_.push_back({before, choice});
  return found->second;
}

bool Causes::implies(CauseId longer, CauseId shorter) const {
  while (longer > shorter) longer = steps_[static_cast<std::size_t>(longer)].before;  // a list is younger than its beginning
  return longer == shorter;
}

SetId CellSets::intern(std::vector<Entry>& entries) {
  if (entries.empty()) return SetId::empty;
  const auto key = [](const Entry& e) { return std::tuple(e.lowered(), e.storage, e.region, e.home, e.cause); };
  std::ranges::sort(entries, {}, key);
  entries.erase(std::unique(entries.begin(), entries.end()), entries.end());
  std::size_t hash = entries.size();
  for (const Entry& e : entries) {
    for (const std::size_t x :
         {index_of(e.storage), static_cast<std::size_t>(e.region), std::size_t{e.home}, static_cast<std::size_t>(e.cause)}) {
      hash = (hash ^ x) * 0x9e3779b97f4a7c15ull + (hash >> 29);
    }
  }
  const auto known =
      by_hash_.find(hash, [&](std::uint32_t i) { return std::ranges::equal((*this)[static_cast<SetId>(i)], entries); });
  if (known) return static_cast<SetId>(*known);
  const auto id = static_cast<SetId>(first_.size() - 1);
  entries_.insert(entries_.end(), entries.begin(), entries.end());
  first_.push_back(entries_.size());
  const auto lowered = std::ranges::find_if(entries, &Entry::lowered);
  first_lowered_.push_back(first_[first_.size() - 2] + static_cast<std::size_t>(lowered - entries.begin()));
  by_hash_.add(hash, static_cast<std::uint32_t>(id));
  return id;
}

}  // namespace WRITEBACK_BUILD
}  // namespace writeback::impl
