// The uses of cells in program order, gathered by storage and region, and the last or first of them that meets a given entry.
#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "impl/cell_sets.h"
#include "impl/planted.h"
#include "impl/region_tree.h"

namespace writeback::impl {
inline namespace WRITEBACK_BUILD {

/// A node's use of cells. `slot` is the one after the node.
struct Use {
  std::uint32_t slot = 0;
  std::uint32_t touch = 0;      ///< index into Aliases::touches
  std::uint32_t home = kPlain;  ///< of the entry that is used
};

class Uses {
 public:
  /// Uses must be added in program order.
  void add(const Entry&, Use);
  void seal(const RegionTable&);
  bool empty() const { return places_.empty(); }

  /// The last use of cells that the entry covers; uses under choices that imply `unless` do not count (where there is one).
  std::optional<Use> last(const Entry&, const Causes&, CauseId unless = CauseId::none) const;
  /// The first use, at a slot beyond `after`, of cells that the entry covers; with `anew`, uses of the same home do not count.
  std::optional<Use> first(const Entry&, std::uint32_t after, bool anew) const;

 private:
  struct Place {
    Entry at;
    std::vector<Use> uses;
  };
  struct Hash {
    std::size_t operator()(const Entry& e) const {
      return (index_of(e.storage) * 0x9e3779b97f4a7c15ull ^ static_cast<std::size_t>(e.region)) * 0x9e3779b97f4a7c15ull + e.home +
             (static_cast<std::size_t>(e.cause) << 32);
    }
  };
  std::vector<Place> places_;
  std::unordered_map<Entry, std::uint32_t, Hash> index_;
  RegionTree tree_;
};

}  // namespace WRITEBACK_BUILD
}  // namespace writeback::impl
