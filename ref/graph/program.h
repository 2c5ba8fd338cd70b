// The program: what torch.export calls ExportedProgram. Placeholders with input specs, nodes in order, outputs with output specs,
// as torch.fx has them: one node, one name; `getitem` picks from a result that is a tuple or list; `get_attr` names a subgraph.
//
// This is syntax only. What an op does is in effects.h, what a program means in ref/, where copies go in impl/.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "ref/graph/argument.h"
#include "ref/graph/ids.h"
#include "ref/graph/tensor_meta.h"

namespace writeback {

/// What a node calls. `op` is an operator of the dispatcher ("aten", "add", "Tensor"), in the ATen or in ExecuTorch's edge
/// dialect; `higher_order` is torch.ops.higher_order.<name>; `python` is a dotted Python name ("operator.getitem", "math.trunc",
/// "torch.sym_max"), the whole of it in `name`.
struct Target {
  enum class Kind : std::uint8_t { op, edge_op, higher_order, python } kind = Kind::op;
  std::string ns, name, overload;

  bool is_getitem() const { return kind == Kind::python && (name == "operator.getitem" || name == "_operator.getitem"); }
  bool is_op() const { return kind == Kind::op || kind == Kind::edge_op; }
  /// "aten::add.Tensor" (an overload "default" is left out, as in schemas); other kinds: the name.
  std::string qualified_name() const;
  bool operator==(const Target&) const = default;
};

struct KeywordArgument {
  std::string name;
  Argument value;
  bool operator==(const KeywordArgument&) const = default;
};

struct Placeholder {
  std::string name;
  ValueMeta meta;
  bool operator==(const Placeholder&) const = default;
};

struct Node {
  enum class Kind : std::uint8_t { call, get_attr } kind = Kind::call;
  TargetId target{};  ///< in Program::targets; for get_attr too: a python target whose name is the attribute
  std::string name;
  std::vector<Argument> args;
  std::vector<KeywordArgument> kwargs;
  ValueMeta meta;
  std::vector<std::string> comments;            ///< comment lines printed above the node, "#" included, blanks before it not
  std::string trailing_comment;                 ///< printed behind the statement, "#" included
  std::map<std::string, std::string> metadata;  ///< stack_trace, nn_module_stack, ...: kept for writing archives back
  bool operator==(const Node&) const = default;
};

struct Graph;
/// A graph that a higher-order op calls, known to its parent by attribute name (`true_graph_0`).
struct Subgraph;

struct Graph {
  std::string class_name = "GraphModule";
  std::vector<Placeholder> placeholders;
  std::vector<Node> nodes;
  std::vector<Argument> outputs;  ///< the elements of the returned tuple
  /// For subgraphs that return one bare value instead of a tuple.
  bool returns_bare_value = false;
  bool returns_list = false;  ///< printed [a, b] rather than (a, b)
  std::vector<Subgraph> subgraphs;
  std::vector<std::string> closing_comments;  ///< comment lines above `return`

  std::size_t value_count() const { return placeholders.size() + nodes.size(); }
  bool is_placeholder(ValueId v) const { return index_of(v) < placeholders.size(); }
  ValueId result_of(NodeId n) const { return value_id(placeholders.size() + index_of(n)); }
  /// Only for values that are no placeholder.
  NodeId producer_of(ValueId v) const { return node_id(index_of(v) - placeholders.size()); }
  const Node& node(NodeId n) const { return nodes[index_of(n)]; }
  const std::string& name_of(ValueId v) const {
    return is_placeholder(v) ? placeholders[index_of(v)].name : nodes[index_of(v) - placeholders.size()].name;
  }
  const ValueMeta& meta_of(ValueId v) const {
    return is_placeholder(v) ? placeholders[index_of(v)].meta : nodes[index_of(v) - placeholders.size()].meta;
  }
  bool operator==(const Graph&) const;
};

struct Subgraph {
  std::string attribute;
  Graph graph;
  bool operator==(const Subgraph&) const = default;
};
inline bool Graph::operator==(const Graph&) const = default;

enum class InputKind : std::uint8_t { user_input, parameter, buffer, constant_tensor, custom_obj, token, constant_input };
enum class OutputKind : std::uint8_t {
  user_output,
  loss_output,
  buffer_mutation,
  gradient_to_parameter,
  gradient_to_user_input,
  user_input_mutation,
  token,
  parameter_mutation
};

/// One per placeholder, index by index. `target` is the FQN of a parameter, buffer or constant ("layers.0.weight").
struct InputSpec {
  InputKind kind = InputKind::user_input;
  std::string target;
  std::optional<bool> persistent;  ///< buffers only; absent in old text
  bool operator==(const InputSpec&) const = default;
};

/// One per output, index by index. `target` is the FQN (buffers, parameters) or the placeholder's name (user inputs).
struct OutputSpec {
  OutputKind kind = OutputKind::user_output;
  std::string target;
  bool operator==(const OutputSpec&) const = default;
};

constexpr bool is_mutation(OutputKind k) {
  return k == OutputKind::buffer_mutation || k == OutputKind::user_input_mutation || k == OutputKind::parameter_mutation;
}

/// A placeholder's place in a storage that it shares: offset, sizes and strides in elements. Without geometry the whole storage.
struct AliasMember {
  ValueId value{};
  struct Geometry {
    std::int64_t offset = 0;
    std::vector<std::int64_t> sizes, strides;
    bool operator==(const Geometry&) const = default;
  };
  std::optional<Geometry> geometry;
  bool operator==(const AliasMember&) const = default;
};

/// `_share_alloc_with_arg_idx`: a later pass lets the result of `node` take the storage of its positional argument `argument`.
struct ShareAllocation {
  NodeId node{};
  std::uint32_t argument = 0;
  bool operator==(const ShareAllocation&) const = default;
};

/// The result of `node` is born in the storage of the placeholder `target`: same region, no copy. What coalescing makes.
struct Birth {
  NodeId node{};
  ValueId target{};
  bool operator==(const Birth&) const = default;
};

struct Program {
  Graph graph;
  std::vector<Target> targets;  ///< each distinct target once; nodes of subgraphs index it too
  std::vector<InputSpec> input_specs;
  std::vector<OutputSpec> output_specs;
  std::map<std::string, SymRange> range_constraints;
  std::vector<std::string> range_order;  ///< symbols of range_constraints as the file lists them; some may be missing

  std::vector<std::vector<AliasMember>> alias_groups;
  std::vector<ShareAllocation> share_allocations;
  std::vector<Birth> births;
  std::vector<std::string> schemas;           ///< of custom ops, as written
  std::vector<std::string> options;           ///< words of `# options:`, defaults for the command line
  std::vector<std::string> leading_comments;  ///< comment lines before the program, whole and in order; those understood too
  std::vector<std::string> warnings;          ///< what a reader could not understand and left opaque

  const Target& target(const Node& n) const { return targets[index_of(n.target)]; }
  const Target& target(NodeId n) const { return target(graph.node(n)); }
  /// The id of a target, added if new. Linear in the number of distinct targets; readers keep an index of their own.
  TargetId intern(const Target& t);
  bool operator==(const Program&) const = default;
};

/// A pair (target placeholder, value): at the end the target holds what `target.copy_(value)` gives.
struct WriteBack {
  std::uint32_t output = 0;  ///< index into outputs and output specs
  ValueId target{};          ///< a placeholder
  ValueId value{};
  bool operator==(const WriteBack&) const = default;
};

/// The write-backs of a program in output order: its mutation outputs. Throws InputError where a spec names no placeholder
/// or its output is no value.
std::vector<WriteBack> write_backs(const Program&);

/// The placeholder that an output spec's target names: by FQN for buffers and parameters, by name for user inputs.
std::optional<ValueId> placeholder_of(const Program&, const OutputSpec&);

/// placeholder_of for all output specs at once: for programs with thousands of them.
std::vector<std::optional<ValueId>> placeholders_of_outputs(const Program&);

/// Finds a value by name in the top graph; nullopt where there is none. Linear.
std::optional<ValueId> find_value(const Graph&, std::string_view name);

/// The argument of a call at a position or under a name; nullptr where it is absent.
const Argument* argument_of(const Node&, std::size_t position, std::string_view name);

/// True where slots count this node: not a `get_attr`, not a `getitem` that nothing uses.
std::vector<bool> counted_nodes(const Program&);

}  // namespace writeback
