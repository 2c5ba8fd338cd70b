// Edits of programs that keep all ids right: what the minimiser and the metamorphic relations are made of. They look at syntax
// only; whether the result is well formed (an operand behind its use, say) is for the caller to ask.
#pragma once

#include <vector>

#include "ref/graph/program.h"

namespace writeback::fuzz {

/// What becomes of a program's placeholders, nodes and values.
struct Edit {
  std::vector<bool> keep_placeholder;
  std::vector<NodeId> nodes;        ///< those that stay, in their new order
  std::vector<ValueId> substitute;  ///< by value: what stands for it where it is used (itself, if nothing changes)

  /// The edit that changes nothing.
  explicit Edit(const Program&);
  void drop(NodeId);
};
Program apply(const Program&, const Edit&);

/// Inserts a node so that it becomes node `at`.
Program with_node_inserted(const Program&, std::size_t at, Node);

/// Takes out an output with its spec.
Program without_output(const Program&, std::size_t index);

/// Drops targets, schemas and subgraphs that no node names, and gives targets the order of their first use.
Program tidy(Program);

/// Calls f(ValueId&) for each use of a value: arguments, keywords, outputs.
template <typename F>
void for_each_use(Graph& graph, F&& f) {
  for (Node& node : graph.nodes) {
    for (Argument& a : node.args) for_each_value_mut(a, f);
    for (KeywordArgument& a : node.kwargs) for_each_value_mut(a.value, f);
  }
  for (Argument& a : graph.outputs) for_each_value_mut(a, f);
}

template <typename F>
void for_each_operand(const Node& node, F&& f) {
  for (const Argument& a : node.args) for_each_value(a, f);
  for (const KeywordArgument& a : node.kwargs) for_each_value(a.value, f);
}

}  // namespace writeback::fuzz
