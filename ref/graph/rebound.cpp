#include "ref/graph/rebound.h"

#include <map>

#include "ref/graph/effects.h"

namespace writeback {
namespace {

/// The first name of each value's tensor.
class Objects {
 public:
  Objects(const Program& program, const Effects& effects) : graph_(program.graph), effects_(effects) {
    for (std::size_t v = 0; v < graph_.value_count(); ++v) {
      object_.push_back(value_id(v));
      if (!graph_.is_placeholder(value_id(v))) object_.back() = object_of(graph_.producer_of(value_id(v)));
    }
  }
  std::vector<ValueId> take() { return std::move(object_); }

 private:
  ValueId object_of(NodeId n) {
    if (!effects_.has(n, Trait::getitem)) return of_result(n, 0).value_or(graph_.result_of(n));
    const ValueId tuple = effects_.operands(n).front().value;
    const std::int64_t index = effects_.getitem_index(n);
    const auto first = elements_.try_emplace({tuple, index}, graph_.result_of(n)).first->second;
    if (graph_.is_placeholder(tuple)) return first;
    return of_result(graph_.producer_of(tuple), static_cast<std::size_t>(index)).value_or(first);
  }

  /// Of a result that is one of the operands.
  std::optional<ValueId> of_result(NodeId n, std::size_t index) const {
    if (effects_.has(n, Trait::rebinds)) return object_[index_of(effects_.operands(n).front().value)];
    const auto results = effects_.results(n);
    if (index >= results.size() || results[index].kind != ResultKind::same || results[index].list) return std::nullopt;
    return object_[index_of(effects_.operands(n)[results[index].operands.front()].value)];
  }

  const Graph& graph_;
  const Effects& effects_;
  std::vector<ValueId> object_;
  std::map<std::pair<ValueId, std::int64_t>, ValueId> elements_;  ///< the first name of an element of a tuple
};

}  // namespace

Rebound::Rebound(const Program& program) : program_(program) {
  const Effects effects(program, options_of(program));
  object_ = Objects(program, effects).take();
  for (std::size_t n = 0; n < program.graph.nodes.size(); ++n) {
    if (effects.has(node_id(n), Trait::rebinds))
      since_.emplace_back(node_id(n), object_[index_of(program.graph.result_of(node_id(n)))]);
  }
}

const ValueMeta& Rebound::meta_at(ValueId v, Slot at) const {
  ValueId latest = v;
  for (const auto& [node, object] : since_) {
    if (slot_after(node) <= at && object == object_[index_of(v)]) latest = program_.graph.result_of(node);
  }
  return program_.graph.meta_of(latest);
}

}  // namespace writeback
