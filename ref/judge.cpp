#include "ref/judge.h"

#include <algorithm>

#include "ref/execution.h"
#include "ref/graph/error.h"
#include "ref/search.h"

namespace writeback::ref {
class Judge::Impl {
 public:
  Impl(const Program& program, const Options& options, const Limits& limits, Arena& arena)
      : program_(program),
        options_(options),
        limits_(limits),
        arena_(cleared(arena)),
        one_cell_(needs_one_cell(program, limits.cells)),
        regions_(one_cell_ ? arena.one_cell_regions : arena.regions),
        steps_(program, options, regions_, arena.symbols),
        domain_(arena.terms, arena.symbols, regions_),
        execution_(steps_, regions_, domain_, options.semantics),
        live_(live_nodes(program, steps_.effects())),
        returned_(returned_nodes(program)) {
    const std::vector<std::uint8_t> plain(steps_.semantic_choices().size(), 0);
    run_meaning(plain);
    if (const auto node = execution_.interpreter().overlapping_write()) {
      throw InputError("node %" + program.graph.node(*node).name, "writes a tensor that overlaps itself");
    }
  }

  Judgement judge(const Placement& placement, const std::map<std::string, std::string>& first) {
    check_shape(placement);
    Judgement judgement;
    judgement.method = one_cell_ ? Method::one_cell : Method::terms;
    if (read_too_early(placement, judgement)) return judgement;
    const Schedule schedule(program_, placement);
    const auto differs = [&](std::span<const std::uint8_t> choices, bool meaning_too) {
      if (meaning_too) run_meaning(choices);
      run_placed(schedule, choices, schedule.returned());
      if (!execution_.interpreter().trapped() && placed_ == meaning_) return false;
      blame(placement, schedule, choices, judgement);
      return true;
    };
    if (!first.empty() && differs(choices_named(first), true)) return judgement;
    ChoiceWalk walk(steps_, limits_.choices);
    while (walk.next()) {
      if (differs(walk.choices(), walk.semantics_changed())) return judgement;
    }
    judgement.verdict = walk.exhaustive() ? Verdict::safe : Verdict::undecided;
    if (!walk.exhaustive()) decide_by_storages(placement, walk.total(), judgement);
    return judgement;
  }

  std::vector<std::uint8_t> choices_named(const std::map<std::string, std::string>& names) const {
    std::vector<std::uint8_t> choices;
    for (const auto points : {steps_.semantic_choices(), steps_.lowering_choices()}) {
      for (const ChoicePoint& p : points) {
        const auto name = names.find(steps_.name_of(p));
        std::uint8_t choice = 0;
        for (std::uint8_t c = 1; name != names.end() && c < p.options; ++c) {
          if (steps_.describe(p, c) == name->second) choice = c;
        }
        choices.push_back(choice);
      }
    }
    return choices;
  }

  /// More choices than can be tried: storage by storage, all choices at once, the answer may still be yes.
  void decide_by_storages(const Placement& placement, std::uint64_t total, Judgement& j) {
    j.note = "tried " + std::to_string(limits_.choices) + " choices of " +
             (total == ~std::uint64_t{0} ? "very many" : std::to_string(total));
    const auto coarse = coarse_conflicts(steps_, regions_, options_.semantics);
    if (coarse && violations(*coarse, placement, options_.semantics).empty()) {
      j.verdict = Verdict::safe;
      j.method = Method::one_cell;
    } else if (!one_cell_) {
      j.method = Method::choices;
    }
  }

  const Conflicts& conflicts() {
    if (!tracer_) trace();
    return tracer_->conflicts();
  }

  const Placement& earliest_by_trace() { return conflicts(), earliest_; }

 private:
  /// What is read first is returned no more, so that its view_copy is lowered too, and more may have to be read first.
  void trace() {
    std::vector<std::uint8_t> returned = returned_;
    for (bool fewer = true; fewer;) {
      tracer_.emplace(steps_, regions_, options_.semantics, returned);
      tracer_->trace_all(limits_.choices);
      earliest_ = least_placement(program_, tracer_->conflicts(), options_.semantics);
      const std::vector<std::uint8_t> still = returned_nodes(program_, &earliest_);
      fewer = false;
      for (std::size_t n = 0; n < returned.size(); ++n) {
        if (!returned[n] || still[n] || steps_.step(node_id(n)).root_leaf < 0) continue;
        returned[n] = 0;
        fewer = true;
      }
    }
  }

  static Arena& cleared(Arena& arena) {
    arena.clear();
    return arena;
  }
  void check_shape(const Placement& p) const {
    const auto bad = [](const std::string& what) { throw InputError("placement", what); };
    const std::size_t slots = program_.graph.nodes.size();
    if (p.copies.size() != write_backs().size()) bad("must have one copy for each write-back");
    for (const PlacedCopy& c : p.copies) {
      if (c.in_place) continue;
      if (index_of(c.at.slot) > slots) bad("a copy stands behind the last slot");
      if (c.temporary && *c.temporary >= p.temporaries.size()) bad("a copy reads a temporary that is not there");
    }
    for (const Temporary& t : p.temporaries) {
      if (index_of(t.at.slot) > slots || index_of(t.of) >= program_.graph.value_count()) bad("a temporary stands nowhere");
    }
    for (const OutputReadFirst& o : p.outputs_read_first) {
      if (o.temporary >= p.temporaries.size() || o.output >= program_.graph.outputs.size())
        bad("an output reads a temporary that is not there");
    }
  }

  /// A copy or a temporary that stands before its value is computed cannot be run at all.
  bool read_too_early(const Placement& p, Judgement& j) {
    const Graph& graph = program_.graph;
    const auto early = [&](ValueId v, Position at) {
      return !graph.is_placeholder(v) && at.slot < slot_after(graph.producer_of(v));
    };
    for (std::uint32_t i = 0; i < p.copies.size(); ++i) {
      const PlacedCopy& c = p.copies[i];
      if (c.in_place) continue;
      const ValueId v = c.temporary ? p.temporaries[*c.temporary].of : write_backs()[i].value;
      const Position at = c.temporary ? std::min(p.temporaries[*c.temporary].at, c.at) : c.at;
      if (early(v, at))
        j.hazards.push_back({name(write_backs()[i].target), name(v), "computes_value", name(v)});
      else if (c.temporary && p.temporaries[*c.temporary].at > c.at)
        j.hazards.push_back({name(write_backs()[i].target), name(v), "computes_value", ""});
    }
    for (const OutputReadFirst& r : p.outputs_read_first) {
      const Temporary& t = p.temporaries[r.temporary];
      if (early(t.of, t.at)) j.hazards.push_back({"", "", "computes_value", name(t.of)});
    }
    if (!j.hazards.empty()) j.verdict = Verdict::unsafe;
    return !j.hazards.empty();
  }

  /// What each node read, for the search for the first difference.
  auto keep_inputs(std::vector<std::vector<Term>>* inputs) {
    return [this, inputs](const Item& item) {
      if (inputs == nullptr || item.kind != Item::Kind::node) return;
      const std::span<const Term> read = execution_.interpreter().last_inputs();
      inputs->emplace_back(read.begin(), read.end());
    };
  }

  void run_meaning(std::span<const std::uint8_t> choices, std::vector<std::vector<Term>>* inputs = nullptr) {
    if (arena_.terms.size() > kManyTerms) arena_.terms.clear();
    execution_.run_meaning(choices.first(steps_.semantic_choices().size()), keep_inputs(inputs));
    execution_.outcome(meaning_);
  }

  void run_placed(const Schedule& schedule, std::span<const std::uint8_t> choices, std::span<const std::uint8_t> returned,
                  std::vector<std::vector<Term>>* inputs = nullptr) {
    execution_.run_placed(schedule, choices, returned, keep_inputs(inputs));
    execution_.outcome(placed_);
  }

  const std::vector<WriteBack>& write_backs() const { return execution_.write_backs_in_order(); }

  bool is_later_alias(ValueId v) const {
    return !program_.graph.is_placeholder(v) && steps_.step(program_.graph.producer_of(v)).root_leaf >= 0;
  }

  /// Every value and output cloned right after its last true writer, every copy at the end: what fails here fails wherever the
  /// copies stand. Under sequential semantics what an earlier copy truly overwrites is read when its turn comes.
  Placement ideal_placement() {
    const Conflicts& c = conflicts();
    const bool parallel = options_.semantics == Semantics::parallel;
    Placement p;
    p.copies.resize(c.copies.size());
    for (std::uint32_t i = 0; i < c.copies.size(); ++i) {
      const Source& s = c.sources[c.copies[i].source];
      bool in_turn = false;
      for (std::uint32_t j = 0; j < i && !parallel; ++j) in_turn |= s.overlaps[j] && !s.lowered_overlaps[j];
      p.temporaries.push_back({"", s.value, in_turn ? Position{slot_at(c.slots), 2 * i} : Position{slot_at(s.ready()), 0}});
      p.copies[i].at = {slot_at(c.slots), 2 * i + 1};
      p.copies[i].temporary = i;
    }
    for (const OutputSource& o : c.outputs) {
      const Source& s = c.sources[o.source];
      if (!parallel && s.deadline.slot == kNever && std::ranges::count(s.lowered_overlaps, 1) == 0) continue;
      if (is_later_alias(s.value) && !earliest_.reads_first(o.output)) continue;  // while it is returned it stays a copy
      p.outputs_read_first.push_back({o.output, static_cast<std::uint32_t>(p.temporaries.size())});
      p.temporaries.push_back({"", s.value, {slot_at(s.ready()), 0}});
    }
    return p;
  }

  Hazard hazard(const Violation& v) const {
    Hazard h;
    if (v.copy) {
      h.target = name(write_backs()[*v.copy].target);
      h.value = name(write_backs()[*v.copy].value);
    }
    h.rule = v.rule;
    if (v.node)
      h.node = program_.graph.node(*v.node).name;
    else if (v.other_copy)
      h.node = name(write_backs()[*v.other_copy].target);
    else if (v.output)
      h.node = output_name(program_, *v.output);
    return h;
  }
  const std::string& name(ValueId v) const { return program_.graph.name_of(v); }

  /// The placed run differs from the meaning's under these choices: says where, and by which rules.
  void blame(const Placement& placement, const Schedule& schedule, std::span<const std::uint8_t> choices, Judgement& j) {
    const std::vector<std::uint8_t> failing(choices.begin(), choices.end());
    j.verdict = Verdict::unsafe;
    j.witness = witness(schedule, failing, schedule.returned());
    const Schedule ideal(program_, ideal_placement());
    run_placed(ideal, failing, ideal.returned());
    if (placed_ != meaning_) {
      const std::string where = witness(ideal, failing, ideal.returned()).where;
      j.hazards.push_back({"", "", "lowering", where.substr(where.find(' ') + 1)});
    }
    Tracer one(steps_, regions_, options_.semantics, {schedule.returned().begin(), schedule.returned().end()}, one_cell_);
    one.trace(failing, true);
    for (const Violation& v : violations(one.conflicts(), placement, options_.semantics)) j.hazards.push_back(hazard(v));
    const auto named = std::ranges::find_if(j.hazards, [&](const Hazard& h) { return "node " + h.node == j.witness->where; });
    if (named != j.hazards.end()) std::rotate(j.hazards.begin(), named, named + 1);
    if (one_cell_ && (j.hazards.empty() || j.hazards.front().rule == "lowering")) {
      j.verdict = Verdict::undecided;  // the symbols of parts may differ where the cells agree
      j.note = "with one cell a storage the runs differ at " + j.witness->where;
    }
    if (j.hazards.empty()) j.hazards.push_back({"", "", "writes_value", j.witness->where});
    j.witness->sentence = sentence(j.hazards.front(), *j.witness);
  }

  /// Runs both once more and looks for the first difference: in what a live node reads, else in the outcome.
  Witness witness(const Schedule& schedule, const std::vector<std::uint8_t>& failing, std::span<const std::uint8_t> returned) {
    std::vector<std::vector<Term>> expected, got;
    run_meaning(failing, &expected);
    run_placed(schedule, failing, returned, &got);
    Witness w;
    w.choices = describe_choices(steps_, failing);
    for (std::size_t n = 0; n < expected.size(); ++n) {
      if (!live_[n] || steps_.step(node_id(n)).idle || expected[n] == got[n] || expected[n].size() != got[n].size()) continue;
      w.where = "node " + program_.graph.nodes[n].name;
      tell(w, expected[n], got[n]);
      return w;
    }
    for (std::size_t i = 0; i < meaning_.size(); ++i) {
      if (meaning_[i] != placed_[i]) {
        w.where = execution_.place_of(i, arena_.symbols);
        w.expected = text(meaning_[i]);
        w.got = text(placed_[i]);
        return w;
      }
    }
    w.where = "a copy whose value overlaps its target";
    return w;
  }

  void tell(Witness& w, const std::vector<Term>& expected, const std::vector<Term>& got) const {
    const auto [e, g] = std::ranges::mismatch(expected, got);
    w.expected = text(*e);
    w.got = text(*g);
  }
  std::string text(Term t) const { return arena_.terms.text(t, arena_.symbols); }

  static std::string sentence(const Hazard& h, const Witness& w) {
    std::string copy = h.target.empty() ? "" : h.target + " <- " + h.value + ": ";
    return copy + h.rule + (h.node.empty() ? "" : " (" + h.node + ")") + ", seen at " + w.where;
  }

  static constexpr std::size_t kManyTerms = 1 << 20;

  const Program& program_;
  const Options options_;
  const Limits limits_;
  Arena& arena_;
  const bool one_cell_;
  Regions& regions_;
  const Steps steps_;
  TermDomain domain_;
  Execution<TermDomain> execution_;
  std::optional<Tracer> tracer_;
  Placement earliest_;  ///< by trace, once that was run
  const std::vector<std::uint8_t> live_, returned_;
  std::vector<Term> meaning_, placed_;
};

Judge::Judge(const Program& program, const Options& options, const Limits& limits, Arena& arena)
    : impl_(std::make_unique<Impl>(program, options, limits, arena)) {}
Judge::~Judge() = default;
Judgement Judge::judge(const Placement& placement, const std::map<std::string, std::string>& first) {
  return impl_->judge(placement, first);
}
const Conflicts& Judge::conflicts() { return impl_->conflicts(); }
Placement Judge::earliest_by_trace() { return impl_->earliest_by_trace(); }
Placement Judge::earliest_by_search() {
  return search_earlier(impl_->earliest_by_trace(),
                        [&](const Placement& p) { return impl_->judge(p, {}).verdict == Verdict::safe; });
}
std::vector<Clobbered> Judge::clobbered() { return ref::clobbered(impl_->conflicts()); }

}  // namespace writeback::ref
