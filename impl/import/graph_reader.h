// Reads one graph of export-schema JSON: placeholders, nodes with their arguments, outputs, and the graphs inside graphs.
//
// The file keeps no `getitem` and no `get_attr` nodes; they are put back as torch.fx has them: a getitem directly behind its
// producer, under the name that the producer's outputs carry (none for outputs that nothing uses), a get_attr before the
// higher-order op that is given the subgraph, under the attribute's name.
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "impl/import/encoding.h"
#include "impl/import/json.h"
#include "ref/graph/program.h"

namespace writeback::impl {

/// What all graphs of a program share while it is read.
class ReadingContext {
 public:
  ReadingContext(Program& program, Numbering numbering) : program_(program), numbering_(numbering) {}
  Numbering numbering() const { return numbering_; }
  const Target& target(TargetId id) const { return program_.targets[index_of(id)]; }
  TargetId intern(Target target);
  void warn(const Json& at, const std::string& message) { program_.warnings.push_back(at.pointer() + ": " + message); }

 private:
  Program& program_;
  Numbering numbering_;
  std::unordered_map<std::string, TargetId> ids_;
};

class GraphReader {
 public:
  GraphReader(ReadingContext& context, Graph& graph) : context_(context), graph_(graph) {}

  /// `input_names[i]` names inputs that carry no name of their own (constants); it may be shorter than the inputs.
  void read(const Json& graph, const std::vector<std::string>& input_names = {});

 private:
  /// One output of a node: what it defines.
  struct Result {
    std::string_view name;  ///< empty: None or a constant
    std::vector<Result> items;
    bool is_list = false;
  };

  void read_metas(const Json& graph);
  void read_inputs(const Json& inputs, const std::vector<std::string>& input_names);
  void read_node(const Json& node);
  void read_arguments(const Json& inputs, Node& node);
  bool is_keyword(const Json& input, const Node& node, const std::string& name) const;
  void add_results(const Json& node, Node call, const std::vector<Result>& results, bool single);
  void add_getitems(ValueId from, const std::vector<Result>& results, const std::string& unused_prefix);
  ValueId add_node(const Json& at, Node node);
  ValueId add_subgraph(const Json& argument);

  Argument argument(const Json& json);
  Argument value_named(const Json& name) const;
  Argument symbolic(const Json& json) const;
  Argument optional_tensor(const Json& json) const;
  Argument custom_object(const Json& json) const;
  Argument scalar_type(const Json& json);
  Argument opaque(const Json& json, const std::string& text, const std::string& what);
  template <typename F>
  Argument list(const Json& json, F&& item);

  ValueMeta meta_named(std::string_view name) const;
  std::string node_name(const Json& node, const Target& target, const std::vector<Result>& results, bool single);
  std::string fresh_name(const std::string& base);
  void reserve_names(const Json& graph);
  static Result result(const Json& output);
  static void name_all(const Result& result, std::unordered_set<std::string_view>& names);
  void define(const Json& at, const std::string& name, ValueId value);

  ReadingContext& context_;
  Graph& graph_;
  const Json* source_ = nullptr;
  std::unordered_map<std::string, ValueId> values_;
  std::unordered_map<std::string_view, ValueMeta> metas_;
  std::unordered_set<std::string_view> reserved_;  ///< all names of the file; filled when the first name must be made up
  std::unordered_map<std::string, std::uint32_t> next_suffix_;
};

/// Reads the name inside {"name": ...} or a bare string, as some old files have it.
std::string_view name_in(const Json& argument);

/// The name that an input or output argument defines; empty for constants.
std::string_view defined_name(const Json& argument);

TensorMeta read_tensor_meta(const Json& json, Numbering);

}  // namespace writeback::impl
