#include "impl/forward.h"

#include <algorithm>
#include <tuple>
#include <unordered_map>

#include "impl/region_domain.h"
#include "impl/rules.h"
#include "ref/graph/effects.h"
#include "ref/graph/region.h"
#include "ref/graph/view_geometry.h"
#include "ref/graph/well_formed.h"

namespace writeback::impl {
inline namespace WRITEBACK_BUILD {
namespace {

class Forwarding {
 public:
  Forwarding(const Program& program, const Placement& placement, const Options& options)
      : program_(program),
        placement_(placement),
        effects_(program, options),
        write_backs_(write_backs(program)),
        aliases_(aliases_with_values(program, effects_, options, write_backs_, placement)) {}

  std::vector<Forwarded> run() {
    find_copies();
    std::vector<Forwarded> found;
    for (std::size_t n = 0; n < program_.graph.nodes.size(); ++n) {
      if (is_left_alone(node_id(n))) continue;
      for (const OperandEffect& operand : effects_.operands(node_id(n))) {
        const auto copy = copy_of_.find(operand.value);
        if (copy == copy_of_.end() || index_of(placement_.copies[copy->second].at.slot) > n) continue;
        if (views_an_output(node_id(n), operand.value)) continue;
        const Forwarded use{copy->second, node_id(n)};
        if (found.empty() || !(found.back() == use)) found.push_back(use);
      }
    }
    return found;
  }

 private:
  using Regions = RegionDomain;

  /// For each value the first copy of it whose target nobody writes afterwards.
  void find_copies() {
    for (std::uint32_t k = 0; k < write_backs_.size(); ++k) {
      const WriteBack& w = write_backs_[k];
      const PlacedCopy& copy = placement_.copies[k];
      const bool fits = !copy.in_place && !copy.temporary && knows_layout(w) && same_layout(program_, w.value, w.target);
      if (!fits || is_spoiled(k)) continue;
      const auto [at, fresh] = copy_of_.emplace(w.value, k);
      if (!fresh && copy.at < placement_.copies[at->second].at) at->second = k;
    }
  }

  /// The value is all of a storage, in the order that its metadata tell, for good; and so is the target. (A view may have any
  /// strides where none are told, and `as_strided` reads of its storage what is not in it.)
  bool knows_layout(const WriteBack& w) const {
    const ValueId first = aliases_.tensor[index_of(w.value)];
    if (program_.graph.is_placeholder(first) || aliases_.settled[index_of(w.target)] != 0) return false;
    const NodeId n = program_.graph.producer_of(first);
    if (aliases_.settled[index_of(first)] != index_of(n) + 1) return false;  // an op changed it in place
    const auto results = effects_.results(n);
    const bool fresh = std::ranges::all_of(results, [](const ResultEffect& r) { return r.kind == ResultKind::fresh; });
    return fresh || planted(Fault::forwarded_across_strides);
  }

  Cells<Regions> cells_of(ValueId v) const {
    const SetId id = aliases_.cells[index_of(v)];
    return {aliases_.sets.plain(id), aliases_.sets.lowered(id)};
  }

  bool is_spoiled(std::uint32_t k) const {
    if (planted(Fault::forwarded_past_writers)) return false;
    const Regions domain{aliases_.regions};
    const WriteBack& w = write_backs_[k];
    const Position at = placement_.copies[k].at;
    const Regions::Set target = aliases_.entries(w.target);
    for (const Touch& touch : aliases_.touches) {
      if (!touch.writes || index_of(touch.node) < index_of(at.slot)) continue;
      const Cells<Regions> cells{aliases_.sets.plain(touch.cells), aliases_.sets.lowered(touch.cells)};
      if (forward_spoiled_by_node(domain, cells_of(w.value), {true, {}, cells})) return true;
    }
    for (std::uint32_t j = 0; j < write_backs_.size(); ++j) {
      const bool later = j != k && !placement_.copies[j].in_place && at < placement_.copies[j].at;
      if (later && forward_spoiled_by_copy(domain, target, aliases_.entries(write_backs_[j].target))) return true;
    }
    return false;
  }

  /// Nodes that may do more with a tensor than read its cells now.
  bool is_left_alone(NodeId n) const {
    return effects_.has(n, Trait::opaque) || effects_.has(n, Trait::subgraph) || effects_.has(n, Trait::rebinds) ||
           effects_.shares_allocation_of(n) >= 0 ||
           std::ranges::any_of(effects_.operands(n), [](const OperandEffect& o) { return o.writes; });
  }

  /// The result is a view, or becomes one, and a view of the value leaves the program: it would then be a view of the state. (Which
  /// view it is does not matter: the value lives to the end anyway.)
  bool views_an_output(NodeId n, ValueId value) const {
    const bool view = effects_.has(n, Trait::later_alias) || std::ranges::any_of(effects_.results(n), [](const ResultEffect& r) {
                        return r.kind == ResultKind::alias || r.kind == ResultKind::may_alias;
                      });
    return view && !planted(Fault::forwarded_into_output) && leaves_the_program(program_, aliases_, value);
  }

  const Program& program_;
  const Placement& placement_;
  const Effects effects_;
  const std::vector<WriteBack> write_backs_;
  const Aliases aliases_;
  std::unordered_map<ValueId, std::uint32_t> copy_of_;
};

/// Some part of another input's storage: its metadata do not tell which.
bool lies_in_another(const Program& program, ValueId input) {
  return std::ranges::any_of(program.alias_groups, [&](const std::vector<AliasMember>& group) {
    return std::ranges::any_of(group, [&](const AliasMember& m) { return m.value == input && m.geometry; });
  });
}

}  // namespace

Aliases aliases_with_values(const Program& program, const Effects& effects, const Options& options,
                            const std::vector<WriteBack>& write_backs, const Placement& placement) {
  std::vector<WriteBack> followed = write_backs;
  for (const WriteBack& w : write_backs) followed.push_back({w.output, w.value, w.value});
  return walk_aliases(program, effects, options, followed, user_outputs(program, &placement));
}

bool leaves_the_program(const Program& program, const Aliases& aliases, ValueId value) {
  const auto cells_of = [&](ValueId v) {
    const SetId id = aliases.cells[index_of(v)];
    return Cells<RegionDomain>{aliases.sets.plain(id), aliases.sets.lowered(id)};
  };
  bool seen = false;
  for (std::size_t i = 0; i < program.graph.outputs.size(); ++i) {
    if (is_mutation(program.output_specs[i].kind)) continue;
    for_each_value(program.graph.outputs[i],
                   [&](ValueId v) { seen = seen || seen_by_output(RegionDomain{aliases.regions}, cells_of(value), cells_of(v)); });
  }
  return seen;
}

bool same_layout(const Program& program, ValueId value, ValueId target) {
  const TensorMeta *a = tensor_meta(program.graph.meta_of(value)), *b = tensor_meta(program.graph.meta_of(target));
  if (a == nullptr || b == nullptr || a->dtype != b->dtype || a->sizes != b->sizes) return false;
  if (planted(Fault::forwarded_across_strides)) return true;
  if (a->storage_offset != b->storage_offset || lies_in_another(program, target)) return false;
  return (a->strides && a->strides == b->strides) || (has_contiguous_strides(*a) && has_contiguous_strides(*b));
}

std::vector<Forwarded> forwardable(const Program& program, const Placement& placement, const Options& options) {
  require_well_formed(program);
  return Forwarding(program, placement, options).run();
}

Program with_forwarded_readers(const Program& program, const Placement& placement, const std::vector<Forwarded>& readers,
                               const std::vector<std::string>& comments) {
  Program placed = with_explicit_copies(program, placement, comments);
  const std::vector<WriteBack> all = write_backs(program);
  std::unordered_map<std::string_view, std::size_t> node_named;
  for (std::size_t n = 0; n < placed.graph.nodes.size(); ++n) node_named.emplace(placed.graph.nodes[n].name, n);
  for (const Forwarded& f : readers) {
    const ValueId* copy = as_value(placed.graph.outputs[all[f.copy].output]);
    const auto reader = node_named.find(program.graph.node(f.node).name);
    const auto value = node_named.find(program.graph.name_of(all[f.copy].value));
    if (copy == nullptr || reader == node_named.end() || value == node_named.end()) continue;
    const ValueId from = placed.graph.result_of(node_id(value->second));
    const auto redirect = [&](ValueId& v) { v = v == from ? *copy : v; };
    Node& node = placed.graph.nodes[reader->second];
    for (Argument& a : node.args) for_each_value_mut(a, redirect);
    for (KeywordArgument& a : node.kwargs) for_each_value_mut(a.value, redirect);
  }
  return placed;
}

}  // namespace WRITEBACK_BUILD
}  // namespace writeback::impl
