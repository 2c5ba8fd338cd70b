#include "fuzz/oracle.h"

#include <algorithm>
#include <array>
#include <set>

#include "fuzz/edit.h"
#include "fuzz/generate.h"
#include "fuzz/relations.h"
#include "ref/graph/effects.h"
#include "ref/graph/error.h"
#include "ref/graph/text.h"
#include "ref/judge.h"

namespace writeback::fuzz {
namespace {

constexpr std::size_t kSearchedNodes = 6;  // a search tries every slot of every copy

constexpr std::array<std::string_view, kVerdictCount> kNames{"right",       "unsafe",     "late",       "early",     "not accepted",
                                                             "unexplained", "unreported", "unreadable", "unrelated", "refused",
                                                             "crashed",     "timed out",  "malformed",  "skipped"};

using impl::PlaceResult;
using impl::Reason;
using impl::Rule;

/// Rules about lowering that no placement can mend.
bool is_lowering(const ref::Hazard& h) { return h.rule == "lowering"; }

std::string slot_text(const Program& program, Slot slot) {
  const std::size_t k = index_of(slot);
  return k == 0 ? "start" : "after %" + program.graph.nodes[k - 1].name;
}

std::string copy_text(const Program& program, const WriteBack& w) {
  return program.graph.name_of(w.target) + " <- " + program.graph.name_of(w.value);
}

/// "buffer<-view": what is written from what.
std::string role_of(const Program& program, const WriteBack& w, const Options& options) {
  static constexpr std::array kInputs{"input", "parameter", "buffer", "constant", "object", "token", "constant"};
  std::string role = kInputs[static_cast<std::size_t>(program.input_specs[index_of(w.target)].kind)];
  if (program.graph.is_placeholder(w.value)) return role + (w.value == w.target ? "<-itself" : "<-input");
  return role + "<-" + kind_of_node(program, program.graph.producer_of(w.value), options);
}

std::string first_line_without_numbers(const std::string& text) {
  std::string line;
  for (const char c : text.substr(0, text.find('\n'))) {
    if (c >= '0' && c <= '9')
      line += line.empty() || line.back() != '#' ? "#" : "";
    else
      line += c;
  }
  return line.substr(0, 120);
}

/// One judgement of one answer, question by question; the first that fails ends it.
class Trial {
 public:
  Trial(Implementation& implementation, const Program& program, const Options& options, const Checks& checks)
      : implementation_(implementation), program_(program), options_(options), checks_(checks) {}

  Judged run() {
    write_backs_ = write_backs(program_);
    judged_.answer = implementation_.place(program_, options_);
    switch (judged_.answer.kind) {
      case Answer::Kind::placed:
        placed();
        break;
      case Answer::Kind::rewritten:
        rewritten();
        break;
      case Answer::Kind::refused:
        refused();
        break;
      case Answer::Kind::crashed:
        fail(Verdict::crashed, first_line_without_numbers(judged_.answer.message), judged_.answer.message);
        break;
      case Answer::Kind::timed_out:
        fail(Verdict::timed_out, "", judged_.answer.message);
        break;
      case Answer::Kind::malformed:
        fail(Verdict::malformed, first_line_without_numbers(judged_.answer.message), judged_.answer.message);
        break;
    }
    return std::move(judged_);
  }

 private:
  const PlaceResult& result() const { return judged_.answer.result; }
  ref::Limits limits() const {
    ref::Limits limits;
    limits.choices = checks_.choices;
    return limits;
  }
  /// One for all questions: the program is made ready and its meaning run once.
  ref::Judge& reference() {
    thread_local ref::Arena arena;
    if (!reference_) reference_.emplace(program_, options_, limits(), arena);
    return *reference_;
  }

  bool fail(Verdict verdict, const std::string& detail, std::string reason, std::optional<std::uint32_t> copy = std::nullopt,
            const std::string& node_kind = "") {
    judged_.verdict = verdict;
    judged_.copy = copy;
    judged_.reason = std::move(reason);
    std::string text(name_of(verdict));
    text += "/" + detail;
    if (copy) text += "/" + role_of(program_, write_backs_[*copy], options_);
    if (!node_kind.empty()) text += "/" + node_kind;
    judged_.signature = {std::move(text), detail};
    return false;
  }

  void skip(std::string reason) {
    judged_.verdict = Verdict::skipped;
    judged_.reason = std::move(reason);
  }

  void refused() {
    if (implementation_.outside() && !checks_.strict) return skip("refused: " + first_line_without_numbers(judged_.answer.message));
    try {
      ref::judge(program_, end_placement(program_), options_, limits());
    } catch (const InputError&) {
      return skip("refused by both");
    }
    fail(Verdict::refused, first_line_without_numbers(judged_.answer.message), judged_.answer.message);
  }

  void rewritten() {
    ref::Judgement judgement = ref::equivalent(program_, judged_.answer.program, options_, limits());
    const bool hopeless =
        !result().lowering_hazards.empty() || (judgement.verdict == ref::Verdict::unsafe && no_placement_is_safe());
    if (judgement.verdict == ref::Verdict::unsafe && hopeless) {
      if (implementation_.outside()) return skip("lowering hazard, no placement is safe");
      judged_.judgement = std::move(judgement);
      mends_what_it_can();
      return;
    }
    if (may_be_its_own_target(judgement)) return skip("what an opaque op returns may be its own target");
    if (!safe(std::move(judgement))) return;
    if (!checks_.strict) return;
    const std::optional<Placement> placement = placement_of(program_, judged_.answer.program);
    if (placement) judged_.answer.result.placement = *placement, minimal();
  }

  /// The runs agree but for a copy of what an opaque op returns: it may lie in the target, and is taken to be another region of it.
  bool may_be_its_own_target(const ref::Judgement& j) const {
    if (j.verdict != ref::Verdict::unsafe || j.hazards.front().rule != "copy_reads" || !j.witness || !j.witness->expected.empty())
      return false;
    const std::optional<ValueId> value = find_value(program_.graph, j.hazards.front().value);
    return value && !program_.graph.is_placeholder(*value) &&
           Effects(program_, options_).has(program_.graph.producer_of(*value), Trait::opaque);
  }

  bool no_placement_is_safe() { return reference().judge(reference().earliest_by_trace()).verdict == ref::Verdict::unsafe; }

  void placed() {
    if (result().placement.copies.size() != write_backs_.size()) {
      fail(Verdict::malformed, "number of copies", "the answer has another number of copies than the program has write-backs");
      return;
    }
    if (!safe(reference().judge(result().placement, checks_.first_choices))) return;
    if (implementation_.outside() && !checks_.strict) return;
    if (reports_hopeless()) return skip("no placement serves a copy or an output, reported");
    if (checks_.minimality && !minimal()) return;
    if (checks_.search && program_.graph.nodes.size() <= kSearchedNodes && !searched()) return;
    if (!implementation_.explains()) return;
    if (!reported()) return;
    if (checks_.explanation && !explained()) return;
    if (checks_.text && !reads_back()) return;
    if (checks_.relations) stays_related();
  }

  /// False where the judgement ends the trial: a failure, or nothing that could be judged.
  bool safe(ref::Judgement judgement) {
    judged_.judgement = std::move(judgement);
    const ref::Judgement& j = *judged_.judgement;
    if (j.witness) judged_.choices = j.witness->choices;
    if (j.verdict == ref::Verdict::safe) return true;
    if (j.verdict == ref::Verdict::undecided) {
      skip("undecided");
      return false;
    }
    if (std::any_of(j.hazards.begin(), j.hazards.end(), is_lowering) || reports_hopeless() || nothing_is_safe())
      return mends_what_it_can();
    const auto hazard = j.hazards.begin();
    std::optional<std::uint32_t> copy;
    for (std::uint32_t c = 0; c < write_backs_.size(); ++c) {
      const WriteBack& w = write_backs_[c];
      if (program_.graph.name_of(w.target) == hazard->target && program_.graph.name_of(w.value) == hazard->value) copy = c;
    }
    const std::optional<ValueId> node = find_value(program_.graph, hazard->node);
    std::string kind = "output";
    if (node)
      kind = program_.graph.is_placeholder(*node) ? "input" : kind_of_node(program_, program_.graph.producer_of(*node), options_);
    return fail(Verdict::unsafe, hazard->rule, j.witness ? j.witness->sentence : "not safe: " + hazard->rule, copy, kind);
  }

  /// Of one that cannot say so (that gives no reasons) no more is asked than any placement could do.
  bool nothing_is_safe() { return !implementation_.explains() && no_placement_is_safe(); }

  /// A copy or an output that no slot suits, since under one choice it must be read after what another choice has before it.
  bool reports_hopeless() const {
    const auto& hazards = result().lowering_hazards;
    return std::any_of(hazards.begin(), hazards.end(), [](const impl::LoweringHazard& h) { return h.copy || h.output; });
  }

  /// Lowering changes the program wherever the copies stand. That must be said, and without lowering the placement must be safe.
  bool mends_what_it_can() {
    if (implementation_.explains() && result().lowering_hazards.empty()) {
      return fail(Verdict::unreported, "lowering",
                  "lowering changes the program wherever the copies stand, and the answer does not say so");
    }
    Options unlowered = options_;
    unlowered.lowering = Lowering::none;
    const ref::Judgement j = judged_.answer.kind == Answer::Kind::placed
                                 ? ref::judge(program_, result().placement, unlowered, limits())
                                 : ref::equivalent(program_, judged_.answer.program, unlowered, limits());
    if (j.verdict == ref::Verdict::unsafe && !reports_hopeless()) {
      judged_.judgement = j;
      judged_.unlowered = true;
      judged_.choices = j.witness ? j.witness->choices : std::map<std::string, std::string>{};
      return fail(Verdict::unsafe, j.hazards.front().rule + " without lowering",
                  j.witness ? j.witness->sentence : "not safe without lowering");
    }
    return true;
  }

  /// Equal to the reference's where effects are exact. An opaque op is never taken to give exactly the target, and a copy of the
  /// target to itself counts as a write: there a later slot is a skip.
  bool minimal() {
    judged_.earliest = reference().earliest_by_trace();
    if (as_early()) return true;
    if (judged_.verdict == Verdict::late && is_inexact(reference().conflicts())) {
      forgive("late, where an op is opaque or a value can be its own target");
    } else if (judged_.verdict == Verdict::early && reads_more_first()) {
      forgive("early, by a temporary of what an opaque op returns");
    }
    return false;
  }

  /// A search over values may find an earlier slot: the rules count every write as observed, so a copy may wait for one that nobody
  /// sees. That is counted. A later slot than that of a safe placement with as few temporaries would be the reference's own fault.
  bool searched() {
    const Placement& got = result().placement;
    const Placement best = reference().earliest_by_search();
    for (std::uint32_t c = 0; c < got.copies.size(); ++c) {
      const PlacedCopy &g = got.copies[c], &b = best.copies[c];
      const bool needed = !g.in_place && !b.in_place;
      if (needed && b.at.slot > g.at.slot && best.temporaries.size() == got.temporaries.size())
        return fail(Verdict::early, "search", copy_text(program_, write_backs_[c]) + " stands before the slot that a search finds",
                    c);
      ++judged_.copies_searched;
      judged_.copies_as_searched += g.in_place == b.in_place && (g.in_place || g.at.slot == b.at.slot) ? 1 : 0;
    }
    return true;
  }

  /// A failure that is none after all.
  void forgive(std::string reason) {
    judged_.signature = {};
    judged_.copy.reset();
    skip(std::move(reason));
  }

  /// A temporary that the reference does without lets other copies of the value stand earlier.
  bool reads_more_first() const {
    return has_opaque_op() && result().placement.temporaries.size() > judged_.earliest.temporaries.size();
  }

  bool is_inexact(const ref::Conflicts& conflicts) const {
    for (std::uint32_t c = 0; c < conflicts.copies.size(); ++c) {
      if (conflicts.sources[conflicts.copies[c].source].overlaps[c] != 0) return true;
    }
    return has_opaque_op();
  }

  bool as_early() {
    const Placement& got = result().placement;
    const Placement& best = judged_.earliest;
    for (std::uint32_t c = 0; c < got.copies.size(); ++c) {
      const PlacedCopy& g = got.copies[c];
      const PlacedCopy& b = best.copies[c];
      const std::string copy = copy_text(program_, write_backs_[c]);
      if (b.in_place && !g.in_place) return fail(Verdict::late, "in_place", copy + " needs no copy", c);
      if (g.in_place && !b.in_place)
        return fail(Verdict::early, "in_place", copy + " is in place, which the reference does not say", c);
      if (g.in_place) continue;
      if (g.at.slot > b.at.slot) {
        return fail(Verdict::late, rule_of(c),
                    copy + " stands " + slot_text(program_, g.at.slot) + "; safe " + slot_text(program_, b.at.slot), c);
      }
      if (g.at.slot < b.at.slot) {
        return fail(Verdict::early, rule_of(c),
                    copy + " stands " + slot_text(program_, g.at.slot) + "; the reference says " + slot_text(program_, b.at.slot),
                    c);
      }
    }
    if (got.temporaries.size() > best.temporaries.size()) return fail(Verdict::late, "temporaries", "more temporaries than needed");
    // Where lowering ruins what no temporary can save, `place` reports it and saves nothing else.
    if (got.temporaries.size() < best.temporaries.size() && result().lowering_hazards.empty())
      return fail(Verdict::early, "temporaries", "fewer temporaries than the reference finds");
    return true;
  }

  std::string rule_of(std::uint32_t copy) const {
    return copy < result().reasons.size() ? std::string(name_of(result().reasons[copy].rule)) : "slot";
  }

  /// What no placement can mend, and what the usual end order breaks, must be said.
  bool reported() {
    if (!checks_.relations) return true;
    const auto pairs = [](const auto& list) {
      std::set<std::pair<std::uint32_t, std::uint32_t>> all;
      for (const auto& c : list) all.emplace(c.copy, c.by);
      return all;
    };
    const auto said = pairs(result().clobbered), seen = pairs(reference().clobbered());
    if (said == seen || (has_opaque_op() && std::includes(said.begin(), said.end(), seen.begin(), seen.end()))) return true;
    return fail(Verdict::unreported, "clobbered",
                "at the end of the graph " + std::to_string(seen.size()) +
                    " copies find their values overwritten by others; the answer names " + std::to_string(said.size()) +
                    ", and not the same");
  }

  // --- Explanations ---

  bool explained() {
    for (std::uint32_t c = 0; c < write_backs_.size(); ++c) {
      if (!explained(c)) return false;
    }
    return true;
  }

  bool explained(std::uint32_t c) {
    const std::string copy = copy_text(program_, write_backs_[c]);
    if (c >= result().reasons.size()) return fail(Verdict::unexplained, "missing", copy + " has no reason", c);
    const Reason& reason = result().reasons[c];
    const PlacedCopy& placed = result().placement.copies[c];
    const std::string rule(name_of(reason.rule));
    if (placed.in_place || reason.rule == Rule::in_place) {
      return placed.in_place == (reason.rule == Rule::in_place) ||
             fail(Verdict::unexplained, rule, copy + ": in place and its reason disagree", c);
    }
    if (reason.rule == Rule::start) {
      return placed.at.slot == Slot{} || fail(Verdict::unexplained, rule, copy + " is said to stand at the start", c);
    }
    if (reason.rule == Rule::lowering) return true;
    if (reason.node && slot_after(*reason.node) != placed.at.slot) {
      return fail(
          Verdict::unexplained, rule,
          copy + " stands " + slot_text(program_, placed.at.slot) + ", its reason names %" + program_.graph.node(*reason.node).name,
          c);
    }
    if (reason.copy && (*reason.copy >= write_backs_.size() || *reason.copy == c)) {
      return fail(Verdict::unexplained, rule, copy + " names a copy that is none", c);
    }
    if (!reason.node && !reason.copy) return fail(Verdict::unexplained, rule, copy + " names nothing that blocks it", c);
    return chained(c) && (!reason.node || blocks(c));
  }

  /// `via` leads from the copy's target or value to the operand through which the blocking node reaches it, step by step.
  bool chained(std::uint32_t c) {
    const Reason& reason = result().reasons[c];
    if (reason.via.empty() || !reason.node || reason.rule == Rule::read_first) return true;
    const Graph& graph = program_.graph;
    const auto broken = [&](ValueId from, const std::string& to) {
      return fail(Verdict::unexplained, "via", "%" + graph.name_of(from) + " does not lead to " + to + ", a step of the reason", c);
    };
    const ValueId start =
        reason.rule == Rule::writes_value || reason.rule == Rule::deadline ? write_backs_[c].value : write_backs_[c].target;
    ValueId last = start;
    for (const ValueId v : reason.via) {
      if (!linked(last, v) && !has_opaque_op()) return broken(last, "%" + graph.name_of(v));
      last = v;
    }
    const bool arrived = last == graph.result_of(*reason.node) || is_operand(last, graph.node(*reason.node)) || has_opaque_op();
    return arrived || broken(last, "%" + graph.node(*reason.node).name);
  }

  static bool is_operand(ValueId v, const Node& node) {
    bool found = false;
    for_each_operand(node, [&](ValueId operand) { found |= operand == v; });
    return found;
  }

  /// Of several operands that an opaque result may lie in, any may be named.
  bool has_opaque_op() const {
    const Effects effects(program_, options_);
    for (std::size_t n = 0; n < program_.graph.nodes.size(); ++n) {
      if (effects.has(node_id(n), Trait::opaque)) return true;
    }
    return false;
  }

  /// One is made of the other, or both are inputs (of one alias group).
  bool linked(ValueId a, ValueId b) const {
    const Graph& graph = program_.graph;
    const auto made_of = [&](ValueId v, ValueId operand) {
      if (graph.is_placeholder(v)) return false;
      const Node& node = graph.node(graph.producer_of(v));
      const bool element = program_.target(node).is_getitem() && !graph.is_placeholder(*as_value(node.args[0]));
      return is_operand(operand, node) || (element && is_operand(operand, graph.node(graph.producer_of(*as_value(node.args[0])))));
    };
    const auto element = [&](ValueId v) {  // two of one place in one tuple are one tensor
      const Node* node = graph.is_placeholder(v) ? nullptr : &graph.node(graph.producer_of(v));
      return node != nullptr && program_.target(*node).is_getitem() ? &node->args : nullptr;
    };
    const bool same = element(a) != nullptr && element(b) != nullptr && *element(a) == *element(b);
    return (graph.is_placeholder(a) && graph.is_placeholder(b)) || same || made_of(a, b) || made_of(b, a);
  }

  /// Moving the copy before its blocker must be seen; where values do not show it (x - x, dead stores) it is counted.
  bool blocks(std::uint32_t c) {
    const Reason& reason = result().reasons[c];
    Placement moved = result().placement;
    PlacedCopy& copy = moved.copies[c];
    const Slot before = slot_at(index_of(copy.at.slot) - 1);
    std::uint32_t order = 0;
    for (const PlacedCopy& other : moved.copies) order += !other.in_place && other.at.slot == before ? 1 : 0;
    for (const Temporary& t : moved.temporaries) order += t.at.slot == before ? 1 : 0;
    copy.at = {before, order};
    if (copy.temporary && moved.temporaries[*copy.temporary].at.slot > before) return ++judged_.confirmed_reasons, true;
    if (reason.rule == Rule::computes_value && write_backs_[c].value == program_.graph.result_of(*reason.node))
      return ++judged_.confirmed_reasons, true;
    const ref::Judgement judgement = reference().judge(moved);
    const bool seen = judgement.verdict == ref::Verdict::unsafe;
    ++(seen ? judged_.confirmed_reasons : judged_.unobserved_reasons);
    if (!seen) return true;
    if (does_what_the_rule_says(reason)) return true;
    judged_.judgement = judgement;
    const std::string rule(name_of(reason.rule));
    return fail(Verdict::unexplained, rule,
                copy_text(program_, write_backs_[c]) + " is explained by " + rule + ", which is not what %" +
                    program_.graph.node(*reason.node).name + " does",
                c);
  }

  /// A node that is said to read reads, and one that is said to write writes.
  bool does_what_the_rule_says(const Reason& reason) const {
    const Effects effects(program_, options_);
    const auto operands = effects.operands(*reason.node);
    const auto any = [&](bool OperandEffect::* what) {
      return std::any_of(operands.begin(), operands.end(), [&](const OperandEffect& o) { return o.*what; });
    };
    const bool reads_only = !any(&OperandEffect::writes) && effects.shares_allocation_of(*reason.node) < 0;
    switch (reason.rule) {
      case Rule::reads_target:
        return any(&OperandEffect::reads) || effects.has(*reason.node, Trait::later_alias);
      case Rule::writes_target:
      case Rule::writes_value:
      case Rule::deadline:
        return !reads_only || effects.has(*reason.node, Trait::rebinds);
      case Rule::start:
      case Rule::computes_value:
      case Rule::copy_reads:
      case Rule::copy_writes:
      case Rule::read_first:
      case Rule::in_place:
      case Rule::lowering:
        return true;
    }
    return true;
  }

  // --- Text and relations ---

  bool reads_back() {
    const std::string before = print_text(program_);
    if (print_text(read_text(before)) != before)
      return fail(Verdict::unreadable, "program", "the program does not read back as itself");
    const Program after = with_explicit_copies(program_, result().placement);
    const std::string text = print_text(after);
    const Program again = read_text(text);
    if (print_text(again) != text)
      return fail(Verdict::unreadable, "copies", "the program with its copies does not read back as itself");
    const std::optional<Placement> placement = placement_of(program_, again);
    if (!placement || print_text(with_explicit_copies(program_, *placement)) != text) {
      return fail(Verdict::unreadable, "placement", "the copies that were printed are not those that were placed");
    }
    return true;
  }

  bool stays_related() {
    Random random(program_.graph.nodes.size() * 31 + write_backs_.size());
    std::vector<Relation> relations{renamed(program_)};
    for (auto& relation : {with_metadata_reader(program_, random), with_split_view(program_, options_, random),
                           with_swapped_neighbours(program_, options_, random)}) {
      if (relation) relations.push_back(*relation);
    }
    for (const Relation& relation : relations) {
      const Answer answer = implementation_.place(relation.program, options_);
      if (answer.kind != Answer::Kind::placed)
        return fail(Verdict::unrelated, relation.name, relation.name + ": " + answer.message);
      if (!relation.holds(result().placement, answer.result.placement)) {
        return fail(Verdict::unrelated, relation.name, relation.name + " changes the placement");
      }
    }
    return true;
  }

  Implementation& implementation_;
  const Program& program_;
  const Options& options_;
  const Checks& checks_;
  std::vector<WriteBack> write_backs_;
  std::optional<ref::Judge> reference_;
  Judged judged_;
};

}  // namespace

std::string_view name_of(Verdict v) { return kNames[static_cast<std::size_t>(v)]; }

Judged judge(Implementation& implementation, const Program& program, const Options& options, const Checks& checks) {
  return Trial(implementation, program, options, checks).run();
}

std::string kind_of_node(const Program& program, NodeId n, const Options& options) {
  const Effects effects(program, options);
  if (effects.has(n, Trait::opaque)) return "opaque";
  if (effects.has(n, Trait::subgraph)) return "subgraph";
  if (effects.has(n, Trait::later_alias)) return "view_copy";
  if (effects.has(n, Trait::getitem)) return "element";
  const auto operands = effects.operands(n);
  if (std::any_of(operands.begin(), operands.end(), [](const OperandEffect& o) { return o.writes; })) return "write";
  for (const ResultEffect& r : effects.results(n)) {
    if (r.kind == ResultKind::may_alias) return "may alias";
    if (r.kind == ResultKind::alias || r.kind == ResultKind::same) return "view";
  }
  return "op";
}

}  // namespace writeback::fuzz
