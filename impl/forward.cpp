#include "impl/forward.h"

#include <algorithm>
#include <tuple>
#include <unordered_map>

#include "impl/placed_program.h"
#include "impl/rules.h"
#include "ref/graph/well_formed.h"

namespace writeback::impl {
inline namespace WRITEBACK_BUILD {
namespace {

class Forwarding : PlacedProgram {
 public:
  Forwarding(const Program& program, const Placement& placement, const Options& options)
      : PlacedProgram(program, placement, options) {}

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
  /// For each value the first copy of it whose target nobody writes afterwards.
  void find_copies() {
    for (std::uint32_t k = 0; k < write_backs_.size(); ++k) {
      const WriteBack& w = write_backs_[k];
      const PlacedCopy& copy = placement_.copies[k];
      const bool fits = !copy.in_place && !copy.temporary && knows_layout(w) && same_layout(w.value, w.target);
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

  bool is_spoiled(std::uint32_t k) const {
    if (planted(Fault::forwarded_past_writers)) return false;
    const WriteBack& w = write_backs_[k];
    const Position at = placement_.copies[k].at;
    for (const Touch& touch : aliases_.touches) {
      if (!touch.writes || index_of(touch.node) < index_of(at.slot)) continue;
      if (forward_spoiled_by_node(domain_, cells_of(w.value), {true, {}, cells_of(touch.cells)})) return true;
    }
    for (std::uint32_t j = 0; j < write_backs_.size(); ++j) {
      const bool later = j != k && !placement_.copies[j].in_place && at < placement_.copies[j].at;
      if (later && forward_spoiled_by_copy(domain_, target_of(k), target_of(j))) return true;
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
    return view && !planted(Fault::forwarded_into_output) && leaves_the_program(value);
  }

  std::unordered_map<ValueId, std::uint32_t> copy_of_;
};

}  // namespace

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
