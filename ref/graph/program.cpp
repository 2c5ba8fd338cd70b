#include "ref/graph/program.h"

#include <algorithm>

#include "ref/graph/error.h"

namespace writeback {
namespace {

InputKind input_kind_of(OutputKind kind) {
  switch (kind) {
    case OutputKind::buffer_mutation:
      return InputKind::buffer;
    case OutputKind::parameter_mutation:
    case OutputKind::gradient_to_parameter:
      return InputKind::parameter;
    case OutputKind::user_output:
    case OutputKind::loss_output:
    case OutputKind::gradient_to_user_input:
    case OutputKind::user_input_mutation:
    case OutputKind::token:
      return InputKind::user_input;
  }
  return InputKind::user_input;
}

/// What output specs call input i: user inputs go by the placeholder's name, the others by the FQN.
std::string_view name_in_specs(const Program& program, std::size_t i) {
  return program.input_specs[i].kind == InputKind::user_input ? program.graph.placeholders[i].name : program.input_specs[i].target;
}

}  // namespace

std::string Target::qualified_name() const {
  if (!is_op()) return name;
  std::string text = ns + "::" + name;
  if (!overload.empty() && overload != "default") text += "." + overload;
  return text;
}

TargetId Program::intern(const Target& t) {
  const auto found = std::find(targets.begin(), targets.end(), t);
  const auto index = static_cast<std::uint32_t>(found - targets.begin());
  if (found == targets.end()) targets.push_back(t);
  return TargetId{index};
}

std::optional<ValueId> placeholder_of(const Program& program, const OutputSpec& spec) {
  const InputKind kind = input_kind_of(spec.kind);
  for (std::size_t i = 0; i < program.graph.placeholders.size() && i < program.input_specs.size(); ++i) {
    if (program.input_specs[i].kind == kind && name_in_specs(program, i) == spec.target) return value_id(i);
  }
  return std::nullopt;
}

std::vector<std::optional<ValueId>> placeholders_of_outputs(const Program& program) {
  std::map<InputKind, std::unordered_map<std::string_view, ValueId>> named;
  for (std::size_t i = 0; i < program.graph.placeholders.size() && i < program.input_specs.size(); ++i) {
    named[program.input_specs[i].kind].try_emplace(name_in_specs(program, i), value_id(i));  // the first of a name
  }
  std::vector<std::optional<ValueId>> result;
  for (const OutputSpec& spec : program.output_specs) {
    const auto& of_kind = named[input_kind_of(spec.kind)];
    const auto found = of_kind.find(spec.target);
    result.push_back(found == of_kind.end() ? std::nullopt : std::optional(found->second));
  }
  return result;
}

std::vector<WriteBack> write_backs(const Program& program) {
  std::vector<WriteBack> result;
  const std::vector<std::optional<ValueId>> placeholders = placeholders_of_outputs(program);
  for (std::size_t i = 0; i < program.output_specs.size() && i < program.graph.outputs.size(); ++i) {
    const OutputSpec& spec = program.output_specs[i];
    if (!is_mutation(spec.kind)) continue;
    const std::string place = "output " + std::to_string(i);
    const std::optional<ValueId> target = placeholders[i];
    if (!target) throw InputError(place, "mutates '" + spec.target + "', which is no input of the program");
    const ValueId* value = as_value(program.graph.outputs[i]);
    if (value == nullptr) throw InputError(place, "a mutation of '" + spec.target + "' must be a value of the graph");
    result.push_back({static_cast<std::uint32_t>(i), *target, *value});
  }
  return result;
}

std::optional<ValueId> find_value(const Graph& graph, std::string_view name) {
  for (std::size_t i = 0; i < graph.value_count(); ++i) {
    if (graph.name_of(value_id(i)) == name) return value_id(i);
  }
  return std::nullopt;
}

const Argument* argument_of(const Node& node, std::size_t position, std::string_view name) {
  if (position < node.args.size()) return &node.args[position];
  for (const KeywordArgument& a : node.kwargs) {
    if (a.name == name) return &a.value;
  }
  return nullptr;
}

std::vector<bool> counted_nodes(const Program& program) {
  const Graph& graph = program.graph;
  std::vector<bool> used(graph.value_count(), false);
  const auto mark = [&](ValueId v) { used[index_of(v)] = true; };
  for (const Node& node : graph.nodes) {
    for (const Argument& a : node.args) for_each_value(a, mark);
    for (const KeywordArgument& a : node.kwargs) for_each_value(a.value, mark);
  }
  for (const Argument& a : graph.outputs) for_each_value(a, mark);
  std::vector<bool> counted(graph.nodes.size());
  for (std::size_t n = 0; n < graph.nodes.size(); ++n) {
    const Node& node = graph.nodes[n];
    const bool idle_getitem = program.target(node).is_getitem() && !used[index_of(graph.result_of(node_id(n)))];
    counted[n] = node.kind == Node::Kind::call && !idle_getitem;
  }
  return counted;
}

}  // namespace writeback
