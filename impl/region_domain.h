// The domain in which the rules run: sets are lists of entries, and meet looks for two that overlap.
#pragma once

#include <algorithm>
#include <span>

#include "impl/cell_sets.h"
#include "impl/planted.h"
#include "impl/rule.h"

namespace writeback::impl {
inline namespace WRITEBACK_BUILD {

struct RegionDomain {
  using Bool = bool;
  using Set = std::span<const Entry>;
  const RegionTable& table;

  bool meet(Set a, Set b) const {
    return any_pair(a, b, [&](const Entry& x, const Entry& y) { return impl::WRITEBACK_BUILD::meet(table, x, y); });
  }
  bool meet_anew(Set a, Set b) const {
    return any_pair(a, b,
                    [&](const Entry& x, const Entry& y) { return !same_home(x, y) && impl::WRITEBACK_BUILD::meet(table, x, y); });
  }
  bool either(bool a, bool b) const { return a || b; }
  bool both(bool a, bool b) const { return a && b; }
  bool negate(bool a) const { return !a; }
  bool clause(Clause c, bool b) const { return b && in_force(c); }

 private:
  template <typename F>
  static bool any_pair(Set a, Set b, F&& f) {
    return std::ranges::any_of(a, [&](const Entry& x) { return std::ranges::any_of(b, [&](const Entry& y) { return f(x, y); }); });
  }
};

}  // namespace WRITEBACK_BUILD
}  // namespace writeback::impl
