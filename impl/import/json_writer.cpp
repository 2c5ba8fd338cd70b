// Writes a program as the export-schema JSON of torch 2.13 (8.20). What torch needs to load it and a Program does not hold is made
// up: a flat calling convention, strides of contiguous tensors where none are told, a scalar's meta for results that nothing uses.
#include <algorithm>
#include <limits>

#include "impl/import/graph_writer.h"
#include "impl/import/import.h"
#include "impl/import/spec_names.h"

namespace writeback::impl {
namespace {

template <typename Table, typename Kind>
const auto& row_of(const Table& table, Kind kind) {
  return *std::find_if(table.begin(), table.end(), [&](const auto& row) { return row.kind == kind; });
}

/// Text without a signature gives no specs: everything is the user's then.
InputSpec input_spec(const Program& program, std::size_t i) {
  return i < program.input_specs.size() ? program.input_specs[i] : InputSpec{};
}

OutputSpec output_spec(const Program& program, std::size_t i) {
  return i < program.output_specs.size() ? program.output_specs[i] : OutputSpec{};
}

JsonOut input_spec_json(const Program& program, std::size_t i, const GraphWriter& graph) {
  const InputSpec spec = input_spec(program, i);
  const auto& row = row_of(kInputSpecs, spec.kind);
  const std::string& name = program.graph.placeholders[i].name;
  JsonOut body = JsonOut::object();
  switch (spec.kind) {
    case InputKind::user_input:
      body["arg"] = graph.value(value_id(i));
      break;
    case InputKind::constant_input:
      body = {{"name", name}, {"value", {{"as_none", true}}}};
      break;
    case InputKind::custom_obj:
      body["arg"] = {{"name", name}, {"class_fqn", ""}};
      break;
    case InputKind::parameter:
    case InputKind::buffer:
    case InputKind::constant_tensor:
    case InputKind::token:
      body["arg"] = {{"name", name}};
      break;
  }
  if (row.target != nullptr) body[row.target] = spec.target;
  if (spec.kind == InputKind::buffer) body["persistent"] = spec.persistent.value_or(true);
  return {{row.tag, body}};
}

JsonOut output_spec_json(const Program& program, std::size_t i, const GraphWriter& graph) {
  const OutputSpec spec = output_spec(program, i);
  const Argument& output = program.graph.outputs[i];
  const auto& row = row_of(kOutputSpecs, spec.kind);
  JsonOut body = JsonOut::object();
  if (spec.kind == OutputKind::user_output) {
    body["arg"] = graph.argument(output);
  } else {
    body["arg"] = {{"name", as_value(output) != nullptr ? graph.name(*as_value(output)) : ""}};
  }
  if (row.target != nullptr) body[row.target] = spec.target;
  return {{row.tag, body}};
}

/// A leaf of torch's tree of arguments, and a tuple of so many leaves.
const JsonOut kLeaf = {{"type", nullptr}, {"context", nullptr}, {"children_spec", JsonOut::array()}};

JsonOut tuple_of(std::vector<JsonOut> children) {
  return {{"type", "builtins.tuple"}, {"context", "null"}, {"children_spec", std::move(children)}};
}

/// The calling convention: every user input positional, every user output in one tuple.
JsonOut module_call_graph_json(const Program& program) {
  std::vector<JsonOut> inputs, outputs;
  JsonOut names = JsonOut::array();
  for (std::size_t i = 0; i < program.graph.placeholders.size(); ++i) {
    const InputKind kind = input_spec(program, i).kind;
    if (kind != InputKind::user_input && kind != InputKind::constant_input) continue;
    inputs.push_back(kLeaf);
    names.push_back(program.graph.placeholders[i].name);
  }
  for (std::size_t i = 0; i < program.graph.outputs.size(); ++i) {
    const OutputKind kind = output_spec(program, i).kind;
    if (kind == OutputKind::user_output || kind == OutputKind::loss_output) outputs.push_back(kLeaf);
  }
  const JsonOut keywords = {{"type", "builtins.dict"}, {"context", "[]"}, {"children_spec", JsonOut::array()}};
  const JsonOut in_spec = JsonOut::array({1, tuple_of({tuple_of(std::move(inputs)), keywords})});
  const JsonOut out_spec = JsonOut::array({1, tuple_of(std::move(outputs))});
  return JsonOut::array({{{"fqn", ""},
                          {"signature",
                           {{"inputs", JsonOut::array()},
                            {"outputs", JsonOut::array()},
                            {"in_spec", in_spec.dump()},
                            {"out_spec", out_spec.dump()},
                            {"forward_arg_names", names}}}}});
}

JsonOut range_json(SymRange range) {
  JsonOut min = nullptr, max = nullptr;
  if (range.min != std::numeric_limits<std::int64_t>::min()) min = range.min;
  if (range.max != std::numeric_limits<std::int64_t>::max()) max = range.max;
  return {{"min_val", min}, {"max_val", max}};
}

JsonOut ranges_json(const Program& program) {
  JsonOut json = JsonOut::object();
  for (const std::string& symbol : program.range_order) {
    const auto range = program.range_constraints.find(symbol);
    if (range != program.range_constraints.end()) json[symbol] = range_json(range->second);
  }
  for (const auto& [symbol, range] : program.range_constraints) json[symbol] = range_json(range);
  return json;
}

/// The rules that torch holds the graph to when it loads it: functional ATen, edge, or in-place ops allowed.
const char* verifier_of(const Program& program) {
  const auto is_edge = [](const Target& t) { return t.kind == Target::Kind::edge_op; };
  const auto writes = [](const Target& t) { return t.is_op() && t.name.ends_with("_") && !t.name.ends_with("__"); };
  if (std::any_of(program.targets.begin(), program.targets.end(), is_edge)) return "EDGE";
  return std::any_of(program.targets.begin(), program.targets.end(), writes) ? "TRAINING" : "ATEN";
}

}  // namespace

std::string write_json(const Program& program) {
  const SchemaTable schemas = SchemaTable::with(program.schemas);
  GraphWriter writer(program, schemas, program.graph);
  JsonOut input_specs = JsonOut::array(), output_specs = JsonOut::array();
  for (std::size_t i = 0; i < program.graph.placeholders.size(); ++i) input_specs.push_back(input_spec_json(program, i, writer));
  for (std::size_t i = 0; i < program.graph.outputs.size(); ++i) output_specs.push_back(output_spec_json(program, i, writer));
  const JsonOut json = {{"graph_module",
                         {{"graph", writer.graph()},
                          {"signature", {{"input_specs", input_specs}, {"output_specs", output_specs}}},
                          {"module_call_graph", module_call_graph_json(program)},
                          {"metadata", JsonOut::object()},
                          {"treespec_namedtuple_fields", JsonOut::object()}}},
                        {"opset_version", {{"aten", 10}}},
                        {"range_constraints", ranges_json(program)},
                        {"schema_version", {{"major", 8}, {"minor", 20}}},
                        {"verifiers", JsonOut::array({verifier_of(program)})},
                        {"torch_version", "2.13.0"},
                        {"guards_code", JsonOut::array()}};
  return json.dump(-1, ' ', true, JsonOut::error_handler_t::replace);
}

}  // namespace writeback::impl
