// Every pair, plainly: nodes with copies, copies with copies, outputs with both, and what lowering does to nodes and inputs.
// Nothing here is clever and nothing is shared with the fast placement but the walk; what the theorems of proofs/ say, they say of
// this file.
#include "impl/accept.h"

#include <algorithm>
#include <iterator>
#include <tuple>

#include "impl/region_domain.h"
#include "impl/rules.h"
#include "impl/targets.h"
#include "ref/graph/error.h"
#include "ref/graph/well_formed.h"

namespace writeback::impl {
inline namespace WRITEBACK_BUILD {
namespace {

using Regions = RegionDomain;

/// When something happens: after so many nodes, and its order there among copies and temporaries.
struct Time {
  std::uint32_t slot = 0, order = 0;
  bool operator<(const Time& other) const { return std::tie(slot, order) < std::tie(other.slot, other.order); }
};
constexpr Time kEnd{0xffffffff, 0xffffffff};

Time time_of(Position p) { return {static_cast<std::uint32_t>(index_of(p.slot)), p.order}; }
bool before_node(Time t, NodeId n) { return t.slot <= index_of(n); }

/// A node's cells without its reads under the choices that imply `cause`.
class WithoutReads {
 public:
  WithoutReads(const Aliases& aliases, const NodeCells<Regions>& node, CauseId cause)
      : node_(node), limited_(cause != CauseId::none) {
    const auto counts = [&](const Entry& e) { return !aliases.causes.implies(e.cause, cause); };
    if (!limited_) return;
    std::ranges::copy_if(node.reads.plain, std::back_inserter(plain_), counts);
    std::ranges::copy_if(node.reads.lowered, std::back_inserter(lowered_), counts);
  }
  NodeCells<Regions> cells() const { return limited_ ? NodeCells<Regions>{node_.live, {plain_, lowered_}, node_.writes} : node_; }

 private:
  const NodeCells<Regions>& node_;
  const bool limited_;
  std::vector<Entry> plain_, lowered_;
};

class Judge {
 public:
  Judge(const Program& program, const Aliases& aliases, const std::vector<WriteBack>& write_backs, const Placement& placement,
        const Options& options)
      : program_(program),
        aliases_(aliases),
        write_backs_(write_backs),
        placement_(placement),
        domain_{aliases.regions},
        sequential_(options.semantics == Semantics::sequential) {
    for (const Touch& touch : aliases.touches) nodes_.push_back(cells_of(touch));
  }

  std::vector<Conflict> run() {
    require_complete();
    for (std::uint32_t k = 0; k < write_backs_.size(); ++k) {
      if (placement_.copies[k].in_place) {
        check_in_place(k);
      } else {
        check_copy(k);
      }
    }
    for (std::uint32_t i = 0; i < program_.graph.outputs.size(); ++i) {
      if (i < program_.output_specs.size() && is_mutation(program_.output_specs[i].kind)) continue;
      for_each_value(program_.graph.outputs[i], [&](ValueId v) { check_output(i, v); });
    }
    if (aliases_.lowered || !aliases_.rebased.empty()) check_lowering();
    return std::move(conflicts_);
  }

 private:
  using Sets = Cells<Regions>;

  Sets cells_of(SetId id) const { return {aliases_.sets.plain(id), aliases_.sets.lowered(id)}; }
  Sets cells_of(ValueId v) const { return cells_of(aliases_.cells[index_of(v)]); }
  NodeCells<Regions> cells_of(const Touch& touch) const {
    const Sets none, some = cells_of(touch.cells);
    return {true, touch.reads ? some : none, touch.writes ? some : none};  // reads of dead nodes are not listed
  }
  Regions::Set target_of(std::uint32_t k) const { return aliases_.entries(write_backs_[k].target); }
  bool after_birth(ValueId v, NodeId n) const { return index_of(n) >= aliases_.birth[index_of(v)]; }

  Time write_time(std::uint32_t k) const { return time_of(placement_.copies[k].at); }
  Time read_time(std::uint32_t k) const {
    const auto& temporary = placement_.copies[k].temporary;
    return temporary ? time_of(placement_.temporaries[*temporary].at) : write_time(k);
  }

  /// The placement is one of this program: a position a copy, temporaries of the right values, one event a position.
  void require_complete() {
    const auto refuse = [](const std::string& what) { throw InputError("placement", what); };
    if (placement_.copies.size() != write_backs_.size()) refuse("must place each write-back once");
    std::vector<Position> positions;
    for (const Temporary& t : placement_.temporaries) {
      if (index_of(t.of) >= program_.graph.value_count()) refuse("a temporary of a value that does not exist");
      positions.push_back(t.at);
    }
    for (std::uint32_t k = 0; k < write_backs_.size(); ++k) {
      const PlacedCopy& copy = placement_.copies[k];
      if (copy.in_place) continue;
      positions.push_back(copy.at);
      if (!copy.temporary) continue;
      if (*copy.temporary >= placement_.temporaries.size()) refuse("a copy reads a temporary that does not exist");
      if (placement_.temporaries[*copy.temporary].of != write_backs_[k].value) refuse("a copy reads a temporary of another value");
      if (!(read_time(k) < write_time(k))) report(k, Rule::copy_reads).other_copy = k;
    }
    for (const OutputReadFirst& o : placement_.outputs_read_first) {
      const bool fits = o.output < program_.graph.outputs.size() && o.temporary < placement_.temporaries.size() &&
                        program_.graph.outputs[o.output] == Argument(placement_.temporaries[o.temporary].of);
      if (!fits) refuse("an output reads a temporary of another value");
    }
    std::ranges::sort(positions);
    if (std::ranges::adjacent_find(positions) != positions.end()) refuse("two events at one position");
    if (!positions.empty() && index_of(positions.back().slot) > program_.graph.nodes.size()) refuse("a slot after the last node");
  }

  Conflict& report(std::uint32_t copy, Rule rule) {
    Conflict conflict;
    conflict.copy = copy;
    conflict.rule = rule;
    return conflicts_.emplace_back(conflict);
  }
  Conflict& report_output(std::uint32_t output, Rule rule) {
    Conflict& conflict = report(0, rule);
    conflict.output = output;
    return conflict;
  }

  /// f(node, touched cells) for every operand that a node touches.
  template <typename F>
  void for_each_touch(F&& f) const {
    for (std::size_t i = 0; i < nodes_.size(); ++i) f(aliases_.touches[i].node, nodes_[i]);
  }

  /// Where the read of a value stands wrongly to a node, report(node, rule).
  template <typename F>
  void check_read(ValueId v, Time time, F&& wrong) const {
    const Sets value = cells_of(v);
    const std::uint32_t settled = aliases_.settled[index_of(v)];
    if (settled > time.slot && read_after_node(domain_, value, {}, true)) wrong(node_id(settled - 1), Rule::computes_value);
    for_each_touch([&](NodeId n, const NodeCells<Regions>& node) {
      const bool before = before_node(time, n);
      if (before && read_after_node(domain_, value, node, false)) wrong(n, Rule::writes_value);
      if (!before && read_before_node(domain_, value, node, after_birth(v, n))) wrong(n, Rule::deadline);
    });
  }

  void check_copy(std::uint32_t k) {
    const WriteBack& w = write_backs_[k];
    check_read(w.value, read_time(k), [&](NodeId n, Rule rule) { report(k, rule).node = n; });
    if (aliases_.settled[index_of(w.target)] > write_time(k).slot) {
      report(k, Rule::writes_target).node = node_id(aliases_.settled[index_of(w.target)] - 1);
    }
    // Once lowering has changed the value, a copy of what it was before changes what readers of the target see.
    CauseId unless = cause_of_being_target(program_, aliases_, w);
    for_each_touch([&](NodeId n, const NodeCells<Regions>& node) {
      const bool wrong = write_after_node(domain_, target_of(k), WithoutReads(aliases_, node, unless).cells());
      if (read_before_node(domain_, cells_of(w.value), node, after_birth(w.value, n))) unless = CauseId::none;
      if (!before_node(write_time(k), n) || !wrong) return;
      const bool writes = !node.writes.plain.empty() || !node.writes.lowered.empty();
      report(k, writes ? Rule::writes_target : Rule::reads_target).node = n;
    });
    const std::vector<Entry> beside = beside_target(program_, aliases_, w);
    const auto lowered = std::ranges::find_if(beside, &Entry::lowered);
    const Sets beside_cells{{beside.begin(), lowered}, {lowered, beside.end()}};
    if (!placement_.copies[k].temporary && must_use_temporary(domain_, beside_cells, target_of(k))) {
      report(k, Rule::copy_reads).other_copy = k;
    }
    for (std::uint32_t j = 0; j < write_backs_.size(); ++j) {
      if (j != k && !placement_.copies[j].in_place) check_pair(k, j);
    }
  }

  /// The read of copy k against the write of copy j, and both writes.
  void check_pair(std::uint32_t k, std::uint32_t j) {
    const Sets value = cells_of(write_backs_[k].value);
    if (read_before_write(domain_, value, target_of(j), k < j, sequential_) && !(read_time(k) < write_time(j))) {
      report(j, Rule::copy_reads).other_copy = k;
    }
    if (read_after_write(domain_, value, target_of(j), k < j, sequential_) && !(write_time(j) < read_time(k))) {
      report(k, Rule::copy_writes).other_copy = j;
    }
    if (k < j && write_before_write(domain_, target_of(k), target_of(j)) && !(write_time(k) < write_time(j))) {
      report(j, Rule::copy_writes).other_copy = k;
    }
  }

  void check_in_place(std::uint32_t k) {
    const WriteBack& w = write_backs_[k];
    if (must_be_copied(domain_, is_target(program_, aliases_, w))) report(k, Rule::in_place);
    for (std::uint32_t j = 0; j < k; ++j) {
      if (!placement_.copies[j].in_place && must_be_copied_after(domain_, target_of(k), target_of(j))) {
        report(k, Rule::in_place).other_copy = j;
      }
    }
    for_each_touch([&](NodeId n, const NodeCells<Regions>& node) {
      if (must_be_copied_before(domain_, cells_of(w.value), node, after_birth(w.value, n))) report(k, Rule::in_place).node = n;
    });
  }

  void check_output(std::uint32_t i, ValueId v) {
    const auto first = std::ranges::find(placement_.outputs_read_first, i, &OutputReadFirst::output);
    const bool read_first = first != placement_.outputs_read_first.end();
    const Time time = read_first ? time_of(placement_.temporaries[first->temporary].at) : kEnd;
    check_read(v, time, [&](NodeId n, Rule rule) { report_output(i, rule == Rule::deadline ? Rule::lowering : rule).node = n; });
    for (std::uint32_t k = 0; k < write_backs_.size(); ++k) {
      if (placement_.copies[k].in_place) continue;
      const bool first_wanted = output_before_write(domain_, cells_of(v), target_of(k), sequential_);
      const bool last_wanted = output_after_write(domain_, cells_of(v), target_of(k), sequential_);
      const bool is_first = time < write_time(k);
      if (is_first ? last_wanted : first_wanted) {
        Conflict& conflict = report_output(i, Rule::read_first);
        conflict.copy = conflict.other_copy.emplace(k);
      }
    }
  }

  /// Node with node, and node with input: what no placement can mend.
  void check_lowering() {
    for (std::size_t writer = 0; writer < nodes_.size(); ++writer) {
      if (!aliases_.touches[writer].writes) continue;
      const NodeId m = aliases_.touches[writer].node;
      for (const Touch& touch : aliases_.touches) {
        // The elements of a list are written one after the other: each can see what lowering let the one before it write.
        const bool earlier =
            m < touch.node || (m == touch.node && aliases_.writes_several(m) && &touch != &aliases_.touches[writer]);
        const bool between = after_birth(touch.value, m) && earlier;
        if (node_sees_lowering(domain_, touch.reads, cells_of(touch.value), nodes_[writer], between)) {
          report(0, Rule::lowering).node = touch.node;
        }
      }
      for (const RebasedRead& read : aliases_.rebased) {
        const bool between = after_birth(read.link, m) && m < read.node;
        if (rebased_read(domain_, true, cells_of(read.chain), nodes_[writer], between)) report(0, Rule::lowering).node = read.node;
      }
      for (std::size_t i = 0; i < program_.graph.placeholders.size(); ++i) {
        if (!restored(value_id(i)) && input_sees_lowering(domain_, aliases_.entries(value_id(i)), nodes_[writer])) {
          report(0, Rule::lowering).node = m;
        }
      }
    }
  }

  /// A write-back writes the input as a whole.
  bool restored(ValueId input) const {
    const auto entries = aliases_.entries(input);
    return std::ranges::any_of(write_backs_, [&](const WriteBack& w) {
      const auto target = aliases_.entries(w.target);
      return w.target == input || (!entries.empty() && !target.empty() && entries[0].storage == target[0].storage &&
                                   aliases_.regions.same(entries[0].region, target[0].region));
    });
  }

  const Program& program_;
  const Aliases& aliases_;
  const std::vector<WriteBack>& write_backs_;
  const Placement& placement_;
  const Regions domain_;
  const bool sequential_;
  std::vector<NodeCells<Regions>> nodes_;  ///< per touch
  std::vector<Conflict> conflicts_;
};

}  // namespace

std::vector<Conflict> accept(const Program& program, const Aliases& aliases, const std::vector<WriteBack>& write_backs,
                             const Placement& placement, const Options& options) {
  return Judge(program, aliases, write_backs, placement, options).run();
}

std::vector<Conflict> accept(const Program& program, const Placement& placement, const Options& options) {
  require_well_formed(program);
  const std::vector<WriteBack> back = write_backs(program);
  const Effects effects(program, options);
  return accept(program, walk_aliases(program, effects, options, back, user_outputs(program, &placement)), back, placement,
                options);
}

}  // namespace WRITEBACK_BUILD
}  // namespace writeback::impl
