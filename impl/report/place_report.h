// A placement for people and programs: the table of copies, the JSON of `writeback place --json`, the comment behind each copy, and
// a Graphviz picture. Slots are given as fx counts: unused getitems and subgraph get_attrs do not count.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "impl/place.h"

namespace writeback::impl {

/// Slots in the reader's numbers and names.
class SlotNames {
 public:
  explicit SlotNames(const Program&);
  /// How many counted nodes stand before the slot.
  std::uint32_t number(Slot) const;
  /// The last counted node before the slot, "start" where there is none.
  std::string_view after(Slot) const;
  Slot end() const { return slot_at(before_.size() - 1); }

  /// The slot after the node of this name ("start" = slot 0); nullopt where no node has the name.
  std::optional<Slot> slot_after_name(std::string_view name) const;
  /// The first slot with so many counted nodes before it; nullopt where there are not so many.
  std::optional<Slot> slot_numbered(std::uint32_t number) const;

 private:
  const Program& program_;
  std::vector<std::uint32_t> before_;       ///< counted nodes before each slot
  std::vector<std::int64_t> last_counted_;  ///< the last counted node before each slot, -1 for none
};

/// Keys as in the README's table of JSON outputs. `result.reasons` may be empty (an implementation without reasons): null then.
nlohmann::ordered_json place_json(const Program&, const PlaceResult&);

/// The inverse of place_json as far as the placement goes (copies, temporaries, outputs read first): for `--placement FILE`.
/// A place is told by "after" or "slot"; what else is told ("target", "value", the other one of the two) must agree.
/// Throws InputError with a JSON pointer.
Placement placement_from_json(const Program&, const nlohmann::json&);

/// One line a copy: target, value, slot at the end, earliest slot, reason; then what is clobbered, read first or hazardous.
std::string place_table(const Program&, const PlaceResult&);

/// The trailing comment of each write-back's copy, empty for those in place.
std::vector<std::string> copy_comments(const Program&, const PlaceResult&);

/// The program as a Graphviz digraph, copies drawn with their hazard edges.
std::string place_dot(const Program&, const PlaceResult&);

/// One self-contained page: the table of copies, and the program with its copies, their reasons and hazard arcs.
std::string place_html(const std::string& title, const Program&, const PlaceResult&);

}  // namespace writeback::impl
