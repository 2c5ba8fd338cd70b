#include "impl/coalesce.h"

#include <algorithm>
#include <optional>

#include "impl/placed_program.h"
#include "impl/rules.h"
#include "impl/targets.h"
#include "ref/graph/cellwise.h"
#include "ref/graph/well_formed.h"

namespace writeback::impl {
inline namespace WRITEBACK_BUILD {
namespace {

class Coalescing : PlacedProgram {
 public:
  Coalescing(const Program& program, const Placement& placement, const Options& options)
      : PlacedProgram(program, placement, options) {}

  std::vector<Coalesced> run() const {
    std::vector<Coalesced> found;
    for (std::uint32_t k = 0; k < write_backs_.size() && !aliases_.coarse; ++k) {
      const std::optional<NodeId> birth = birth_of(k);
      if (birth && !is_spoiled(k, *birth)) found.push_back({k, *birth});
    }
    return found;
  }

 private:
  /// The node that makes the value, as one fresh tensor that could as well be the target.
  std::optional<NodeId> birth_of(std::uint32_t k) const {
    const WriteBack& w = write_backs_[k];
    const PlacedCopy& copy = placement_.copies[k];
    const ValueId first = aliases_.tensor[index_of(w.value)];
    if (copy.in_place || copy.temporary || program_.graph.is_placeholder(first)) return std::nullopt;
    const NodeId n = program_.graph.producer_of(first);
    const auto results = effects_.results(n);
    const auto entries = aliases_.entries(first);
    const bool fresh = results.size() == 1 && results[0].kind == ResultKind::fresh && !results[0].list && entries.size() == 1 &&
                       !entries[0].lowered();
    const bool plain = !effects_.has(n, Trait::opaque) && !effects_.has(n, Trait::subgraph) && !effects_.has(n, Trait::later_alias);
    const bool fits = same_layout(first, w.target) && same_layout(w.value, w.target);
    const bool keeps_geometry = aliases_.settled[index_of(first)] == index_of(n) + 1 && aliases_.settled[index_of(w.target)] == 0;
    return fresh && plain && fits && keeps_geometry ? std::optional(n) : std::nullopt;
  }

  bool is_spoiled(std::uint32_t k, NodeId birth) const {
    return spoiled_by_operands(k, birth) || spoiled_by_nodes(k, birth) || spoiled_by_copies(k, birth) ||
           spoiled_by_outputs(k, birth);
  }

  bool spoiled_by_operands(std::uint32_t k, NodeId birth) const {
    const ValueId target = write_backs_[k].target;
    return std::ranges::any_of(effects_.operands(birth), [&](const OperandEffect& o) {
      if (o.reads && is_rebound_after(birth, o.value)) return true;
      const bool exact = planted(Fault::born_over_part) || is_target(program_, aliases_, {0, target, o.value});
      const bool cellwise = planted(Fault::born_by_any_op) || reads_cell_by_cell(program_, birth, o.value);
      return o.writes || (o.reads && birth_spoiled_by_operand(domain_, target_of(k), cells_of(o.value), exact && cellwise));
    });
  }

  /// What is known of its region is what it has in the end, and not what the node reads.
  bool is_rebound_after(NodeId n, ValueId v) const { return aliases_.settled[index_of(v)] > index_of(n); }

  bool spoiled_by_nodes(std::uint32_t k, NodeId birth) const {
    const Sets value = cells_of(write_backs_[k].value), none;
    return std::ranges::any_of(aliases_.touches, [&](const Touch& touch) {
      const bool reads = touch.reads && !planted(Fault::born_before_readers);
      const Sets cells = cells_of(touch.cells);
      const NodeCells<Regions> node{true, reads ? cells : none, touch.writes ? cells : none};
      return birth < touch.node && birth_spoiled_by_node(domain_, target_of(k), value, node);
    });
  }

  bool is_after(Position p, NodeId birth) const { return index_of(p.slot) > index_of(birth); }

  bool spoiled_by_copies(std::uint32_t k, NodeId birth) const {
    for (std::uint32_t j = 0; j < write_backs_.size(); ++j) {
      if (j == k) continue;
      const PlacedCopy& copy = placement_.copies[j];
      const ValueId value = write_backs_[j].value;
      const bool same = aliases_.tensor[index_of(value)] == aliases_.tensor[index_of(write_backs_[k].value)];
      if (same && !planted(Fault::born_for_two)) return true;
      if (birth_spoiled_by_copy(domain_, target_of(k), target_of(j))) return true;
      const bool reads = !copy.in_place && !copy.temporary && is_after(copy.at, birth) && !planted(Fault::born_before_copies);
      if (reads && birth_spoiled_by_read(domain_, target_of(k), cells_of(value))) return true;
    }
    return std::ranges::any_of(placement_.temporaries, [&](const Temporary& t) {
      return is_after(t.at, birth) && birth_spoiled_by_read(domain_, target_of(k), cells_of(t.of));
    });
  }

  bool spoiled_by_outputs(std::uint32_t k, NodeId birth) const {
    bool reads_old = false;
    for (std::uint32_t i = 0; i < program_.graph.outputs.size(); ++i) {
      if (is_mutation(program_.output_specs[i].kind) || is_read_before(i, birth) || planted(Fault::born_before_copies)) continue;
      for_each_value(program_.graph.outputs[i],
                     [&](ValueId v) { reads_old = reads_old || birth_spoiled_by_read(domain_, target_of(k), cells_of(v)); });
    }
    return reads_old || leaves_the_program(write_backs_[k].value);
  }

  bool is_read_before(std::uint32_t output, NodeId birth) const {
    const auto first = std::ranges::find(placement_.outputs_read_first, output, &OutputReadFirst::output);
    return first != placement_.outputs_read_first.end() && !is_after(placement_.temporaries[first->temporary].at, birth);
  }
};

}  // namespace

std::vector<Coalesced> coalescible(const Program& program, const Placement& placement, const Options& options) {
  require_well_formed(program);
  return Coalescing(program, placement, options).run();
}

Rewritten rewrite(const Program& program, const Placement& placement, Savings savings, const Options& options,
                  const std::vector<std::string>& comments) {
  Rewritten result;
  if (savings.coalesce) result.births = coalescible(program, placement, options);
  Placement left = placement;
  for (const Coalesced& c : result.births) left.copies[c.copy].in_place = true;
  if (savings.forward) result.readers = forwardable(program, left, options);
  result.program = with_forwarded_readers(program, left, result.readers, comments);
  const std::vector<WriteBack> all = write_backs(program);
  for (const Coalesced& c : result.births) {
    const auto born = find_value(result.program.graph, program.graph.node(c.node).name);
    const NodeId node = result.program.graph.producer_of(*born);
    const bool again = std::ranges::find(result.program.births, node, &Birth::node) != result.program.births.end();
    if (!again) result.program.births.push_back({node, all[c.copy].target});
    result.program.graph.nodes[index_of(node)].metadata["born_in"] = program.graph.name_of(all[c.copy].target);
  }
  return result;
}

}  // namespace WRITEBACK_BUILD
}  // namespace writeback::impl
