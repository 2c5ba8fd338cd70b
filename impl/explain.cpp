#include "impl/explain.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_set>

namespace writeback::impl {
inline namespace WRITEBACK_BUILD {
namespace {

/// Alias chains.
class Chains {
 public:
  explicit Chains(const Aliases& aliases) : aliases_(aliases) {}

  /// The values from `from`, itself left out, to `to`, itself included: up to what both are views of, and down again.
  std::vector<ValueId> path(ValueId from, ValueId to) const {
    if (from == to) return {};
    const std::vector<ValueId> up = bases(from), down = bases(to);
    std::vector<ValueId> result;
    const std::unordered_set<ValueId> above(down.begin(), down.end());
    auto meeting = std::ranges::find_if(up, [&](ValueId v) { return above.contains(v); });
    for (auto i = up.begin(); i != meeting; ++i) {
      if (*i != from) result.push_back(*i);
    }
    const ValueId top = meeting == up.end() ? ValueId{kPlain} : *meeting;
    if (meeting != up.end() && top != from) result.push_back(top);
    const auto start = std::ranges::find(down, top);  // the end where they have no value in common, only a storage
    for (auto i = std::make_reverse_iterator(start); i != down.rend(); ++i) result.push_back(*i);
    if (planted(Fault::step_of_chain_skipped) && result.size() > 1) result.erase(result.begin());
    return result;
  }

 private:
  /// v, its base, the base of that, ...
  std::vector<ValueId> bases(ValueId v) const {
    std::vector<ValueId> result{v};
    while (aliases_.base[index_of(result.back())] != result.back()) result.push_back(aliases_.base[index_of(result.back())]);
    return result;
  }

  const Aliases& aliases_;
};

class Explainer {
 public:
  Explainer(const Problem& problem, const PlacementGraph& graph, const Placement& placement)
      : problem_(problem),
        graph_(graph),
        placement_(placement),
        chains_(problem.aliases),
        held_by_(graph.graph.copies.size()),
        overwritten_by_(held_by_) {
    for (std::uint32_t k = 0; k < graph.graph.copies.size(); ++k) {
      for (const std::uint32_t j : graph.graph.copies[k].before) overwritten_by_[j].push_back(k);
    }
    for (std::uint32_t r = 0; r < graph.graph.readers.size(); ++r) {
      for (const std::uint32_t j : graph.graph.readers[r].before) held_by_[j].push_back(r);
    }
    readers_copies_.resize(graph.graph.readers.size());
    for (std::uint32_t k = 0; k < graph.graph.copies.size(); ++k) readers_copies_[graph.graph.copies[k].reader].push_back(k);
  }

  std::vector<Reason> run() {
    std::vector<Reason> result(problem_.write_backs.size());
    for (std::size_t w = 0; w < result.size(); ++w) {
      if (placement_.copies[w].in_place) result[w] = in_place(problem_.write_backs[w].value);
    }
    for (std::uint32_t k = 0; k < graph_.write_back.size(); ++k) result[graph_.write_back[k]] = reason_of(k);
    for (const std::uint32_t w : graph_.hopeless) result[w] = hopeless(problem_.write_backs[w].value);
    return result;
  }

 private:
  Position at(std::uint32_t k) const { return placement_.copies[graph_.write_back[k]].at; }

  Reason in_place(ValueId v) const {
    Reason reason{.rule = Rule::in_place, .node = {}, .copy = {}, .via = {}};
    if (!problem_.program.graph.is_placeholder(v)) reason.node = problem_.program.graph.producer_of(v);
    return reason;
  }

  Reason hopeless(ValueId v) const { return from_bound(*problem_.bounds.deadline(v), v, Rule::lowering); }

  Reason from_bound(const Bound& bound, ValueId from, Rule rule) const {
    Reason reason{.rule = rule, .node = bound.node, .copy = {}, .via = {}};
    if (planted(Fault::rule_misnamed) && rule == Rule::reads_target) reason.rule = Rule::writes_target;
    if (bound.touch) reason.via = chains_.path(from, problem_.aliases.touches[*bound.touch].value);
    return reason;
  }

  Reason reason_of(std::uint32_t k) const {
    const WriteBack& w = problem_.write_backs[graph_.write_back[k]];
    const Bound read = problem_.bounds.earliest_read(w.value), write = problem_.earliest_write(w);
    const Bound& bound = stronger(read, write);
    const auto slot = static_cast<std::uint32_t>(index_of(at(k).slot));
    if (slot == 0) return {};
    if (bound.slot == slot) return from_bound(bound, &bound == &read ? w.value : w.target, bound.rule);
    return reason_among_copies(k, slot);
  }

  /// Another copy, or the first read of an output, at the same slot.
  Reason reason_among_copies(std::uint32_t k, std::uint32_t slot) const {
    const auto here = [&](Position p) { return index_of(p.slot) == slot; };
    for (const std::uint32_t r : held_by_[k]) {
      for (const std::uint32_t j : readers_copies_[r]) {
        if (j == k) continue;
        const auto& temporary = placement_.copies[graph_.write_back[j]].temporary;
        if (here(temporary ? placement_.temporaries[*temporary].at : at(j))) return of_copy(Rule::copy_reads, j);
      }
    }
    for (const std::uint32_t j : overwritten_by_[k]) {
      if (here(at(j))) return of_copy(Rule::copy_writes, j);
    }
    for (const std::uint32_t j : graph_.graph.readers[graph_.graph.copies[k].reader].after) {
      if (j != k && here(at(j))) return of_copy(Rule::copy_writes, j);
    }
    for (const std::uint32_t r : held_by_[k]) {
      const Bound bound = problem_.bounds.earliest_read(graph_.value[r]);
      if (!graph_.output[r] || bound.slot != slot) continue;
      return {.rule = Rule::read_first, .node = bound.node, .copy = {}, .via = {graph_.value[r]}};
    }
    return {};
  }

  Reason of_copy(Rule rule, std::uint32_t k) const { return {.rule = rule, .node = {}, .copy = graph_.write_back[k], .via = {}}; }

  const Problem& problem_;
  const PlacementGraph& graph_;
  const Placement& placement_;
  const Chains chains_;
  std::vector<std::vector<std::uint32_t>> held_by_;         ///< per copy: the readers that come before its write
  std::vector<std::vector<std::uint32_t>> overwritten_by_;  ///< per copy: the copies whose writes come before its write
  std::vector<std::vector<std::uint32_t>> readers_copies_;  ///< per reader: the copies that read it
};

std::string list(const Program& program, const std::vector<ValueId>& values) {
  std::string text;
  for (const ValueId v : values) text += (text.empty() ? "%" : ", %") + program.graph.name_of(v);
  return text;
}

bool is_view_copy(const Program& program, ValueId v) {
  return !program.graph.is_placeholder(v) && program.target(program.graph.producer_of(v)).name == "view_copy";
}

/// "%w, a later alias of %b_a by way of %v": the operand through which a node touches the cells of `owner`, and the chain to it.
std::string touched(const Program& program, const Reason& reason, const std::string& owner) {
  if (reason.via.empty()) return owner;
  std::vector<ValueId> between = reason.via;
  const std::string operand = list(program, {between.back()});
  const bool later = std::ranges::any_of(between, [&](ValueId v) { return is_view_copy(program, v); });
  between.pop_back();
  return fmt::format("{}, {} {}{}{}", operand, later ? "a later alias of" : "which can lie in", owner,
                     between.empty() ? "" : " by way of ", list(program, between));
}

}  // namespace

std::vector<Reason> reasons(const Problem& problem, const PlacementGraph& graph, const Placement& placement) {
  return Explainer(problem, graph, placement).run();
}

std::string sentence(const Program& program, const PlaceResult& result, std::uint32_t copy) {
  const Reason& reason = result.reasons[copy];
  const WriteBack& w = result.write_backs[copy];
  const std::string target = "%" + program.graph.name_of(w.target), value = "%" + program.graph.name_of(w.value);
  const std::string node = reason.node ? "%" + program.graph.node(*reason.node).name : std::string();
  std::string other;
  if (reason.copy) {
    const WriteBack& o = result.write_backs[*reason.copy];
    other = fmt::format("the copy %{} <- %{}", program.graph.name_of(o.target), program.graph.name_of(o.value));
  }
  switch (reason.rule) {
    case Rule::start:
      return "nothing holds it back";
    case Rule::computes_value:
      return node == value ? value + " is computed" : node + " computes " + value;
    case Rule::reads_target:
      return node + " reads " + touched(program, reason, target);
    case Rule::writes_target:
      return node + " writes " + touched(program, reason, target);
    case Rule::writes_value:
      return node + " writes " + touched(program, reason, value);
    case Rule::deadline:
      return value + " is read before " + node + " changes it";
    case Rule::copy_reads:
      return other + " reads " + target + " and comes first";
    case Rule::copy_writes:
      return other + " writes the same cells and comes first";
    case Rule::read_first:
      return "the output " + list(program, reason.via) + " can lie in " + target + " and is read first";
    case Rule::in_place:
      return value + " already is " + target;
    case Rule::lowering:
      if (!reason.node) return "no order of the copies suits once the program is lowered";
      return "no place is safe: " + node + " reaches " + value + " by lowering, and " + value + " is written after it";
  }
  return "";
}

}  // namespace WRITEBACK_BUILD
}  // namespace writeback::impl
