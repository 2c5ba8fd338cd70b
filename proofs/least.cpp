#include "proofs/least.h"

#include <z3++.h>

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "ref/judge.h"

namespace writeback::proofs {
namespace {

using z3::expr;

/// A copy or a temporary: its slot, and its rank among the events of one slot.
struct Event {
  expr slot, rank;
};

class Search {
 public:
  explicit Search(const ref::Conflicts& conflicts) : c_(conflicts), dropped_(ref::in_place(conflicts)), optimiser_(context_) {
    for (std::size_t s = 0; s < c_.sources.size(); ++s) {
      has_temporary_.push_back(context_.bool_const(fmt::format("temporary {}", s).c_str()));
      temporaries_.push_back(event("read", s));
    }
    for (std::size_t i = 0; i < c_.copies.size(); ++i) {
      via_.push_back(context_.bool_const(fmt::format("via {}", i).c_str()));
      copies_.push_back(event("copy", i));
    }
  }

  std::optional<LeastSlots> run(double seconds) {
    for (std::size_t s = 0; s < c_.sources.size(); ++s) constrain_temporary(s);
    for (std::size_t i = 0; i < c_.copies.size(); ++i)
      if (!dropped_[i]) constrain_copy(i);
    return minimise(seconds);
  }

 private:
  Event event(const char* what, std::size_t index) {
    const auto integer = [&](const char* of) { return context_.int_const(fmt::format("{} {} {}", what, index, of).c_str()); };
    const Event e{integer("slot"), integer("rank")};
    const auto most = static_cast<int>(c_.slots), events = static_cast<int>(c_.copies.size() + c_.sources.size());
    optimiser_.add(e.slot >= 0 && e.slot <= most && e.rank >= 0 && e.rank <= events);
    return e;
  }
  static expr before(const Event& a, const Event& b) { return a.slot < b.slot || (a.slot == b.slot && a.rank < b.rank); }
  static expr between(const expr& slot, std::uint32_t first, std::uint32_t last) {
    const expr after = slot >= static_cast<int>(first);
    return last == ref::kNever ? after : after && slot <= static_cast<int>(last);
  }
  expr yes_or_no(bool b) { return context_.bool_val(b); }

  /// Rules 1, 4 and 8, deadlines, and rule 5 for what the temporary reads.
  void constrain_temporary(std::size_t s) {
    const ref::Source& source = c_.sources[s];
    optimiser_.add(implies(has_temporary_[s], between(temporaries_[s].slot, source.ready(), source.deadline.slot)));
    bool overwritten = false;
    for (std::size_t j = 0; j < c_.copies.size(); ++j) {
      if (dropped_[j]) continue;
      overwritten |= source.overlaps[j] != 0;
      const expr uses = yes_or_no(source.overlaps[j] != 0) || (via_[j] && yes_or_no(c_.copies[j].source == s));
      optimiser_.add(implies(has_temporary_[s] && uses, before(temporaries_[s], copies_[j])));
    }
    const bool is_output = std::ranges::any_of(c_.outputs, [&](const ref::OutputSource& o) { return o.source == s; });
    if (is_output && (overwritten || source.deadline.slot != ref::kNever)) optimiser_.add(has_temporary_[s]);
  }

  /// Rules 1 to 5 for a copy.
  void constrain_copy(std::size_t i) {
    const ref::CopyConflicts& c = c_.copies[i];
    const ref::Source& source = c_.sources[c.source];
    optimiser_.add(between(copies_[i].slot, std::max(c.target_read.slot, c.target_written.slot), ref::kNever));
    optimiser_.add(implies(via_[i], has_temporary_[c.source]));
    const std::uint32_t ready = std::max(source.computed.slot, c.value_written.slot);
    optimiser_.add(via_[i] || (between(copies_[i].slot, ready, source.deadline.slot) && yes_or_no(!c.overlaps_itself)));
    for (std::size_t j = 0; j < c_.copies.size(); ++j) {
      if (i == j || dropped_[j]) continue;
      const expr first = yes_or_no(c.same_cells[j] != 0 && i < j) || (!via_[i] && yes_or_no(source.overlaps[j] != 0));
      optimiser_.add(implies(first, before(copies_[i], copies_[j])));
    }
  }

  /// The smallest value of each objective in turn, with those before it held. (Z3 4.8.12 does not always find it for many at once.)
  std::optional<LeastSlots> minimise(double seconds) {
    z3::params limits(context_);
    limits.set("timeout", static_cast<unsigned>(seconds * 1000));
    optimiser_.set(limits);
    expr count = context_.int_val(0);
    for (const expr& t : has_temporary_) count = count + ite(t, context_.int_val(1), context_.int_val(0));
    LeastSlots least;
    const auto temporaries = hold_least(count);
    if (!temporaries) return std::nullopt;
    least.temporaries = *temporaries;
    for (std::size_t i = 0; i < copies_.size(); ++i) {
      least.slots.push_back(dropped_[i] ? std::nullopt : hold_least(copies_[i].slot));
      if (!dropped_[i] && !least.slots.back()) return std::nullopt;
    }
    return least;
  }

  std::optional<std::uint32_t> hold_least(const expr& objective) {
    optimiser_.push();
    optimiser_.minimize(objective);
    const bool found = optimiser_.check() == z3::sat;
    const int least = found ? optimiser_.get_model().eval(objective, true).get_numeral_int() : 0;
    optimiser_.pop();
    optimiser_.add(objective == least);
    return found ? std::optional(static_cast<std::uint32_t>(least)) : std::nullopt;
  }

  const ref::Conflicts& c_;
  const std::vector<std::uint8_t> dropped_;
  z3::context context_;
  z3::optimize optimiser_;
  std::vector<expr> has_temporary_, via_;  ///< per source; per copy: it reads the temporary
  std::vector<Event> temporaries_, copies_;
};

std::string text_of(const LeastSlots& least) {
  std::string text = fmt::format("{} temporaries, slots", least.temporaries);
  for (const auto& slot : least.slots) text += slot ? fmt::format(" {}", *slot) : " (in place)";
  return text;
}

}  // namespace

LeastSlots slots_of(const Placement& placement) {
  LeastSlots result;
  result.temporaries = placement.temporaries.size();
  for (const PlacedCopy& copy : placement.copies)
    result.slots.push_back(copy.in_place ? std::nullopt : std::optional(static_cast<std::uint32_t>(index_of(copy.at.slot))));
  return result;
}

std::optional<Row> prove_least(const Program& program, const Placement& placement, const Options& options,
                               const ProveOptions& prove) {
  if (options.semantics == Semantics::sequential) return std::nullopt;
  const auto start = std::chrono::steady_clock::now();
  ref::Arena arena;
  ref::Judge judge(program, options, {}, arena);
  const ref::Conflicts& conflicts = judge.conflicts();
  if (std::ranges::any_of(conflicts.sources, &ref::Source::hopeless)) return std::nullopt;
  const std::optional<LeastSlots> least = Search(conflicts).run(prove.seconds);
  Row row;
  row.solver = "z3 optimiser";
  row.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  if (!least) {
    row.note = "z3: out of time";
  } else if (*least == slots_of(placement)) {
    row.verdict = Verdict::proved;
    row.note = text_of(*least);
  } else {
    // Conflicts of a sample of the choices may lack one that ours respects.
    row.verdict = conflicts.exhaustive ? Verdict::refuted : Verdict::unknown;
    row.note = text_of(*least) + " instead of " + text_of(slots_of(placement));
  }
  return row;
}

}  // namespace writeback::proofs
