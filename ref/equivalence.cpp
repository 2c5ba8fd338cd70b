#include "ref/equivalence.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <unordered_map>

#include "ref/execution.h"
#include "ref/graph/error.h"

namespace writeback::ref {
namespace {

std::vector<std::uint32_t> user_outputs(const Program& p) {
  std::vector<std::uint32_t> result;
  for (std::uint32_t i = 0; i < p.output_specs.size(); ++i) {
    if (!is_mutation(p.output_specs[i].kind)) result.push_back(i);
  }
  return result;
}

void require_same_interface(const Program& before, const Program& after) {
  const auto &p = before.graph.placeholders, &q = after.graph.placeholders;
  if (p.size() != q.size()) throw InputError("inputs", fmt::format("the first program has {}, the second {}", p.size(), q.size()));
  for (std::size_t i = 0; i < p.size(); ++i) {
    if (p[i].name == q[i].name) continue;
    throw InputError(fmt::format("input {}", i), fmt::format("the first program has %{}, the second %{}", p[i].name, q[i].name));
  }
  const std::size_t m = user_outputs(before).size(), n = user_outputs(after).size();
  if (m != n) throw InputError("outputs", fmt::format("the first program has {} user outputs, the second {}", m, n));
}

/// A tensor whose strides are not told has those that `before` tells.
void complete_strides(const ValueMeta& before, ValueMeta& after) {
  const TensorMeta* known = tensor_meta(before);
  TensorMeta* meta = std::get_if<TensorMeta>(&after);
  if (known == nullptr || meta == nullptr || meta->strides) return;
  if (known->dtype == meta->dtype && known->sizes == meta->sizes) meta->strides = known->strides;
}

/// Results that are the same op's under the same name are laid out alike.
void complete_strides(const Program& before, Program& after) {
  std::unordered_map<std::string_view, const Node*> named;
  for (const Node& node : before.graph.nodes) named.emplace(node.name, &node);
  for (std::size_t i = 0; i < after.graph.placeholders.size(); ++i) {
    complete_strides(before.graph.placeholders[i].meta, after.graph.placeholders[i].meta);
  }
  for (Node& node : after.graph.nodes) {
    const auto known = named.find(node.name);
    if (known != named.end() && before.target(*known->second) == after.target(node))
      complete_strides(known->second->meta, node.meta);
  }
}

/// What the text of `after` often leaves out because `before` says it.
Program completed(const Program& before, Program after) {
  complete_strides(before, after);
  if (after.alias_groups.empty()) after.alias_groups = before.alias_groups;
  if (after.schemas.empty()) after.schemas = before.schemas;
  if (after.share_allocations.empty()) {
    for (const ShareAllocation& s : before.share_allocations) {
      const auto value = find_value(after.graph, before.graph.node(s.node).name);
      if (value && !after.graph.is_placeholder(*value))
        after.share_allocations.push_back({after.graph.producer_of(*value), s.argument});
    }
  }
  return after;
}

/// `after` has no copies but those in its graph.
Placement nothing_more(const Program& after) {
  Placement p;
  p.copies.resize(write_backs(after).size());
  for (PlacedCopy& c : p.copies) c.in_place = true;
  return p;
}

class Comparison {
 public:
  Comparison(const Program& before, const Program& after, const Options& options, const Limits& limits, Arena& arena)
      : before_(before),
        after_(completed(before, after)),
        limits_(limits),
        arena_(arena),
        one_cell_(needs_one_cell(before, limits.cells) || needs_one_cell(after_, limits.cells)),
        regions_(one_cell_ ? arena.one_cell_regions : arena.regions),
        steps_(before, options, regions_, arena.symbols),
        steps_after_(after_, options, regions_, arena.symbols),
        domain_(arena.terms, arena.symbols, regions_),
        execution_(steps_, regions_, domain_, options.semantics),
        execution_after_(steps_after_, regions_, domain_, options.semantics),
        schedule_(after_, nothing_more(after_)) {}

  Judgement run() {
    Judgement j;
    j.method = one_cell_ ? Method::one_cell : Method::terms;
    match_choices();
    ChoiceWalk walk(options_of(steps_.semantic_choices()), minor_, limits_.choices);
    while (walk.next()) {
      if (walk.semantics_changed()) run_before(walk.choices().first(steps_.semantic_choices().size()));
      run_after(walk.choices());
      if (meaning_ != got_)
        blame(walk.choices(), j);
      else if (!blame_leak(walk.choices(), j))
        continue;
      return j;
    }
    j.verdict = walk.exhaustive() ? Verdict::safe : Verdict::undecided;
    if (!walk.exhaustive()) {
      if (!one_cell_) j.method = Method::choices;
      j.note = "tried " + std::to_string(limits_.choices) + " choices of " + std::to_string(walk.total());
    }
    return j;
  }

 private:
  /// Where the choice of each point of `after` stands in a vector: the choices of `before`, then those that only `after` has.
  void match_choices() {
    std::map<std::string, std::size_t> places;
    std::size_t place = 0;
    for (const ChoicePoint& p : steps_.semantic_choices()) places[steps_.name_of(p)] = place++;
    for (const ChoicePoint& p : steps_after_.semantic_choices()) {
      const auto [at, is_new] = places.emplace(steps_after_.name_of(p), place);
      if (is_new) ++place, minor_.push_back(options_of({&p, 1})[0]);
      place_of_.push_back(at->second);
    }
    for (const ChoicePoint& p : steps_after_.lowering_choices())
      place_of_.push_back(place++), minor_.push_back(options_of({&p, 1})[0]);
  }

  std::vector<std::uint8_t> choices_after(std::span<const std::uint8_t> all) const {
    std::vector<std::uint8_t> result;
    result.reserve(place_of_.size());
    for (const std::size_t place : place_of_) result.push_back(all[place]);
    return result;
  }

  static auto keep(const Steps& steps, const Execution<TermDomain>& execution, std::map<std::string, std::vector<Term>>* reads) {
    return [&steps, &execution, reads](const Item& item) {
      if (reads == nullptr || item.kind != Item::Kind::node) return;
      const std::span<const Term> read = execution.interpreter().last_inputs();
      (*reads)[steps.program().graph.nodes[item.index].name].assign(read.begin(), read.end());
    };
  }

  void run_before(std::span<const std::uint8_t> choices, std::map<std::string, std::vector<Term>>* reads = nullptr) {
    execution_.run_meaning(choices, keep(steps_, execution_, reads));
    execution_.outcome(meaning_);
  }

  void run_after(std::span<const std::uint8_t> all, std::map<std::string, std::vector<Term>>* reads = nullptr) {
    execution_after_.run_placed(schedule_, choices_after(all), schedule_.returned(), keep(steps_after_, execution_after_, reads));
    execution_after_.outcome(got_);
  }

  void blame(std::span<const std::uint8_t> choices, Judgement& j) {
    const std::vector<std::uint8_t> failing(choices.begin(), choices.end());
    std::map<std::string, std::vector<Term>> expected, got;
    run_before(std::span(failing).first(steps_.semantic_choices().size()), &expected);
    run_after(failing, &got);
    j.verdict = one_cell_ ? Verdict::undecided : Verdict::unsafe;  // the symbols of parts may differ where the cells agree
    Witness& w = j.witness.emplace();
    w.choices = describe_choices(steps_after_, choices_after(failing));
    const std::vector<std::uint8_t> live = live_nodes(before_, steps_.effects());
    for (std::size_t n = 0; n < before_.graph.nodes.size() && w.where.empty(); ++n) {
      const std::string& name = before_.graph.nodes[n].name;
      const auto other = got.find(name);
      if (live[n] && other != got.end() && expected[name].size() == other->second.size())
        note(w, "node " + name, expected[name], other->second);
    }
    if (!w.where.empty()) j.hazards.push_back({"", "", "reads_target", w.where.substr(5)});
    const auto [e, g] = std::ranges::mismatch(meaning_, got_);
    const std::string place =
        e == meaning_.end() ? "" : execution_.place_of(static_cast<std::size_t>(e - meaning_.begin()), arena_.symbols);
    if (w.where.empty() && e != meaning_.end() && g != got_.end()) w.where = place, w.expected = text(*e), w.got = text(*g);
    const std::string thing = place.substr(std::min(place.size(), place.find(' ') + 1));
    if (place.starts_with("target"))
      j.hazards.push_back({thing, value_of(thing), "writes_value", thing});
    else
      j.hazards.push_back({"", "", place.starts_with("output") ? "read_first" : "writes_target", thing});
    w.sentence = place + " differs, seen first at " + w.where;
    if (one_cell_) j.note = "with one cell a storage the runs differ at " + w.where;
  }

  /// A user output that has become a view of an input: the caller would see the next call's writes. Not by lowering, which makes
  /// such views of any program, be it done here or by the pass that is judged.
  bool blame_leak(std::span<const std::uint8_t> choices, Judgement& j) {
    const std::vector<std::uint8_t> own = choices_after(choices);
    const auto lowered = std::span(own).subspan(steps_after_.semantic_choices().size());
    if (std::ranges::any_of(lowered, [](std::uint8_t c) { return c != 0; })) return false;
    const auto semantic = choices.first(steps_.semantic_choices().size());
    for (std::size_t i = 0; i < execution_.outputs().size() && i < execution_after_.outputs().size(); ++i) {
      if (is_view_of_input(steps_, execution_, i) || !is_view_of_input(steps_after_, execution_after_, i)) continue;
      if (is_view_when_lowered(semantic, i)) continue;
      const std::string output = output_name(before_, execution_.outputs()[i].output);
      j.verdict = Verdict::unsafe;
      j.hazards.push_back({"", "", "read_first", output});
      Witness& w = j.witness.emplace();
      w.choices = describe_choices(steps_after_, own);
      w.where = "output " + output;
      w.sentence = w.where + " has become a view of an input";
      return true;
    }
    return false;
  }

  static bool is_view_of_input(const Steps& steps, const Execution<TermDomain>& execution, std::size_t output) {
    return execution.interpreter().tensor(execution.outputs()[output].leaf).storage < steps.input_storages().size();
  }

  /// Of the program before, with all lowered that can be.
  bool is_view_when_lowered(std::span<const std::uint8_t> semantic, std::size_t output) {
    std::vector<std::uint8_t> lowered(semantic.begin(), semantic.end());
    lowered.resize(semantic.size() + steps_.lowering_choices().size(), 1);
    const Schedule unmoved(before_, nothing_more(before_));
    execution_.run_placed(unmoved, lowered, unmoved.returned(), [](const Item&) {});
    const bool is_view = is_view_of_input(steps_, execution_, output);
    run_before(semantic);
    return is_view;
  }

  void note(Witness& w, const std::string& where, const std::vector<Term>& expected, const std::vector<Term>& got) const {
    const auto [e, g] = std::ranges::mismatch(expected, got);
    if (e == expected.end()) return;
    w.where = where;
    w.expected = text(*e);
    w.got = text(*g);
  }
  std::string text(Term t) const { return arena_.terms.text(t, arena_.symbols); }
  std::string value_of(const std::string& target) const {
    for (const WriteBack& w : write_backs(before_)) {
      if (before_.graph.name_of(w.target) == target) return before_.graph.name_of(w.value);
    }
    return "";
  }

  const Program& before_;
  const Program after_;
  const Limits limits_;
  Arena& arena_;
  const bool one_cell_;
  Regions& regions_;
  const Steps steps_, steps_after_;
  TermDomain domain_;
  Execution<TermDomain> execution_, execution_after_;
  const Schedule schedule_;
  std::vector<std::uint8_t> minor_;
  std::vector<std::size_t> place_of_;
  std::vector<Term> meaning_, got_;
};

}  // namespace

Judgement equivalent_as_whole(const Program& before, const Program& after, const Options& options, const Limits& limits,
                              Arena& arena) {
  require_same_interface(before, after);
  arena.clear();
  return Comparison(before, after, options, limits, arena).run();
}

}  // namespace writeback::ref
