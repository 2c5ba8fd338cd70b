#include "impl/targets.h"

#include <unordered_map>

namespace writeback::impl {
inline namespace WRITEBACK_BUILD {
namespace {

/// The entry is the target's own region, read as the same dtype.
bool at_target(const Program& program, const Aliases& aliases, const WriteBack& w, const Entry& e) {
  const auto target = aliases.entries(w.target);
  if (target.size() != 1 || target[0].storage != e.storage || !aliases.regions.same(target[0].region, e.region)) return false;
  if (aliases.tensor[index_of(w.value)] == aliases.tensor[index_of(w.target)]) return true;
  const TensorMeta* value_meta = tensor_meta(program.graph.meta_of(w.value));
  const TensorMeta* target_meta = tensor_meta(program.graph.meta_of(w.target));
  return value_meta != nullptr && target_meta != nullptr && value_meta->dtype == target_meta->dtype;
}

}  // namespace

Targets::Targets(const Aliases& aliases, const std::vector<WriteBack>& write_backs) : group_of_(write_backs.size()) {
  std::unordered_map<SetId, std::size_t> by_cells;  // equal cells are equal sets: a placeholder has one entry
  std::vector<RegionTree::Item> items;
  for (std::uint32_t k = 0; k < write_backs.size(); ++k) {
    const ValueId target = write_backs[k].target;
    const auto [found, added] = by_cells.try_emplace(aliases.cells[index_of(target)], groups_.size());
    if (added) {
      groups_.emplace_back();
      for (const Entry& e : aliases.entries(target)) {
        items.push_back({e.storage, e.region, 0, static_cast<std::uint32_t>(found->second)});
      }
    }
    groups_[found->second].push_back(k);
    group_of_[k] = found->second;
  }
  tree_ = RegionTree(aliases.regions, std::move(items));
}

bool is_target(const Program& program, const Aliases& aliases, const WriteBack& w) {
  const auto entries = aliases.entries(w.value);
  return entries.size() == 1 && !entries[0].lowered() && at_target(program, aliases, w, entries[0]);
}

CauseId cause_of_being_target(const Program& program, const Aliases& aliases, const WriteBack& w) {
  for (const Entry& e : aliases.entries(w.value)) {
    if (e.cause != CauseId::none && at_target(program, aliases, w, e)) return e.cause;
  }
  return CauseId::none;
}

std::vector<Entry> beside_target(const Program& program, const Aliases& aliases, const WriteBack& w) {
  std::vector<Entry> result;
  for (const Entry& e : aliases.entries(w.value)) {
    if (!at_target(program, aliases, w, e)) result.push_back(e);
  }
  return result;
}

}  // namespace WRITEBACK_BUILD
}  // namespace writeback::impl
