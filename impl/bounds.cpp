#include "impl/bounds.h"

#include <algorithm>

namespace writeback::impl {
inline namespace WRITEBACK_BUILD {

const Bound& stronger(const Bound& a, const Bound& b) {
  if (a.slot != b.slot) return a.slot > b.slot ? a : b;
  return a.rule <= b.rule ? a : b;
}

Bounds::Bounds(const Aliases& aliases) : aliases_(aliases) {
  for (std::uint32_t i = 0; i < aliases.touches.size(); ++i) {
    const Touch& touch = aliases.touches[i];
    const Use use{static_cast<std::uint32_t>(index_of(touch.node)) + (planted(Fault::off_by_one_slot) && touch.reads ? 0 : 1), i};
    for (const Entry& e : aliases.sets[touch.cells]) {
      if (touch.reads && in_force(e.lowered() ? Clause::reads_target_by_lowering : Clause::reads_target)) reads_.add(e, use);
      if (touch.writes) (e.lowered() ? lowered_writes_ : plain_writes_).add(e, use);
    }
  }
  for (Uses* uses : {&reads_, &plain_writes_, &lowered_writes_}) uses->seal(aliases.regions);
}

Bound Bounds::bound(Rule rule, const Use& use) const { return {use.slot, rule, node_id(use.slot - 1), use.touch}; }

/// Planted: the write is not seen, for the value through which it is made.
bool Bounds::overlooked(ValueId v, const Use& write) const {
  if (!planted(Fault::forward_walk_only) && !planted(Fault::siblings_missed)) return false;
  const ValueId written = aliases_.touches[write.touch].value;
  return !aliases_.descends(written, v) && !(planted(Fault::siblings_missed) && aliases_.descends(v, written));
}

Bound Bounds::earliest_read(ValueId v) const {
  Bound result;
  const std::uint32_t settled = aliases_.settled[index_of(v)];
  if (settled > 0 && in_force(Clause::computes_value)) result = {settled, Rule::computes_value, node_id(settled - 1), std::nullopt};
  if (!in_force(Clause::writes_value)) return result;
  for (const Entry& e : aliases_.sets.plain(aliases_.cells[index_of(v)])) {
    const auto use = plain_writes_.last(e, aliases_.causes);
    if (use && !overlooked(v, *use)) result = stronger(result, bound(Rule::writes_value, *use));
  }
  return result;
}

Bound Bounds::earliest_write(ValueId target, CauseId unless, std::uint32_t until) const {
  Bound result;
  // Only where a node changed the geometry of the target: else a placeholder stands from the start.
  if (const std::uint32_t settled = aliases_.settled[index_of(target)]; settled > 0) {
    result = {settled, Rule::writes_target, node_id(settled - 1), std::nullopt};
  }
  for (const Entry& e : aliases_.entries(target)) {
    auto read = reads_.last(e, aliases_.causes);
    if (read && read->slot <= until) read = reads_.last(e, aliases_.causes, unless);
    if (read) result = stronger(result, bound(Rule::reads_target, *read));
    const auto plain = in_force(Clause::writes_target) ? plain_writes_.last(e, aliases_.causes) : std::nullopt;
    if (plain) result = stronger(result, bound(Rule::writes_target, *plain));
    const auto lowered = in_force(Clause::writes_target_by_lowering) ? lowered_writes_.last(e, aliases_.causes) : std::nullopt;
    if (lowered) result = stronger(result, bound(Rule::writes_target, *lowered));
  }
  return result;
}

const std::optional<Bound>& Bounds::deadline(ValueId v) {
  static const std::optional<Bound> never;
  if (!lowering_writes()) return never;
  const auto [found, added] = deadlines_.try_emplace(v);
  if (added) found->second = find_deadline(v);
  return found->second;
}

std::optional<Bound> Bounds::find_deadline(ValueId v) const {
  const std::uint32_t birth = aliases_.birth[index_of(v)];
  std::optional<Use> first;
  const auto consider = [&](Clause clause, const std::optional<Use>& use) {
    if (in_force(clause) && use && (!first || use->slot < first->slot)) first = use;
  };
  for (const Entry& e : aliases_.entries(v)) {
    if (!e.lowered()) {
      consider(Clause::lowered_write_hits_value, lowered_writes_.first(e, birth, false));
    } else {
      consider(Clause::write_hits_lowered_value, plain_writes_.first(e, birth, false));
      consider(Clause::lowered_write_hits_lowered_value, lowered_writes_.first(e, birth, true));
    }
  }
  if (!first) return std::nullopt;
  Bound result = bound(Rule::deadline, *first);
  --result.slot;  // before the node, not after it
  return result;
}

std::optional<Bound> Bounds::lowered_write(ValueId input) const {
  std::optional<Use> first;
  for (const Entry& e : aliases_.entries(input)) {
    const auto use = lowered_writes_.first(e, 0, false);
    if (use && (!first || use->slot < first->slot)) first = use;
  }
  return first ? std::optional(bound(Rule::lowering, *first)) : std::nullopt;
}

std::optional<Bound> Bounds::write_after(SetId cells, std::uint32_t after) const {
  std::optional<Use> first;
  for (const Entry& e : aliases_.sets[cells]) {
    for (const Uses* uses : {&plain_writes_, &lowered_writes_}) {
      const auto use = uses->first(e, after, false);
      if (use && (!first || use->slot < first->slot)) first = use;
    }
  }
  return first ? std::optional(bound(Rule::lowering, *first)) : std::nullopt;
}

}  // namespace WRITEBACK_BUILD
}  // namespace writeback::impl
