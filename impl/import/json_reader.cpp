// Reads export-schema JSON: versions, the graph, its signature, the ranges of symbols. Schema 8 of any minor as torch >= 2.5 writes
// it, the integer versions of torch 2.1 to 2.3, and ExecuTorch's own fork (5.4). Unknown fields are ignored.
#include "impl/import/graph_reader.h"
#include "impl/import/import.h"
#include "impl/import/json.h"
#include "impl/import/spec_names.h"
#include "ref/graph/error.h"

#include <unordered_set>
#include <utility>

namespace writeback::impl {
namespace {

template <typename Table>
const auto& row_of(const Table& table, const Json& spec) {
  const std::string_view tag = spec.tag();
  for (const auto& row : table) {
    if (row.tag == tag) return row;
  }
  spec.fail("the kind '" + std::string(tag) + "' is not known");
}

/// The value that a spec speaks of; empty for constants.
std::string_view spec_name(const Json& body) {
  const Json arg = body["arg"];
  if (arg.is_null()) return {};
  const Json name = arg["name"];
  return name.is_string() ? name.string() : defined_name(arg);
}

Numbering read_version(const Json& root) {
  const Json version = root["schema_version"];
  constexpr const char* kRead = "expected schema version 8, 5 (ExecuTorch), 1 or 2";
  if (version.is_null()) version.fail(kRead);
  const Json major_field = version.is_integer() ? root["schema_version"] : version["major"];
  const std::int64_t major = major_field.integer();
  if (major == 5) return Numbering::executorch_fork;
  if (major != 8 && major != 1 && major != 2) major_field.fail(std::string(kRead) + ", found " + std::to_string(major));
  return Numbering::torch_export;
}

/// Names of the inputs by their specs: constants carry none in the graph.
std::vector<std::string> names_by_spec(const Json& specs) {
  std::vector<std::string> names;
  specs.each([&](const Json& spec) {
    const std::string_view tag = spec.tag();
    const Json body = spec[tag];
    names.emplace_back(tag == "constant_input" ? body["name"].string() : spec_name(body));
  });
  return names;
}

void read_input_specs(const Json& specs, Program& program) {
  const auto& placeholders = program.graph.placeholders;
  specs.each([&](const Json& json) {
    const std::size_t i = program.input_specs.size();
    const auto& row = row_of(kInputSpecs, json);
    const Json body = json[row.tag];
    InputSpec spec{row.kind, {}, {}};
    if (row.target != nullptr) spec.target = body[row.target].text();
    const Json persistent = body["persistent"];
    if (row.kind == InputKind::buffer && !persistent.is_null()) spec.persistent = persistent.boolean();
    const std::string_view name = spec_name(body);
    if (i >= placeholders.size()) json.fail("expected one spec for each of the graph's " + std::to_string(i) + " inputs");
    if (!name.empty() && name != placeholders[i].name) {
      body.fail("expected the spec of input '" + placeholders[i].name + "', found that of '" + std::string(name) + "'");
    }
    program.input_specs.push_back(std::move(spec));
  });
  if (program.input_specs.size() != placeholders.size()) {
    specs.fail("expected one spec for each of the graph's " + std::to_string(placeholders.size()) + " inputs");
  }
}

/// The names of all values, gathered when first asked for.
class Names {
 public:
  explicit Names(const Graph& graph) : graph_(graph) {}
  bool has(std::string_view name) {
    for (std::size_t i = names_.size(); i < graph_.value_count(); ++i) names_.insert(graph_.name_of(value_id(i)));
    return names_.count(name) != 0;
  }

 private:
  const Graph& graph_;
  std::unordered_set<std::string_view> names_;
};

void check_output_name(const Json& body, const Program& program, std::size_t i, Names& names) {
  const std::string_view name = spec_name(body);
  const ValueId* value = as_value(program.graph.outputs[i]);
  if (name.empty() || value == nullptr || program.graph.name_of(*value) == name) return;
  // A spec may still name a getitem that the writer merged with its twin; one that names another value is in the wrong place.
  if (!names.has(name)) return;
  body.fail("expected the spec of output '" + program.graph.name_of(*value) + "', found that of '" + std::string(name) + "'");
}

void read_output_specs(const Json& specs, Program& program) {
  const std::size_t count = program.graph.outputs.size();
  Names names(program.graph);
  specs.each([&](const Json& json) {
    const std::size_t i = program.output_specs.size();
    const auto& row = row_of(kOutputSpecs, json);
    const Json body = json[row.tag];
    OutputSpec spec{row.kind, {}};
    if (row.target != nullptr) spec.target = body[row.target].text();
    if (i >= count) json.fail("expected one spec for each of the graph's " + std::to_string(count) + " outputs");
    check_output_name(body, program, i, names);
    program.output_specs.push_back(std::move(spec));
    if (is_mutation(row.kind) && !placeholder_of(program, program.output_specs.back())) {
      body.fail("mutates '" + program.output_specs.back().target + "', which is no input of the program");
    }
  });
  if (program.output_specs.size() != count)
    specs.fail("expected one spec for each of the graph's " + std::to_string(count) + " outputs");
}

void read_ranges(const Json& ranges, Program& program) {
  if (ranges.is_null()) return;
  ranges.members([&](std::string_view symbol, const Json& json) {
    SymRange range;
    const Json min = json["min_val"], max = json["max_val"];
    if (!min.is_null()) range.min = min.integer();
    if (!max.is_null()) range.max = max.integer();
    const bool is_new = program.range_constraints.insert_or_assign(std::string(symbol), range).second;
    if (is_new) program.range_order.emplace_back(symbol);
  });
}

/// What `place --coalesce` tells of a node.
void read_births(Program& program) {
  for (std::size_t n = 0; n < program.graph.nodes.size(); ++n) {
    const auto found = program.graph.nodes[n].metadata.find("born_in");
    if (found == program.graph.nodes[n].metadata.end()) continue;
    const std::optional<ValueId> target = find_value(program.graph, found->second);
    if (!target || !program.graph.is_placeholder(*target))
      throw InputError("node '" + program.graph.nodes[n].name + "'",
                       "expected an input as 'born_in', found '" + found->second + "'");
    program.births.push_back({node_id(n), *target});
  }
}

}  // namespace

Program read_json(std::string_view text) {
  const JsonDocument document(text);
  const Json root = document.root();
  Program program;
  ReadingContext context(program, read_version(root));
  const Json module = root["graph_module"];
  const Json graph = module["graph"];
  const Json signature = module["signature"];
  const Json inputs = signature["input_specs"];
  GraphReader(context, program.graph).read(graph, names_by_spec(inputs));
  read_input_specs(inputs, program);
  read_output_specs(signature["output_specs"], program);
  read_ranges(root["range_constraints"], program);
  read_births(program);
  return program;
}

}  // namespace writeback::impl
