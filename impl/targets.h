// The targets of copies by the cells that they write: copies of one storage and region form a group, in output order.
#pragma once

#include <cstdint>
#include <vector>

#include "impl/aliases.h"
#include "impl/planted.h"
#include "impl/region_tree.h"

namespace writeback::impl {
inline namespace WRITEBACK_BUILD {

class Targets {
 public:
  Targets(const Aliases&, const std::vector<WriteBack>&);

  std::size_t group_count() const { return groups_.size(); }
  const std::vector<std::uint32_t>& group(std::size_t g) const { return groups_[g]; }
  std::size_t group_of(std::uint32_t copy) const { return group_of_[copy]; }

  /// f(group number) for every group whose cells meet the entry.
  template <typename F>
  void for_each_group(const Entry& at, F&& f) const {
    tree_.for_each(at, [&](const RegionTree::Item& item) { f(std::size_t{item.payload}); });
  }

 private:
  std::vector<std::vector<std::uint32_t>> groups_;  ///< copies, ascending
  std::vector<std::size_t> group_of_;               ///< per copy
  RegionTree tree_;
};

/// The value is, under every choice, exactly the target's region.
bool is_target(const Program&, const Aliases&, const WriteBack&);

/// The choices under which the value is exactly the target's region and a copy of it changes nothing; none where there are no such.
CauseId cause_of_being_target(const Program&, const Aliases&, const WriteBack&);

/// The value's possible entries but for those that are exactly the target's region.
std::vector<Entry> beside_target(const Program&, const Aliases&, const WriteBack&);

}  // namespace WRITEBACK_BUILD
}  // namespace writeback::impl
