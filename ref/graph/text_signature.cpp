#include "ref/graph/text_signature.h"

#include <array>
#include <charconv>

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
auto kind_named(const std::array<Row, N>& rows, Cursor& cursor) {
  const std::size_t begin = cursor.position();
  const std::string_view name = cursor.name();
  for (const Row& row : rows) {
    if (row.name == name) return row.kind;
  }
  cursor.fail_at(begin, "expected a kind such as " + std::string(rows[0].name) + ", found '" + std::string(name) + "'");
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

NamedInput read_input(Cursor& cursor) {
  NamedInput result;
  result.name = cursor.name();
  cursor.skip_blanks();
  cursor.expect(':', "after the name of an input");
  cursor.skip_blanks();
  result.spec.kind = kind_named(kInputNames, cursor);
  result.spec.target = read_spec_target(cursor);
  cursor.skip_blanks();
  if (cursor.take("persistent=")) result.spec.persistent = cursor.name() == "True";
  return result;
}

NamedOutput read_output(Cursor& cursor) {
  NamedOutput result;
  result.name = cursor.name();
  cursor.skip_blanks();
  cursor.expect(':', "after the name of an output");
  cursor.skip_blanks();
  result.spec.kind = kind_named(kOutputNames, cursor);
  result.spec.target = read_spec_target(cursor);
  return result;
}

bool ends_signature(std::string_view line) { return line.starts_with("Range constraints"); }

std::int64_t read_bound(Cursor& cursor) {
  cursor.skip_blanks();
  const std::size_t begin = cursor.position();
  while (!cursor.at_end() && cursor.peek() != ',' && cursor.peek() != ']' && cursor.peek() != '\n') cursor.advance();
  const std::string_view word = trimmed(cursor.since(begin));
  constexpr SymRange kUnbounded;
  if (word == "int_oo" || word == "oo" || word == "inf") return kUnbounded.max;
  if (word == "-int_oo" || word == "-oo" || word == "-inf") return kUnbounded.min;
  std::int64_t bound = 0;
  const auto read = std::from_chars(word.data(), word.data() + word.size(), bound);
  if (read.ec != std::errc() || read.ptr != word.data() + word.size()) {
    cursor.fail_at(begin, "expected a bound, found '" + std::string(word) + "'");
  }
  return bound;
}

void print_bound(std::string& out, std::int64_t bound) {
  constexpr SymRange kUnbounded;
  if (bound == kUnbounded.max)
    out += "int_oo";
  else if (bound == kUnbounded.min)
    out += "-int_oo";
  else
    out += std::to_string(bound);
}

}  // namespace

Signature read_signature(Cursor& cursor) {
  Signature signature;
  bool outputs = false;
  for (cursor.next_line(); !cursor.at_end(); cursor.next_line()) {
    const std::string_view line = trimmed(cursor.this_line());
    if (ends_signature(line)) break;
    cursor.skip_blanks();
    if (line.empty()) continue;
    if (line == "# inputs") continue;
    if (line == "# outputs")
      outputs = true;
    else if (outputs)
      signature.outputs.push_back(read_output(cursor));
    else
      signature.inputs.push_back(read_input(cursor));
  }
  return signature;
}

std::map<std::string, SymRange> read_ranges(Cursor& cursor) {
  std::map<std::string, SymRange> ranges;
  cursor.skip_space();
  cursor.expect('{', "before the range constraints");
  for (cursor.skip_space(); !cursor.take('}'); cursor.skip_space()) {
    const std::size_t begin = cursor.position();
    while (!cursor.at_end() && cursor.peek() != ':' && cursor.peek() != '\n') cursor.advance();
    const std::string symbol(trimmed(cursor.since(begin)));
    cursor.expect(':', "after a symbol");
    cursor.skip_space();
    if (!cursor.take("VR[")) cursor.fail("'VR['");
    SymRange range;
    range.min = read_bound(cursor);
    cursor.expect(',', "between the bounds");
    range.max = read_bound(cursor);
    cursor.expect(']', "after the bounds");
    ranges[symbol] = range;
    cursor.skip_space();
    cursor.take(',');
  }
  return ranges;
}

void print_signature(std::string& out, const Program& program) {
  const Graph& graph = program.graph;
  out += "Graph signature: \n    # inputs\n";
  for (std::size_t i = 0; i < program.input_specs.size() && i < graph.placeholders.size(); ++i) {
    const InputSpec& spec = program.input_specs[i];
    out.append("    ").append(graph.placeholders[i].name).append(": ").append(name_in(kInputNames, spec.kind));
    if (!spec.target.empty()) out.append(" target='").append(spec.target).append("'");
    if (spec.persistent) out.append(" persistent=").append(*spec.persistent ? "True" : "False");
    out += '\n';
  }
  if (program.input_specs.empty()) out += "    \n";
  out += "    \n    # outputs\n";
  for (std::size_t i = 0; i < program.output_specs.size() && i < graph.outputs.size(); ++i) {
    const OutputSpec& spec = program.output_specs[i];
    const ValueId* value = as_value(graph.outputs[i]);
    out.append("    ").append(value != nullptr ? graph.name_of(*value) : "").append(": ").append(name_in(kOutputNames, spec.kind));
    if (!spec.target.empty()) out.append(" target='").append(spec.target).append("'");
    out += '\n';
  }
  if (program.output_specs.empty()) out += "    \n";
  out += "    \n";
}

void print_ranges(std::string& out, const Program& program) {
  out += "Range constraints: {";
  for (const auto& [symbol, range] : program.range_constraints) {
    if (out.back() != '{') out += ", ";
    out.append(symbol).append(": VR[");
    print_bound(out, range.min);
    out += ", ";
    print_bound(out, range.max);
    out += ']';
  }
  out += "}\n";
}

}  // namespace writeback::text
