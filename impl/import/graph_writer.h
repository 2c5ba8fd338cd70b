// Writes one graph as export-schema JSON: the inverse of graph_reader. Getitem nodes become names in their producer's outputs,
// get_attr nodes become the subgraph that they name, inside the argument that uses it. A get_attr of anything else has no place in
// torch's schema; it is written as a node with the target `self.<attribute>`, which the reader here knows.
#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "ref/graph/program.h"
#include "ref/graph/schema.h"

namespace writeback::impl {

using JsonOut = nlohmann::ordered_json;

class GraphWriter {
 public:
  /// All three must outlive the writer. `schemas` names the arguments of ops and the kinds of their results.
  GraphWriter(const Program& program, const SchemaTable& schemas, const Graph& graph);

  JsonOut graph();
  /// The union for one argument; `type` tells empty lists apart, nullptr where it is not known.
  JsonOut argument(const Argument&, const SchemaType* type = nullptr) const;
  /// The union that names a value: as_tensor, as_sym_int, ...
  JsonOut value(ValueId) const;
  const std::string& name(ValueId) const;

 private:
  enum class ValueKind : std::uint8_t { tensor, integer, floating, boolean, custom_object };

  JsonOut node(NodeId);
  JsonOut inputs(const Node&, const Schema*) const;
  JsonOut outputs(NodeId, const Schema*);
  JsonOut output(NodeId, std::size_t index, const SchemaType* type);
  JsonOut tensors_picked_from(ValueId list, const std::string& unused_prefix);
  bool is_tuple(NodeId) const;
  JsonOut list(const ListArgument&, const SchemaType*) const;
  JsonOut list_of_lists(const ListArgument&) const;
  JsonOut by_position(const std::vector<Argument>&) const;
  JsonOut symbol(const Symbol&) const;
  JsonOut named(ValueKind, const std::string& name) const;
  ValueKind kind_of(ValueId) const;
  ValueKind kind_of(ValueId, const SchemaType*) const;
  bool is_picked(NodeId) const;
  const Subgraph* subgraph_of(ValueId) const;
  void add_values(ValueId);
  JsonOut tensor_meta_of(ValueId, const TensorMeta&) const;
  JsonOut strides_json(ValueId, const TensorMeta&) const;

  const Program& program_;
  const SchemaTable& schemas_;
  const Graph& graph_;
  std::unordered_map<ValueId, std::map<std::int64_t, ValueId>> picks_;  ///< getitem users by index, the first of each
  std::unordered_map<ValueId, ValueId> twins_;                          ///< later getitems of the same index
  std::vector<std::optional<std::vector<std::int64_t>>> strides_;       ///< by value, where the program tells none
  JsonOut tensor_values_ = JsonOut::object(), sym_int_values_ = JsonOut::object(), sym_float_values_ = JsonOut::object(),
          sym_bool_values_ = JsonOut::object();
};

/// {"as_int": 4} or {"as_expr": {...}}.
JsonOut sym_int_json(const SymInt&);

/// "torch.ops.aten.add.Tensor".
std::string target_text(const Target&);

}  // namespace writeback::impl
