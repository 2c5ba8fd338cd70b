// The least placement that respects given conflicts. Copies and temporaries are events with a first and a last slot and an order
// among them; a set of temporaries is good when no cycle is left and no event is pushed past its last slot. Sets are tried by size,
// per group of copies that have to do with one another; beyond kExact values in a group temporaries are taken away greedily.
#include <algorithm>
#include <bit>
#include <numeric>
#include <optional>
#include <set>
#include <tuple>

#include "ref/conflicts.h"

namespace writeback::ref {
namespace {

constexpr std::size_t kExact = 14;

/// A copy, or a temporary of a source.
struct Event {
  bool temporary = false;
  std::uint32_t index = 0;
  std::uint32_t first = 0, last = kNever;
  std::vector<std::uint32_t> after;  ///< events that come later
  std::uint32_t waits = 0, slot = 0, rank = 0;
};

/// Which sources have a temporary, and which copies read theirs.
struct Uses {
  std::vector<std::uint8_t> temporary, via;
};

class Solver {
 public:
  Solver(const Conflicts& conflicts, Semantics semantics)
      : c_(conflicts), parallel_(semantics == Semantics::parallel), dropped_(in_place(conflicts)) {}

  const std::vector<std::uint8_t>& dropped() const { return dropped_; }

  /// Rule 8: sources of outputs that are read first.
  std::vector<std::uint8_t> outputs_first() const {
    std::vector<std::uint8_t> first(c_.sources.size());
    for (const OutputSource& o : c_.outputs) {
      const Source& s = c_.sources[o.source];
      bool needed = s.deadline.slot != kNever && !s.hopeless();
      // Under sequential semantics outputs are read last, but what only lowering lets a copy overwrite is read first all the same.
      const std::vector<std::uint8_t>& overlaps = parallel_ ? s.overlaps : s.lowered_overlaps;
      for (std::size_t j = 0; j < c_.copies.size(); ++j) needed |= overlaps[j] && !dropped_[j];
      first[o.source] = needed;
    }
    return first;
  }

  /// Events of the given copies and temporaries, slots and ranks set; empty if they cannot be ordered.
  std::vector<Event> solve(const std::vector<std::uint32_t>& copies, const Uses& uses) const {
    std::vector<Event> events;
    for (const std::uint32_t i : copies) {
      const CopyConflicts& c = c_.copies[i];
      const Source& s = c_.sources[c.source];
      Event e{false, i, std::max(c.target_read.slot, c.target_written.slot), kNever, {}};
      if (!uses.via[i]) {
        if (c.overlaps_itself) return {};
        const std::uint32_t ready = std::max(s.computed.slot, c.value_written.slot);
        const bool hopeless = s.deadline.slot < ready;
        e.first = std::max(e.first, hopeless ? c_.slots : ready);
        e.last = hopeless ? kNever : s.deadline.slot;
      }
      events.push_back(std::move(e));
    }
    for (std::uint32_t s = 0; s < uses.temporary.size(); ++s) {
      if (!uses.temporary[s]) continue;
      const Source& source = c_.sources[s];
      events.push_back({true, s, source.ready(), source.hopeless() ? kNever : source.deadline.slot, {}});
    }
    order(events, uses);
    return schedule(events) ? events : std::vector<Event>{};
  }

  /// Copies i and j of one placement: must i come before j?
  bool copy_before_copy(std::uint32_t i, std::uint32_t j, bool i_reads, bool j_reads) const {
    const Source &of_i = c_.sources[c_.copies[i].source], &of_j = c_.sources[c_.copies[j].source];
    if (i_reads && of_i.overlaps[j] && reads_before(of_i, i, j)) return true;
    if (j_reads && of_j.overlaps[i] && !reads_before(of_j, j, i)) return true;
    return c_.copies[i].same_cells[j] && i < j;
  }

  /// Must the temporary of a source come before copy j, or (sequential semantics) after it?
  bool temporary_before_copy(std::uint32_t s, std::uint32_t j, const Uses& uses) const {
    if (c_.copies[j].source == s && uses.via[j]) return true;
    return c_.sources[s].overlaps[j] && (parallel_ || c_.sources[s].lowered_overlaps[j] || j >= reader_of(s));
  }
  bool copy_before_temporary(std::uint32_t j, std::uint32_t s) const {
    return !parallel_ && c_.sources[s].overlaps[j] && !c_.sources[s].lowered_overlaps[j] && j < reader_of(s);
  }

 private:
  /// Does copy `reader` read its value before copy `writer` overwrites it, or after?
  bool reads_before(const Source& source, std::uint32_t reader, std::uint32_t writer) const {
    return parallel_ || source.lowered_overlaps[writer] || reader < writer;
  }

  /// The copy of a source; an output comes after all copies. (Sequential semantics, where each has its own source.)
  std::uint32_t reader_of(std::uint32_t s) const {
    for (std::uint32_t i = 0; i < c_.copies.size(); ++i) {
      if (c_.copies[i].source == s) return i;
    }
    return kNever;
  }

  void order(std::vector<Event>& events, const Uses& uses) const {
    for (std::uint32_t a = 0; a < events.size(); ++a) {
      for (std::uint32_t b = 0; b < events.size(); ++b) {
        if (a != b && before(events[a], events[b], uses)) events[a].after.push_back(b), ++events[b].waits;
      }
    }
  }

  bool before(const Event& a, const Event& b, const Uses& uses) const {
    if (a.temporary && b.temporary) return false;
    if (a.temporary) return temporary_before_copy(a.index, b.index, uses);
    if (b.temporary) return copy_before_temporary(a.index, b.index);
    return copy_before_copy(a.index, b.index, !uses.via[a.index], !uses.via[b.index]);
  }

  /// Longest paths; of the events that are ready, temporaries go first, then output order. False on a cycle or a missed deadline.
  static bool schedule(std::vector<Event>& events) {
    std::set<std::tuple<bool, std::uint32_t, std::uint32_t>> ready;
    const auto enter = [&](std::uint32_t e) { ready.insert({!events[e].temporary, events[e].index, e}); };
    for (std::uint32_t e = 0; e < events.size(); ++e) {
      events[e].slot = events[e].first;
      if (events[e].waits == 0) enter(e);
    }
    std::uint32_t rank = 0;
    while (!ready.empty()) {
      Event& e = events[std::get<2>(*ready.begin())];
      ready.erase(ready.begin());
      e.rank = rank++;
      if (e.slot > e.last) return false;
      for (const std::uint32_t next : e.after) {
        events[next].slot = std::max(events[next].slot, e.slot);
        if (--events[next].waits == 0) enter(next);
      }
    }
    return rank == events.size();
  }

  const Conflicts& c_;
  const bool parallel_;
  const std::vector<std::uint8_t> dropped_;
};

/// Groups of kept copies that are ordered among themselves or share a value.
std::vector<std::vector<std::uint32_t>> groups(const Conflicts& c, const Solver& solver) {
  std::vector<std::uint32_t> root(c.copies.size());
  std::iota(root.begin(), root.end(), 0u);
  const auto find = [&](std::uint32_t i) {
    while (root[i] != i) i = root[i];
    return i;
  };
  for (std::uint32_t i = 0; i < root.size(); ++i) {
    for (std::uint32_t j = 0; j < root.size(); ++j) {
      if (i == j || solver.dropped()[i] || solver.dropped()[j]) continue;
      if (c.copies[i].source == c.copies[j].source || solver.copy_before_copy(i, j, true, true)) root[find(i)] = find(j);
    }
  }
  std::vector<std::vector<std::uint32_t>> result(root.size());
  for (std::uint32_t i = 0; i < root.size(); ++i) {
    if (!solver.dropped()[i]) result[find(i)].push_back(i);
  }
  std::erase_if(result, [](const auto& group) { return group.empty(); });
  return result;
}

std::vector<std::uint32_t> slots_of(std::vector<Event> events) {
  std::erase_if(events, [](const Event& e) { return e.temporary; });
  std::ranges::sort(events, {}, &Event::index);
  std::vector<std::uint32_t> slots;
  for (const Event& e : events) slots.push_back(e.slot);
  return slots;
}

/// A way to place a group: the slots, and then the copies that read a temporary (few, and early in output order).
struct Choice {
  Uses uses;
  std::vector<std::uint32_t> slots, via;
  bool operator<(const Choice& other) const {
    return std::tuple(slots, via.size(), via) < std::tuple(other.slots, other.via.size(), other.via);
  }
};

/// With these temporaries: every copy that has one reads it, which gives the smallest slots; then each that can do without reads
/// its value, the last in output order first. nullopt where the group cannot be ordered.
std::optional<Choice> with_temporaries(const Conflicts& c, const Solver& solver, const std::vector<std::uint32_t>& group,
                                       Uses uses) {
  for (const std::uint32_t i : group) uses.via[i] = uses.temporary[c.copies[i].source];
  std::vector<Event> events = solver.solve(group, uses);
  if (events.empty()) return std::nullopt;
  Choice choice{std::move(uses), slots_of(std::move(events)), {}};
  for (std::size_t k = group.size(); k-- > 0;) {
    std::uint8_t& via = choice.uses.via[group[k]];
    if (via == 0) continue;
    via = 0;
    events = solver.solve(group, choice.uses);
    if (events.empty() || slots_of(std::move(events)) != choice.slots) via = 1;
  }
  for (const std::uint32_t i : group) {
    if (choice.uses.via[i]) choice.via.push_back(i);
  }
  return choice;
}

std::vector<std::uint32_t> candidates_of(const Conflicts& c, const std::vector<std::uint32_t>& group, const Uses& uses) {
  std::vector<std::uint32_t> candidates;
  for (const std::uint32_t i : group) {
    const std::uint32_t s = c.copies[i].source;
    if (!uses.temporary[s] && std::ranges::find(candidates, s) == candidates.end()) candidates.push_back(s);
  }
  return candidates;
}

/// All temporaries, then without each that is not needed.
Uses choose_greedily(const Conflicts& c, const Solver& solver, const std::vector<std::uint32_t>& group, Uses uses,
                     const std::vector<std::uint32_t>& candidates) {
  for (const std::uint32_t s : candidates) uses.temporary[s] = 1;
  for (const std::uint32_t s : candidates) {
    uses.temporary[s] = 0;
    if (!with_temporaries(c, solver, group, uses)) uses.temporary[s] = 1;
  }
  const auto choice = with_temporaries(c, solver, group, uses);
  return choice ? choice->uses : uses;
}

/// The best uses for one group, given the temporaries that are there already.
Uses choose(const Conflicts& c, const Solver& solver, const std::vector<std::uint32_t>& group, const Uses& given) {
  if (auto plain = with_temporaries(c, solver, group, given)) return plain->uses;
  const std::vector<std::uint32_t> candidates = candidates_of(c, group, given);
  if (candidates.size() > kExact) return choose_greedily(c, solver, group, given, candidates);
  for (std::size_t size = 1; size <= candidates.size(); ++size) {
    std::optional<Choice> best;
    for (std::uint32_t bits = 0; bits < (1u << candidates.size()); ++bits) {
      if (static_cast<std::size_t>(std::popcount(bits)) != size) continue;
      Uses uses = given;
      for (std::size_t k = 0; k < candidates.size(); ++k) uses.temporary[candidates[k]] |= (bits >> k) & 1;
      std::optional<Choice> choice = with_temporaries(c, solver, group, std::move(uses));
      if (choice && (!best || *choice < *best)) best = std::move(choice);
    }
    if (best) return best->uses;
  }
  return given;
}

/// Where no placement is safe.
Placement all_at_the_end(const Conflicts& c, const Solver& solver) {
  Placement placement;
  placement.copies.resize(c.copies.size());
  for (std::uint32_t i = 0; i < c.copies.size(); ++i) {
    placement.copies[i].in_place = solver.dropped()[i] != 0;
    placement.copies[i].at = {slot_at(c.slots), i};
  }
  return placement;
}

std::string fresh_name(const Program& program, const Placement& placement) {
  for (std::size_t k = 0;; ++k) {
    const std::string name = k == 0 ? "clone" : "clone_" + std::to_string(k);
    const bool taken = find_value(program.graph, name) ||
                       std::ranges::any_of(placement.temporaries, [&](const Temporary& t) { return t.name == name; });
    if (!taken) return name;
  }
}

}  // namespace

Placement least_placement(const Program& program, const Conflicts& c, Semantics semantics) {
  const Solver solver(c, semantics);
  const std::vector<std::uint8_t> read_first = solver.outputs_first();
  Uses uses{read_first, std::vector<std::uint8_t>(c.copies.size())};
  std::vector<std::uint32_t> kept;
  for (const std::vector<std::uint32_t>& group : groups(c, solver)) {
    uses = choose(c, solver, group, uses);
    kept.insert(kept.end(), group.begin(), group.end());
  }
  std::vector<Event> events = solver.solve(kept, uses);
  if (events.empty() && !kept.empty()) return all_at_the_end(c, solver);
  std::ranges::sort(events, {}, [](const Event& e) { return std::pair(e.slot, e.rank); });

  Placement placement;
  placement.copies.resize(c.copies.size());
  for (std::size_t i = 0; i < c.copies.size(); ++i) placement.copies[i].in_place = solver.dropped()[i] != 0;
  std::vector<std::uint32_t> temporary_of(c.sources.size());
  std::uint32_t slot = 0, order = 0;
  for (const Event& e : events) {
    if (e.slot != slot) slot = e.slot, order = 0;
    const Position at{slot_at(slot), order++};
    if (!e.temporary) {
      placement.copies[e.index].at = at;
      continue;
    }
    temporary_of[e.index] = static_cast<std::uint32_t>(placement.temporaries.size());
    placement.temporaries.push_back({fresh_name(program, placement), c.sources[e.index].value, at});
  }
  for (const std::uint32_t i : kept) {
    if (uses.via[i]) placement.copies[i].temporary = temporary_of[c.copies[i].source];
  }
  for (const OutputSource& o : c.outputs) {
    if (read_first[o.source]) placement.outputs_read_first.push_back({o.output, temporary_of[o.source]});
  }
  return placement;
}

}  // namespace writeback::ref
