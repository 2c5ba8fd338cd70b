// The bounds that nodes set to the reads and writes of copies, each with the node that sets it (rules 1 to 4 and the deadline).
// A read or write stands at a slot; `slot` 5 is the one after the fifth node.
#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "impl/aliases.h"
#include "impl/planted.h"
#include "impl/rule.h"
#include "impl/uses.h"

namespace writeback::impl {
inline namespace WRITEBACK_BUILD {

/// What holds something back to `slot` (or, as a deadline, lets it stand at `slot` at the latest).
struct Bound {
  std::uint32_t slot = 0;
  Rule rule = Rule::start;
  std::optional<NodeId> node;
  std::optional<std::uint32_t> touch;  ///< index into Aliases::touches: the operand through which the node does it
};

/// The later one; of two at one slot the one of the lower rule.
const Bound& stronger(const Bound&, const Bound&);

class Bounds {
 public:
  explicit Bounds(const Aliases&);

  /// The earliest slot at which the value can be read: after its producer (1) and after its last writer (4).
  Bound earliest_read(ValueId) const;
  /// The earliest slot at which the target can be written: after its readers (2) and writers (3). Under choices that imply `unless`
  /// the value is the target, and the copy changes nothing that a reader up to slot `until` sees: there the value is disturbed.
  Bound earliest_write(ValueId target, CauseId unless, std::uint32_t until) const;
  /// The slot at which the value must have been read: before the first write that reaches it by lowering only. nullopt = never.
  const std::optional<Bound>& deadline(ValueId);
  /// The first write by lowering only to the cells of an input.
  std::optional<Bound> lowered_write(ValueId input) const;
  /// The first write after `after` to cells of the set.
  std::optional<Bound> write_after(SetId, std::uint32_t after) const;
  /// False where no write can reach anything by lowering, so that there are no deadlines.
  bool lowering_writes() const { return aliases_.lowered && !(plain_writes_.empty() && lowered_writes_.empty()); }

 private:
  Bound bound(Rule, const Use&) const;
  std::optional<Bound> find_deadline(ValueId) const;
  bool overlooked(ValueId, const Use& write) const;

  const Aliases& aliases_;
  Uses reads_, plain_writes_, lowered_writes_;
  std::unordered_map<ValueId, std::optional<Bound>> deadlines_;
};

}  // namespace WRITEBACK_BUILD
}  // namespace writeback::impl
