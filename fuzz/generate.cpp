#include "fuzz/generate.h"

#include <array>

#include "fuzz/builder.h"
#include "ref/graph/error.h"

namespace writeback::fuzz {
namespace {

/// What a record's first answer means; the simplest statement is a node.
constexpr std::array<Statement, kStatementAnswers> kStatements{
    Statement::node,   Statement::output, Statement::buffer, Statement::input,    Statement::node,   Statement::node,
    Statement::node,   Statement::node,   Statement::node,   Statement::node,     Statement::output, Statement::output,
    Statement::buffer, Statement::node,   Statement::input,  Statement::parameter};
constexpr std::uint32_t kSettingAnswer = kStatementAnswers;  // one more, so that settings are rare

Statement kind_of(std::uint32_t answer) { return answer == kSettingAnswer ? Statement::setting : kStatements[answer]; }

void make(Builder& builder, Statement kind, Choices& choices) {
  switch (kind) {
    case Statement::setting:
      return builder.setting(choices);
    case Statement::parameter:
      return builder.placeholder(InputKind::parameter, choices);
    case Statement::buffer:
      return builder.placeholder(InputKind::buffer, choices);
    case Statement::input:
      return builder.placeholder(InputKind::user_input, choices);
    case Statement::node:
      return builder.node(choices);
    case Statement::output:
      return builder.output(choices);
  }
}

std::uint32_t most(const Sizes& sizes, Statement kind) {
  switch (kind) {
    case Statement::setting:
      return 2;
    case Statement::parameter:
    case Statement::buffer:
    case Statement::input:
      return sizes.placeholders;
    case Statement::node:
      return sizes.nodes;
    case Statement::output:
      return sizes.outputs;
  }
  return 0;
}

bool is_placeholder(Statement kind) {
  return kind == Statement::parameter || kind == Statement::buffer || kind == Statement::input;
}

/// One record, made by the builder's next statement.
template <typename Make>
void encode_statement(Builder& builder, Records& records, Statement kind, Make make_statement) {
  builder.record = {};
  builder.record.put(kStatementAnswers + 1, answer_for(kind));
  make_statement();
  if (!builder.record.fits()) throw NotEncodable{};
  records.push_back(builder.record.record());
}

Statement statement_of(InputKind kind) {
  if (kind == InputKind::parameter) return Statement::parameter;
  if (kind == InputKind::buffer) return Statement::buffer;
  if (kind == InputKind::user_input) return Statement::input;
  throw NotEncodable{};
}

Records encode_all(const Program& program, const Sizes& sizes) {
  Records records;
  Builder builder(sizes, &program);
  struct NoChoices final : Choices {
    std::uint32_t pick(std::uint32_t) override { return 0; }
  } none;
  while (builder.program().options.size() < program.options.size()) {
    encode_statement(builder, records, Statement::setting, [&] { builder.setting(none); });
  }
  for (const InputSpec& input : program.input_specs) {
    encode_statement(builder, records, statement_of(input.kind), [&] { builder.placeholder(input.kind, none); });
  }
  while (builder.program().graph.nodes.size() < program.graph.nodes.size()) {
    encode_statement(builder, records, Statement::node, [&] { builder.node(none); });
  }
  while (builder.program().graph.outputs.size() < program.graph.outputs.size()) {
    encode_statement(builder, records, Statement::output, [&] { builder.output(none); });
  }
  return records;
}

}  // namespace

std::uint32_t answer_for(Statement kind) {
  for (std::uint32_t a = 0; a < kStatementAnswers; ++a) {
    if (kStatements[a] == kind) return a;
  }
  return kSettingAnswer;
}

Program generate(std::span<const Record> records, const Sizes& sizes) {
  Builder builder(sizes);
  std::uint32_t placeholders = 0;
  for (const Statement kind :
       {Statement::setting, Statement::parameter, Statement::buffer, Statement::input, Statement::node, Statement::output}) {
    std::uint32_t made = 0;
    for (const Record& record : records) {
      RecordReader reader(record);
      if (kind_of(reader.pick(kStatementAnswers + 1)) != kind) continue;
      if ((is_placeholder(kind) ? placeholders++ : made++) >= most(sizes, kind)) break;
      make(builder, kind, reader);
    }
  }
  return builder.take();
}

std::optional<Records> encode(const Program& program, const Sizes& sizes) {
  if (program.input_specs.size() != program.graph.placeholders.size()) return std::nullopt;
  if (program.output_specs.size() != program.graph.outputs.size()) return std::nullopt;
  try {
    Records records = encode_all(program, sizes);
    if (generate(records, sizes) == program) return records;
  } catch (const NotEncodable&) {
  }
  return std::nullopt;
}

Options options_of(const Program& program, Options options) {
  const auto word = [&](std::size_t i) { return i < program.options.size() ? program.options[i] : std::string(); };
  const auto refuse = [](const std::string& got, const char* expected) {
    throw InputError("# options:", "expected " + std::string(expected) + ", got '" + got + "'");
  };
  for (std::size_t i = 0; i < program.options.size(); i += 2) {
    const std::string name = word(i), value = word(i + 1);
    if (name == "--lowering") {
      if (value != "none" && value != "executorch") refuse(value, "executorch or none");
      options.lowering = value == "none" ? Lowering::none : Lowering::executorch;
    } else if (name == "--semantics") {
      if (value != "parallel" && value != "sequential") refuse(value, "parallel or sequential");
      options.semantics = value == "parallel" ? Semantics::parallel : Semantics::sequential;
    } else if (name == "--trust") {
      if (value.empty()) refuse(value, "a namespace");
      options.trusted.push_back(value);
    } else {
      refuse(name, "--lowering, --semantics or --trust");
    }
  }
  return options;
}

}  // namespace writeback::fuzz
