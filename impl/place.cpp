// The steps of a placement: effects, the alias walk, bounds from nodes, the copy graph, the fewest temporaries, the least schedule;
// then the reasons, and the check that certifies the result.
#include "impl/place.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>
#include <unordered_map>
#include <unordered_set>

#include "impl/accept.h"
#include "impl/explain.h"
#include "impl/hazards.h"
#include "impl/temporaries.h"
#include "ref/graph/effects.h"
#include "ref/graph/well_formed.h"

namespace writeback::impl {
inline namespace WRITEBACK_BUILD {
namespace {

/// clone, clone_1, ... as torch.fx would name them.
std::vector<std::string> fresh_names(const Graph& graph, std::size_t count) {
  std::vector<std::string> names;
  if (count == 0) return names;
  std::unordered_set<std::string_view> used;
  for (std::size_t v = 0; v < graph.value_count(); ++v) {
    const std::string& name = graph.name_of(value_id(v));
    if (name.starts_with("clone")) used.insert(name);
  }
  for (std::size_t i = 0; names.size() < count; ++i) {
    std::string name = i == 0 ? "clone" : fmt::format("clone_{}", i);
    if (!used.contains(name)) names.push_back(std::move(name));
  }
  return names;
}

/// Solves the copy graph. Copies that stay late in spite of a temporary (sequential semantics) have no slot that suits. nullopt
/// where no order suits at all: in sequential semantics a read may have to come after a write, and yet before it under a lowering
/// choice.
std::optional<Schedule> solve(PlacementGraph& g, std::uint32_t end, std::vector<std::string>& warnings) {
  const Temporaries chosen = fewest_temporaries(g.graph, g.forced);
  if (chosen.greedy) warnings.push_back("more than 12 copies form one cycle: the number of temporaries may not be the fewest");
  std::vector<bool> cloned = chosen.cloned;
  auto schedule = least_schedule(g.graph, cloned);
  if (!schedule) return std::nullopt;
  std::vector<bool> late(g.graph.readers.size(), false);
  for (const std::uint32_t r : late_readers(g.graph, *schedule)) late[r] = true;
  bool changed = false;
  for (std::uint32_t k = 0; k < g.graph.copies.size(); ++k) {
    Writer& copy = g.graph.copies[k];
    if (!late[copy.reader]) continue;
    g.hopeless.push_back(g.write_back[k]);
    copy.earliest = end;
    cloned[copy.reader] = g.forced[copy.reader];
    changed = true;
    late[copy.reader] = g.output[copy.reader];
  }
  if (std::ranges::find(late, true) != late.end()) return std::nullopt;  // an output that is read too late
  return changed ? least_schedule(g.graph, cloned) : schedule;
}

Placement placement_from(const Program& program, const PlacementGraph& g, const Schedule& schedule, std::size_t write_backs) {
  Placement placement;
  placement.copies.resize(write_backs);
  for (PlacedCopy& copy : placement.copies) copy.in_place = true;
  std::vector<std::optional<std::uint32_t>> temporary_of(g.value.size());
  for (std::size_t r = 0; r < g.value.size(); ++r) {
    if (!schedule.temporaries[r] || (planted(Fault::cycle_without_temporary) && !g.forced[r])) continue;
    temporary_of[r] = static_cast<std::uint32_t>(placement.temporaries.size());
    placement.temporaries.push_back({{}, g.value[r], *schedule.temporaries[r]});
  }
  auto names = fresh_names(program.graph, placement.temporaries.size());
  for (std::size_t t = 0; t < names.size(); ++t) placement.temporaries[t].name = std::move(names[t]);
  for (std::size_t k = 0; k < g.write_back.size(); ++k) {
    placement.copies[g.write_back[k]] = {false, schedule.copies[k], temporary_of[g.graph.copies[k].reader]};
  }
  std::unordered_map<ValueId, std::uint32_t> read_first;
  for (std::size_t r = 0; r < g.value.size(); ++r) {
    if (g.output[r] && temporary_of[r]) read_first.emplace(g.value[r], *temporary_of[r]);
  }
  for (std::uint32_t i = 0; i < program.graph.outputs.size() && !read_first.empty(); ++i) {
    const ValueId* v = as_value(program.graph.outputs[i]);
    if (v == nullptr || (i < program.output_specs.size() && is_mutation(program.output_specs[i].kind))) continue;
    if (const auto found = read_first.find(*v); found != read_first.end())
      placement.outputs_read_first.push_back({i, found->second});
  }
  return placement;
}

/// Planted: every namespace of the program is trusted.
Options trusting_all(const Program& program, Options options) {
  for (const Target& target : program.targets) options.trusted.push_back(target.ns);
  return options;
}

/// Planted: what stands at one slot stands there in reverse order.
void reverse_slots(Placement& placement) {
  std::unordered_map<Slot, std::uint32_t> last;
  const auto for_each = [&](auto&& f) {
    for (PlacedCopy& copy : placement.copies) f(copy.at);
    for (Temporary& t : placement.temporaries) f(t.at);
  };
  for_each([&](Position& p) { last[p.slot] = std::max(last[p.slot], p.order); });
  for_each([&](Position& p) { p.order = last[p.slot] - p.order; });
}

/// A placement that its own rules refuse is a fault of this library, whatever the program.
void certify(const Problem& problem, const PlaceResult& result) {
#ifndef WRITEBACK_PLANTED
  constexpr std::uint64_t kMaxPairsChecked = 10'000'000;
  const std::uint64_t pairs = std::uint64_t{problem.program.graph.nodes.size()} * result.write_backs.size();
  if (pairs > kMaxPairsChecked) return;
  for (const Conflict& c : accept(problem.program, problem.aliases, result.write_backs, result.placement, problem.options)) {
    if (c.rule == Rule::lowering && !result.lowering_hazards.empty()) continue;
    if (!result.lowering_hazards.empty() && c.rule == Rule::deadline) continue;
    const std::string other = c.node         ? " with node %" + problem.program.graph.node(*c.node).name
                              : c.other_copy ? fmt::format(" with copy {}", *c.other_copy)
                              : c.output     ? fmt::format(" with output {}", *c.output)
                                             : "";
    throw std::logic_error(fmt::format("placement: internal error, copy {} breaks the rule {}{}", c.copy, name_of(c.rule), other));
  }
#else
  static_cast<void>(problem), static_cast<void>(result);
#endif
}

/// Where no order of the copies suits. As written the program is right with all of them at the end.
void put_all_at_the_end(const Problem& problem, const PlacementGraph& graph, const std::vector<bool>& kept, PlaceResult& result) {
  if (!problem.sequential()) throw std::logic_error("placement: internal error, a cycle of copies is left");
  result.placement = end_placement(problem.program);
  result.reasons.assign(result.write_backs.size(), Reason{Rule::lowering, {}, {}, {}});
  result.clobbered = clobbered(problem, kept);
  LoweringHazard hazard;
  hazard.copy = graph.write_back.front();
  hazard.sentence = "lowering lets a copy write what another, or an output, reads: no order of the copies suits";
  result.warnings.push_back(hazard.sentence);
  result.lowering_hazards.push_back(std::move(hazard));
}

/// The placement where the values in `returned` leave the program as they are.
PlaceResult place_where(const Program& program, const Effects& effects, const Options& options, const std::vector<bool>& returned) {
  PlaceResult result;
  result.write_backs = write_backs(program);
  const Aliases aliases = walk_aliases(program, effects, options, result.write_backs, returned);
  if (aliases.coarse)
    result.warnings.push_back("too many possible aliases: each group of values that may share storage is taken as one cell");
  Bounds bounds(aliases);
  const Problem problem{program, options, aliases, result.write_backs, bounds};

  const std::vector<bool> kept = kept_copies(problem, Targets(aliases, result.write_backs));
  PlacementGraph graph = placement_graph(problem, kept);
  const auto schedule = solve(graph, static_cast<std::uint32_t>(program.graph.nodes.size()), result.warnings);
  if (!schedule) {
    put_all_at_the_end(problem, graph, kept, result);
    return result;
  }

  result.placement = placement_from(program, graph, *schedule, kept.size());
  if (planted(Fault::slot_order_reversed)) reverse_slots(result.placement);
  if (planted(Fault::all_or_nothing) && !result.placement.temporaries.empty()) result.placement = end_placement(program);
  result.reasons = reasons(problem, graph, result.placement);
  result.clobbered = clobbered(problem, kept);
  result.lowering_hazards = lowering_hazards(problem, graph.hopeless);
  for (const LoweringHazard& hazard : result.lowering_hazards) result.warnings.push_back(hazard.sentence);
  certify(problem, result);
  return result;
}

/// Takes out of `returned` each view_copy that the placement reads first: it is no user output any more, so it too is lowered. True
/// if there is one.
bool take_out_lowered(const Program& program, const Effects& effects, const Placement& placement, std::vector<bool>& returned) {
  if (placement.outputs_read_first.empty() || planted(Fault::clone_keeps_view_copy)) return false;
  const std::vector<bool> still = user_outputs(program, &placement);
  bool any = false;
  for (std::size_t n = 0; n < program.graph.nodes.size(); ++n) {
    const std::size_t v = index_of(program.graph.result_of(node_id(n)));
    if (!returned[v] || still[v] || !effects.has(node_id(n), Trait::later_alias)) continue;
    returned[v] = false;
    any = true;
  }
  return any;
}

}  // namespace

PlaceResult place(const Program& program, const Options& options) {
  require_well_formed(program);
  const Effects effects(program, planted(Fault::custom_schema_trusted) ? trusting_all(program, options) : options);
  std::vector<bool> returned = user_outputs(program);
  PlaceResult result = place_where(program, effects, options, returned);
  // Fewer are returned each time, so this ends; more aliases only ever mean more outputs to be read first.
  while (options.lowering == Lowering::executorch && take_out_lowered(program, effects, result.placement, returned)) {
    result = place_where(program, effects, options, returned);
  }
  return result;
}

}  // namespace WRITEBACK_BUILD
}  // namespace writeback::impl
