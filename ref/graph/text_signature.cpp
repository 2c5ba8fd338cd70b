#include "ref/graph/text_signature.h"

#include <array>
#include <charconv>
#include <set>
#include <unordered_map>

#include "ref/graph/text_value.h"

namespace writeback::text {
namespace {

struct InputName {
  InputKind kind;
  std::string_view name;
};
constexpr std::array kInputNames{InputName{InputKind::user_input, "USER_INPUT"}, InputName{InputKind::parameter, "PARAMETER"},
                                 InputName{InputKind::buffer, "BUFFER"}, InputName{InputKind::constant_tensor, "CONSTANT_TENSOR"},
                                 InputName{InputKind::custom_obj, "CUSTOM_OBJ"}, InputName{InputKind::token, "TOKEN"},
                                 // A constant input is printed as what it is for the user.
                                 InputName{InputKind::constant_input, "USER_INPUT"}};

struct OutputName {
  OutputKind kind;
  std::string_view name;
};
constexpr std::array kOutputNames{OutputName{OutputKind::user_output, "USER_OUTPUT"},
                                  OutputName{OutputKind::loss_output, "LOSS_OUTPUT"},
                                  OutputName{OutputKind::buffer_mutation, "BUFFER_MUTATION"},
                                  OutputName{OutputKind::parameter_mutation, "PARAMETER_MUTATION"},
                                  OutputName{OutputKind::gradient_to_parameter, "GRADIENT_TO_PARAMETER"},
                                  OutputName{OutputKind::gradient_to_user_input, "GRADIENT_TO_USER_INPUT"},
                                  OutputName{OutputKind::user_input_mutation, "USER_INPUT_MUTATION"},
                                  OutputName{OutputKind::token, "TOKEN"}};

template <typename Row, std::size_t N>
auto kind_named(const std::array<Row, N>& rows, std::string_view name, const Cursor& cursor, std::size_t position) {
  for (const Row& row : rows) {
    if (row.name == name) return row.kind;
  }
  cursor.fail_at(position, "expected a kind such as " + std::string(rows[0].name) + ", found '" + std::string(name) + "'");
}

template <typename Row, std::size_t N, typename Kind>
std::string_view name_in(const std::array<Row, N>& rows, Kind kind) {
  for (const Row& row : rows) {
    if (row.kind == kind) return row.name;
  }
  return rows[0].name;
}

/// `target='w'`, if it stands here.
std::string read_spec_target(Cursor& cursor) {
  cursor.skip_blanks();
  if (!cursor.take("target=")) return {};
  if (cursor.peek() != '\'' && cursor.peek() != '"') cursor.fail("a target in quotes");
  return read_string(cursor);
}

/// `name: KIND`; the kind.
std::string_view read_head(Cursor& cursor, std::string& name) {
  name = cursor.name();
  cursor.skip_blanks();
  cursor.expect(':', "after a name in the signature");
  cursor.skip_blanks();
  return cursor.name();
}

Named<InputSpec> read_input(Cursor& cursor) {
  Named<InputSpec> result;
  result.position = cursor.position();
  result.spec.kind = input_kind(read_head(cursor, result.name), cursor, result.position);
  result.spec.target = read_spec_target(cursor);
  cursor.skip_blanks();
  if (cursor.take("persistent=")) result.spec.persistent = cursor.name() == "True";
  return result;
}

Named<OutputSpec> read_output(Cursor& cursor) {
  Named<OutputSpec> result;
  result.position = cursor.position();
  result.spec.kind = output_kind(read_head(cursor, result.name), cursor, result.position);
  result.spec.target = read_spec_target(cursor);
  return result;
}

/// A bound that is no integer (of a float symbol) is as good as none.
std::int64_t read_bound(Cursor& cursor, std::int64_t unbounded) {
  cursor.skip_space();
  for (const std::string_view key : {"lower=", "upper=", "min_val=", "max_val="}) cursor.take(key);
  const std::size_t begin = cursor.position();
  while (!cursor.at_end() && std::string_view(",])\n").find(cursor.peek()) == std::string_view::npos) cursor.advance();
  const std::string_view word = trimmed(cursor.since(begin));
  std::int64_t bound = 0;
  const auto read = std::from_chars(word.data(), word.data() + word.size(), bound);
  return read.ec == std::errc() && read.ptr == word.data() + word.size() ? bound : unbounded;
}

void print_range(std::string& out, const std::string& symbol, SymRange range) {
  constexpr SymRange kUnbounded;
  const bool floating = symbol.starts_with('z');  // torch names symbols of floats zf0 and zuf0
  const auto bound = [&](std::int64_t end) {
    if (end == kUnbounded.min)
      out += floating ? "-oo" : "-int_oo";
    else if (end == kUnbounded.max)
      out += floating ? "oo" : "int_oo";
    else
      out += std::to_string(end);
  };
  out.append(symbol).append(": VR[");
  bound(range.min);
  out += ", ";
  bound(range.max);
  out += ']';
}

/// Collects the symbols with a range, each once, as they come.
class SymbolOrder {
 public:
  explicit SymbolOrder(const std::map<std::string, SymRange>& ranges) : ranges_(ranges), left_(ranges.size()) {}

  void add(const Graph& graph) {
    for (std::size_t v = 0; v < graph.value_count() && left_ > 0; ++v) add(graph.meta_of(value_id(v)));
    for (const Subgraph& subgraph : graph.subgraphs) add(subgraph.graph);
  }
  void add(std::string_view text) {
    for (Cursor cursor(text); !cursor.at_end();) {
      const std::string_view word = cursor.name();
      if (word.empty())
        cursor.advance();
      else if (const auto found = ranges_.find(std::string(word)); found != ranges_.end())
        add_symbol(found->first);
    }
  }
  std::vector<std::string> take() {
    for (const auto& [symbol, range] : ranges_) add_symbol(symbol);
    return std::move(order_);
  }

 private:
  void add(const ValueMeta& meta) {
    if (const auto* scalar = std::get_if<SymScalarMeta>(&meta)) add(scalar->text);
    if (const TensorMeta* tensor = tensor_meta(meta)) {
      for (const SymInt& size : tensor->sizes) {
        if (!size.is_number()) add(size.text());
      }
    }
  }
  void add_symbol(const std::string& symbol) {
    if (!seen_.insert(symbol).second) return;
    order_.push_back(symbol);
    --left_;
  }

  const std::map<std::string, SymRange>& ranges_;
  std::size_t left_;
  std::set<std::string_view> seen_;
  std::vector<std::string> order_;
};

}  // namespace

InputKind input_kind(std::string_view name, const Cursor& cursor, std::size_t position) {
  return kind_named(kInputNames, name, cursor, position);
}
OutputKind output_kind(std::string_view name, const Cursor& cursor, std::size_t position) {
  return kind_named(kOutputNames, name, cursor, position);
}

Signature read_signature(Cursor& cursor) {
  cursor.skip_space();
  if (cursor.looking_at("ExportGraphSignature(")) return read_signature_repr(cursor);
  Signature signature;
  bool outputs = false;
  for (; !cursor.at_end(); cursor.next_line()) {
    cursor.skip_blanks();
    const std::string_view line = trimmed(cursor.this_line());
    if (line.empty() || line == "# inputs") continue;
    if (line == "# outputs")
      outputs = true;
    else if (line.starts_with("Range constraints") || line.find(':') == std::string_view::npos)
      break;
    else if (outputs)
      signature.outputs.push_back(read_output(cursor));
    else
      signature.inputs.push_back(read_input(cursor));
  }
  return signature;
}

void bind_signature(const Signature& signature, const Cursor& cursor, Program& program) {
  const Graph& graph = program.graph;
  std::unordered_map<std::string_view, const Named<InputSpec>*> by_name;
  for (const auto& input : signature.inputs) {
    const bool known = !input.name.empty() && !by_name.try_emplace(input.name, &input).second;
    if (known) cursor.fail_at(input.position, "expected one spec for '" + input.name + "'");
  }
  for (std::size_t i = 0; i < graph.placeholders.size(); ++i) {
    const std::string& name = graph.placeholders[i].name;
    const bool nameless = i < signature.inputs.size() && signature.inputs[i].name.empty();  // constants in old text
    const auto found = by_name.find(name);
    if (!nameless && found == by_name.end()) cursor.fail("an input spec for '" + name + "' in the signature above");
    program.input_specs.push_back(nameless ? signature.inputs[i].spec : found->second->spec);
  }
  if (signature.inputs.size() != graph.placeholders.size()) {
    cursor.fail(std::to_string(graph.placeholders.size()) + " input specs above, as many as parameters");
  }
  if (signature.outputs.size() != graph.outputs.size()) {
    cursor.fail(std::to_string(graph.outputs.size()) + " output specs above, as many as are returned");
  }
  for (std::size_t i = 0; i < graph.outputs.size(); ++i) {
    const auto& output = signature.outputs[i];
    const ValueId* value = as_value(graph.outputs[i]);
    if (value != nullptr && graph.name_of(*value) != output.name) {
      cursor.fail_at(output.position, "expected the output '" + graph.name_of(*value) + "', found '" + output.name + "'");
    }
    program.output_specs.push_back(output.spec);
  }
}

std::vector<Named<InputSpec>> inferred_inputs(const Graph& graph) {
  struct Row {
    std::string_view prefix;
    InputKind kind;
  };
  constexpr std::array kPrefixes{Row{"p_", InputKind::parameter}, Row{"b_", InputKind::buffer},
                                 Row{"c_", InputKind::constant_tensor}, Row{"obj_", InputKind::custom_obj},
                                 Row{"token", InputKind::token}};
  std::vector<Named<InputSpec>> inputs;
  for (const Placeholder& placeholder : graph.placeholders) {
    Named<InputSpec>& input = inputs.emplace_back();
    input.name = placeholder.name;
    for (const Row& row : kPrefixes) {
      if (!std::string_view(placeholder.name).starts_with(row.prefix)) continue;
      input.spec.kind = row.kind;
      if (row.kind != InputKind::token) input.spec.target = placeholder.name.substr(row.prefix.size());
      break;
    }
  }
  return inputs;
}

void infer_signature(Program& program, Warnings& warnings) {
  warnings.add("the text has no signature: what an input is was told by its name (p_, b_, c_), and all outputs are user outputs");
  for (Named<InputSpec>& input : inferred_inputs(program.graph)) program.input_specs.push_back(std::move(input.spec));
  program.output_specs.resize(program.graph.outputs.size());
}

void read_ranges(Cursor& cursor, Program& program) {
  constexpr SymRange kUnbounded;
  cursor.skip_space();
  cursor.expect('{', "before the range constraints");
  for (cursor.skip_space(); !cursor.take('}'); cursor.skip_space()) {
    const std::size_t begin = cursor.position();
    while (!cursor.at_end() && cursor.peek() != ':' && cursor.peek() != '\n') cursor.advance();
    const std::string symbol(trimmed(cursor.since(begin)));
    cursor.expect(':', "after a symbol");
    cursor.skip_space();
    const std::string_view form =
        cursor.name();  // VR[2, 9], RangeConstraint(min_val=2, max_val=9), ValueRanges(lower=2, upper=9, ...)
    if (form.empty() || (!cursor.take('[') && !cursor.take('('))) cursor.fail("'VR['");
    SymRange range;
    range.min = read_bound(cursor, kUnbounded.min);
    cursor.expect(',', "between the bounds");
    range.max = read_bound(cursor, kUnbounded.max);
    while (!cursor.at_end() && cursor.peek() != ']' && cursor.peek() != ')' && cursor.peek() != '\n') cursor.advance();
    if (!cursor.take(']') && !cursor.take(')')) cursor.fail("']' after the bounds");
    program.range_constraints[symbol] = range;
    program.range_order.push_back(symbol);
    cursor.skip_space();
    cursor.take(',');
  }
}

namespace {

void print_spec_target(std::string& out, const std::string& target) {
  if (target.empty()) return;
  out += " target=";
  print_string(out, target);
}

}  // namespace

void print_signature(std::string& out, const Program& program) {
  const Graph& graph = program.graph;
  out += "Graph signature: \n    # inputs\n";
  for (std::size_t i = 0; i < program.input_specs.size() && i < graph.placeholders.size(); ++i) {
    const InputSpec& spec = program.input_specs[i];
    out.append("    ").append(graph.placeholders[i].name).append(": ").append(name_in(kInputNames, spec.kind));
    print_spec_target(out, spec.target);
    if (spec.persistent) out.append(" persistent=").append(*spec.persistent ? "True" : "False");
    out += '\n';
  }
  if (program.input_specs.empty()) out += "    \n";
  out += "    \n    # outputs\n";
  for (std::size_t i = 0; i < program.output_specs.size() && i < graph.outputs.size(); ++i) {
    const OutputSpec& spec = program.output_specs[i];
    const ValueId* value = as_value(graph.outputs[i]);
    out.append("    ").append(value != nullptr ? graph.name_of(*value) : "").append(": ").append(name_in(kOutputNames, spec.kind));
    print_spec_target(out, spec.target);
    out += '\n';
  }
  if (program.output_specs.empty()) out += "    \n";
  out += "    \n";
}

void print_ranges(std::string& out, const Program& program) {
  SymbolOrder order(program.range_constraints);
  for (const std::string& symbol : program.range_order) order.add(symbol);
  order.add(program.graph);
  out += "Range constraints: {";
  for (const std::string& symbol : order.take()) {
    if (out.back() != '{') out += ", ";
    print_range(out, symbol, program.range_constraints.at(symbol));
  }
  out += "}\n";
}

}  // namespace writeback::text
