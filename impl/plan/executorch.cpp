#include "impl/plan/executorch.h"

#include <algorithm>
#include <optional>

namespace writeback::impl::plan {
namespace {

using Kind = LoweredNode::Kind;

struct Lifetime {
  std::int64_t first = -1, last = -1;
  void cover(std::int64_t step) {
    if (first < 0 || step < first) first = step;
    last = std::max(last, step);
  }
};

/// The steps at which each spec is named by a node or by a node's argument; in-place nodes are passed over on either side.
std::vector<Lifetime> lifetimes(const LoweredGraph& graph, const PlannerOptions& options) {
  std::vector<Lifetime> lives(graph.specs.size());
  const auto last_step = static_cast<std::int64_t>(graph.nodes.size()) - 1;
  for (std::int64_t step = 0; step <= last_step; ++step) {
    const LoweredNode& node = graph.nodes[static_cast<std::size_t>(step)];
    const auto cover = [&](const LoweredNode& element) {
      if (element.kind == Kind::in_place && options.fidelity == Fidelity::released) return;
      for (std::uint32_t s : element.specs) lives[s].cover(node.kind == Kind::placeholder ? 0 : step);
    };
    cover(node);
    for (std::uint32_t used : node.uses) cover(graph.nodes[used]);
    const bool returned = node.mutated_input && options.fidelity == Fidelity::fixed;
    for (std::uint32_t s : node.specs) {
      if (node.kind != Kind::placeholder) continue;
      lives[s].last = std::max(lives[s].last, node.mutable_buffer || returned ? last_step : step);
    }
  }
  return lives;
}

std::int64_t aligned(std::int64_t bytes, std::int64_t alignment) { return (bytes + alignment - 1) / alignment * alignment; }

/// A storage lives as long as those that take its place, which ExecuTorch forgets.
void extend_shared(const LoweredGraph& graph, std::vector<Lifetime>& lives) {
  for (std::size_t sharer = graph.specs.size(); sharer-- > 0;) {
    std::uint32_t at = static_cast<std::uint32_t>(sharer);
    for (std::size_t steps = 0; graph.specs[at].shares && steps < graph.specs.size(); ++steps) {
      at = *graph.specs[at].shares;
      if (lives[sharer].first >= 0) lives[at].cover(lives[sharer].first), lives[at].cover(lives[sharer].last);
    }
  }
}

/// Specs in the order in which the planner meets them.
std::vector<PlannedSpec> collect(const LoweredGraph& graph, const PlannerOptions& options) {
  std::vector<Lifetime> lives = lifetimes(graph, options);
  if (options.fidelity == Fidelity::fixed) extend_shared(graph, lives);
  std::vector<bool> seen(graph.specs.size(), false);
  if (!options.plan_inputs) {
    for (const LoweredNode& node : graph.nodes) {
      if (node.kind != Kind::placeholder || node.mutable_buffer) continue;
      for (std::uint32_t s : node.specs) seen[s] = true;
    }
  }
  std::vector<PlannedSpec> planned;
  for (const LoweredNode& node : graph.nodes) {
    if (node.kind == Kind::op || node.kind == Kind::in_place) continue;
    for (std::uint32_t s : node.specs) {
      const Spec& spec = graph.specs[s];
      if (seen[s] || spec.constant || spec.unbounded) continue;
      seen[s] = true;
      planned.push_back({s, lives[s].first, lives[s].last, aligned(spec.bytes, options.alignment), 0});
    }
  }
  return planned;
}

bool live_together(const PlannedSpec& a, const PlannedSpec& b) { return a.first <= b.last && b.first <= a.last; }

/// A shared object: a stretch of the arena of fixed size, with the specs that were put in it.
struct SharedObject {
  std::int64_t size = 0;
  std::vector<std::pair<std::uint32_t, std::int64_t>> members;  // planned spec, offset in the object
};

class Greedy {
 public:
  Greedy(std::vector<PlannedSpec> specs, const LoweredGraph& graph)
      : specs_(std::move(specs)), graph_(graph), place_(specs_.size()) {}

  ExecutorchPlan run() {
    std::vector<std::uint32_t> sharing;
    for (std::uint32_t i : order()) {
      if (base_of(i)) {
        sharing.push_back(i);
      } else {
        place(i);
      }
    }
    place_sharing(sharing);
    return laid_out();
  }

 private:
  struct Place {
    std::size_t object = 0;
    std::int64_t offset = 0;
    bool known = false;
  };

  /// Descending size; equal sizes in reverse of the collection order.
  std::vector<std::uint32_t> order() const {
    std::vector<std::uint32_t> order(specs_.size());
    for (std::uint32_t i = 0; i < order.size(); ++i) order[i] = i;
    std::stable_sort(order.begin(), order.end(), [&](auto a, auto b) { return specs_[a].bytes < specs_[b].bytes; });
    std::reverse(order.begin(), order.end());
    return order;
  }

  std::optional<std::uint32_t> base_of(std::uint32_t i) const {
    const std::optional<std::uint32_t> shares = graph_.specs[specs_[i].spec].shares;
    if (!shares) return std::nullopt;
    for (std::uint32_t j = 0; j < specs_.size(); ++j) {
      if (specs_[j].spec == *shares) return j;
    }
    return std::nullopt;
  }

  bool is_free(const SharedObject& object, std::uint32_t i) const {
    return std::none_of(object.members.begin(), object.members.end(),
                        [&](const auto& m) { return live_together(specs_[m.first], specs_[i]); });
  }

  /// One past the highest byte of the members that live with `i`, 0 if none does.
  std::int64_t top_beside(const SharedObject& object, std::uint32_t i) const {
    std::int64_t top = 0;
    for (const auto& [member, offset] : object.members) {
      if (live_together(specs_[member], specs_[i])) top = std::max(top, offset + specs_[member].bytes);
    }
    return top;
  }

  void put(std::size_t object, std::uint32_t i, std::int64_t offset) {
    objects_[object].members.emplace_back(i, offset);
    place_[i] = {object, offset, true};
  }

  void place(std::uint32_t i) {
    for (std::size_t o = 0; o < objects_.size(); ++o) {
      if (is_free(objects_[o], i)) return put(o, i, 0);
    }
    for (std::size_t o = 0; o < objects_.size(); ++o) {
      const std::int64_t top = top_beside(objects_[o], i);
      if (top > 0 && top + specs_[i].bytes <= objects_[o].size) return put(o, i, top);
    }
    objects_.push_back({specs_[i].bytes, {}});
    put(objects_.size() - 1, i, 0);
  }

  /// Specs that take another's place, once that one is placed; a cycle among them ends as unplaced at offset 0.
  void place_sharing(std::vector<std::uint32_t> waiting) {
    for (bool progress = true; progress && !waiting.empty();) {
      progress = false;
      std::erase_if(waiting, [&](std::uint32_t i) {
        const Place base = place_[*base_of(i)];
        if (base.known) put(base.object, i, base.offset);
        progress |= base.known;
        return base.known;
      });
    }
  }

  ExecutorchPlan laid_out() {
    ExecutorchPlan plan;
    plan.total = graph_.reserved;
    std::vector<std::int64_t> start;
    for (const SharedObject& object : objects_) {
      start.push_back(plan.total);
      plan.total += object.size;
    }
    for (std::size_t i = 0; i < specs_.size(); ++i) {
      if (place_[i].known) specs_[i].offset = start[place_[i].object] + place_[i].offset;
    }
    plan.specs = std::move(specs_);
    return plan;
  }

  std::vector<PlannedSpec> specs_;
  const LoweredGraph& graph_;
  std::vector<Place> place_;
  std::vector<SharedObject> objects_;
};

}  // namespace

ExecutorchPlan executorch_greedy(const LoweredGraph& graph, const PlannerOptions& options) {
  return Greedy(collect(graph, options), graph).run();
}

PlanBuffers buffers_of(const LoweredGraph& graph, const ExecutorchPlan& plan) {
  PlanBuffers result;
  std::vector<std::int64_t> buffer_of(graph.specs.size(), -1);
  for (const PlannedSpec& p : plan.specs) {
    if (graph.specs[p.spec].shares) continue;
    buffer_of[p.spec] = static_cast<std::int64_t>(result.buffers.size());
    result.buffers.push_back({p.first, p.last + 1, p.bytes});
  }
  for (const PlannedSpec& p : plan.specs) {
    std::uint32_t root = p.spec;
    for (std::size_t steps = 0; graph.specs[root].shares && steps < graph.specs.size(); ++steps) root = *graph.specs[root].shares;
    if (buffer_of[root] < 0) {
      buffer_of[root] = static_cast<std::int64_t>(result.buffers.size());
      result.buffers.push_back({p.first, p.last + 1, p.bytes});
    }
    Buffer& buffer = result.buffers[static_cast<std::size_t>(buffer_of[root])];
    buffer = {std::min(buffer.begin, p.first), std::max(buffer.end, p.last + 1), std::max(buffer.bytes, p.bytes)};
    result.owner.push_back(static_cast<std::uint32_t>(buffer_of[root]));
  }
  return result;
}

}  // namespace writeback::impl::plan
