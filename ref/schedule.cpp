#include "ref/schedule.h"

#include <algorithm>
#include <tuple>

#include "ref/conflicts.h"

namespace writeback::ref {

Schedule::Schedule(const Program& program, const Placement& placement)
    : placement_(placement), returned_(returned_nodes(program, &placement)) {
  struct Placed {
    Position at;
    Item item;
  };
  std::vector<Placed> placed;
  for (std::uint32_t t = 0; t < placement.temporaries.size(); ++t)
    placed.push_back({placement.temporaries[t].at, {Item::Kind::temporary, t}});
  for (std::uint32_t i = 0; i < placement.copies.size(); ++i) {
    if (!placement.copies[i].in_place) placed.push_back({placement.copies[i].at, {Item::Kind::copy, i}});
  }
  std::ranges::sort(placed, {}, [](const Placed& p) { return std::tuple(p.at, p.item.kind, p.item.index); });
  std::size_t next = 0;
  for (std::uint32_t n = 0; n <= program.graph.nodes.size(); ++n) {
    for (; next < placed.size() && index_of(placed[next].at.slot) <= n; ++next) items_.push_back(placed[next].item);
    if (n < program.graph.nodes.size()) items_.push_back({Item::Kind::node, n});
  }
}

}  // namespace writeback::ref
