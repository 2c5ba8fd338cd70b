// Conflicts storage by storage, for all choices at once: one pass that joins whatever may share a storage. It answers for programs
// with more choices than can be enumerated, a network with thousands of view_copy nodes say. It errs on one side: parts of one
// storage that never meet are taken to overlap.
#include <algorithm>
#include <numeric>

#include "ref/conflicts.h"

namespace writeback::ref {
namespace {

/// Leaves by the storage that they may share.
class Classes {
 public:
  explicit Classes(std::size_t leaves) : parent_(leaves) { std::iota(parent_.begin(), parent_.end(), 0u); }
  std::uint32_t of(std::uint32_t leaf) {
    while (parent_[leaf] != leaf) leaf = parent_[leaf] = parent_[parent_[leaf]];
    return leaf;
  }
  void join(std::uint32_t a, std::uint32_t b) { parent_[of(a)] = of(b); }

 private:
  std::vector<std::uint32_t> parent_;
};

class Coarse {
 public:
  Coarse(const Steps& steps, Regions& regions, Semantics semantics)
      : steps_(steps),
        regions_(regions),
        truly_(steps.leaf_count()),
        lowered_(steps.leaf_count()),
        live_(live_nodes(steps.program(), steps.effects())),
        found_(no_conflicts(steps, semantics)) {}

  std::optional<Conflicts> run() {
    join_inputs();
    for (const Step& s : steps_.steps()) join(s);
    for (const Step& s : steps_.steps()) {
      if (!look_at(s)) return std::nullopt;
    }
    for (Source& s : found_.sources) {
      for (std::size_t j = 0; j < found_.copies.size(); ++j) {
        s.overlaps[j] = meets(s.leaf, found_.copies[j].target_leaf);
        s.lowered_overlaps[j] = s.overlaps[j] && truly_.of(s.leaf) != truly_.of(found_.copies[j].target_leaf);
      }
    }
    for (CopyConflicts& c : found_.copies) {
      for (std::size_t j = 0; j < found_.copies.size(); ++j) c.same_cells[j] = meets(c.target_leaf, found_.copies[j].target_leaf);
      const std::uint32_t value = found_.sources[c.source].leaf;
      c.always_exact = is_target(value, c.target_leaf);
      c.overlaps_itself = !c.always_exact && meets(value, c.target_leaf);
    }
    return std::move(found_);
  }

 private:
  void join_inputs() {
    const std::span<const InputTensor> inputs = steps_.inputs();
    std::vector<std::uint32_t> first(steps_.input_storages().size(), kNever);
    for (std::uint32_t leaf = 0; leaf < inputs.size(); ++leaf) {
      std::uint32_t& other = first[inputs[leaf].storage];
      if (other == kNever) other = leaf;
      join_both(leaf, other);
    }
  }
  void join_both(std::uint32_t a, std::uint32_t b) { truly_.join(a, b), lowered_.join(a, b); }

  void join(const Step& s) {
    if (s.root_leaf >= 0) lowered_.join(s.first_leaf, static_cast<std::uint32_t>(s.root_leaf));
    if (s.shares >= 0) {
      const LeafRange base = steps_.operands(s)[static_cast<std::uint32_t>(s.shares)].leaves;
      for (std::uint32_t i = 0; i < s.leaf_count && base.count > 0; ++i) lowered_.join(s.first_leaf + i, base.first);
    }
    for (const ResultStep& r : steps_.results(s)) {
      if (r.kind == ResultKind::fresh || r.kind == ResultKind::none) continue;
      for (const std::uint32_t k : steps_.sources(r)) join_all(r.leaves, steps_.operands(s)[k].leaves);
    }
    if (s.movement == Movement::copy && s.leaf_count == 1 && steps_.operands(s)[0].writes)
      join_both(s.first_leaf, steps_.operands(s)[0].leaves.first);
  }
  void join_all(LeafRange results, LeafRange operands) {
    for (std::uint32_t i = 0; i < results.count; ++i) {
      for (std::uint32_t k = 0; k < operands.count; ++k) join_both(results.first + i, operands.first + k);
    }
  }

  /// The events of one step; false where it writes what only a lowering joins to something else.
  bool look_at(const Step& s) {
    for (const OperandStep& operand : steps_.operands(s)) {
      for (std::uint32_t i = 0; i < operand.leaves.count; ++i) {
        if (operand.reads && live_[index_of(s.node)]) read(s.node, operand.leaves.first + i);
        if ((operand.writes || s.rebinds) && !write(s.node, operand.leaves.first + i)) return false;
      }
    }
    for (std::uint32_t i = 0; s.shares >= 0 && i < s.leaf_count; ++i) {
      if (!write(s.node, s.first_leaf + i)) return false;
    }
    return true;
  }
  void read(NodeId n, std::uint32_t leaf) {
    for (CopyConflicts& c : found_.copies) {
      if (lowered_.of(leaf) == lowered_.of(c.target_leaf)) c.target_read.raise(n);
    }
  }
  bool write(NodeId n, std::uint32_t leaf) {
    for (std::uint32_t other = 0; other < steps_.leaf_count(); ++other) {
      if (lowered_.of(other) == lowered_.of(leaf) && truly_.of(other) != truly_.of(leaf)) return false;
    }
    for (CopyConflicts& c : found_.copies) {
      if (lowered_.of(leaf) == lowered_.of(c.target_leaf)) c.target_written.raise(n);
    }
    for (Source& s : found_.sources) {
      if (truly_.of(leaf) == truly_.of(s.leaf) && index_of(n) >= s.computed.slot) s.written.raise(n);
    }
    for (CopyConflicts& c : found_.copies) c.value_written = found_.sources[c.source].written;
    return true;
  }

  bool meets(std::uint32_t a, std::uint32_t b) {
    const std::span<const InputTensor> inputs = steps_.inputs();
    if (a < inputs.size() && b < inputs.size()) {  // placeholders have one region under every choice
      return inputs[a].storage == inputs[b].storage && regions_.may_overlap(inputs[a].region, inputs[b].region);
    }
    return lowered_.of(a) == lowered_.of(b);
  }

  /// Is this leaf the target under every choice: the target itself, a placeholder over the same region, or an in-place result?
  bool is_target(std::uint32_t leaf, std::uint32_t target) const {
    const std::span<const InputTensor> inputs = steps_.inputs();
    while (leaf >= inputs.size()) {
      const auto producer = std::ranges::find_if(
          steps_.steps(), [&](const Step& s) { return !s.idle && leaf >= s.first_leaf && leaf < s.first_leaf + s.leaf_count; });
      if (producer == steps_.steps().end() || producer->rebinds) return false;
      const auto result = std::ranges::find_if(steps_.results(*producer), [&](const ResultStep& r) {
        return leaf >= r.leaves.first && leaf < r.leaves.first + r.leaves.count;
      });
      if (result->kind != ResultKind::same || result->source_count != 1 || result->leaves.count != 1) return false;
      leaf = steps_.operands(*producer)[steps_.sources(*result)[0]].leaves.first;
    }
    return inputs[leaf].storage == inputs[target].storage && regions_.same(inputs[leaf].region, inputs[target].region);
  }

  const Steps& steps_;
  Regions& regions_;
  Classes truly_, lowered_;
  const std::vector<std::uint8_t> live_;
  Conflicts found_;
};

}  // namespace

std::optional<Conflicts> coarse_conflicts(const Steps& steps, Regions& regions, Semantics semantics) {
  return Coarse(steps, regions, semantics).run();
}

}  // namespace writeback::ref
