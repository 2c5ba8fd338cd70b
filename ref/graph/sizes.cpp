#include "ref/graph/sizes.h"

#include "ref/graph/error.h"

namespace writeback {
namespace {

class Substitution {
 public:
  explicit Substitution(const std::map<std::string, std::int64_t>& symbols) : symbols_(symbols) {}

  void apply(Graph& graph) const {
    for (Placeholder& p : graph.placeholders) apply(p.meta);
    for (Node& node : graph.nodes) apply(node.meta);
    for (Subgraph& subgraph : graph.subgraphs) apply(subgraph.graph);
  }

 private:
  std::optional<std::int64_t> value_of(const std::string& symbol) const {
    const auto found = symbols_.find(symbol);
    return found == symbols_.end() ? std::nullopt : std::optional(found->second);
  }

  void apply(SymInt& x) const {
    if (const auto value = x.evaluate([&](const std::string& symbol) { return value_of(symbol); })) x = *value;
  }
  void apply(ValueMeta& meta) const {
    TensorMeta* tensor = std::get_if<TensorMeta>(&meta);
    if (tensor == nullptr) return;
    for (SymInt& size : tensor->sizes) apply(size);
    if (tensor->strides) {
      for (SymInt& stride : *tensor->strides) apply(stride);
    }
    apply(tensor->storage_offset);
  }

  const std::map<std::string, std::int64_t>& symbols_;
};

}  // namespace

void check_sizes(const Program& program, const std::map<std::string, std::int64_t>& symbols) {
  for (const auto& [symbol, value] : symbols) {
    const auto range = program.range_constraints.find(symbol);
    if (range == program.range_constraints.end() || (range->second.min <= value && value <= range->second.max)) continue;
    throw InputError("size " + symbol, "expected a number from " + std::to_string(range->second.min) + " to " +
                                           std::to_string(range->second.max) + ", found " + std::to_string(value));
  }
}

Program with_sizes(Program program, const std::map<std::string, std::int64_t>& symbols) {
  check_sizes(program, symbols);
  Substitution(symbols).apply(program.graph);
  return program;
}

}  // namespace writeback
