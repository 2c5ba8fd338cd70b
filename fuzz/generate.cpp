#include "fuzz/generate.h"

#include <algorithm>
#include <array>
#include <numeric>

#include "fuzz/builder.h"
#include "fuzz/edit.h"

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

/// Parameters, then buffers, then the rest, as torch lists them.
Program in_order_of_kinds(const Program& program) {
  const std::size_t count = program.graph.placeholders.size();
  const auto rank = [&](std::size_t v) {
    const InputKind kind = program.input_specs[v].kind;
    return kind == InputKind::parameter ? 0 : kind == InputKind::buffer ? 1 : 2;
  };
  std::vector<std::size_t> order(count);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&](auto a, auto b) { return std::pair(rank(a), a) < std::pair(rank(b), b); });
  if (std::is_sorted(order.begin(), order.end())) return program;
  Program result = program;
  std::vector<ValueId> renumbered(program.graph.value_count());
  for (std::size_t v = 0; v < renumbered.size(); ++v) renumbered[v] = value_id(v);
  for (std::size_t i = 0; i < count; ++i) {
    renumbered[order[i]] = value_id(i);
    result.graph.placeholders[i] = program.graph.placeholders[order[i]];
    result.input_specs[i] = program.input_specs[order[i]];
  }
  for_each_use(result.graph, [&](ValueId& v) { v = renumbered[index_of(v)]; });
  for (auto& group : result.alias_groups) {
    for (AliasMember& m : group) m.value = renumbered[index_of(m.value)];
  }
  return result;
}

void sort_groups(Program& program) {
  for (auto& group : program.alias_groups) {
    std::sort(group.begin(), group.end(), [](const AliasMember& a, const AliasMember& b) { return a.value < b.value; });
  }
  std::sort(program.alias_groups.begin(), program.alias_groups.end(),
            [](const auto& a, const auto& b) { return a.front().value < b.front().value; });
}

/// What is printed beside a node, as torch prints it without stack traces.
void uncomment(Node& node, bool first) {
  node.trailing_comment.clear();
  node.metadata.clear();
  node.comments.clear();
  if (first) node.comments.emplace_back(kFirstComment);
}

void name_placeholders(Program& program) {
  std::vector<std::optional<ValueId>> mutated;
  for (const OutputSpec& o : program.output_specs)
    mutated.push_back(is_mutation(o.kind) ? placeholder_of(program, o) : std::nullopt);
  for (std::size_t v = 0; v < program.graph.placeholders.size(); ++v) {
    InputSpec& input = program.input_specs[v];
    std::string& name = program.graph.placeholders[v].name;
    name = placeholder_name(input.kind, v);
    if (input.kind != InputKind::user_input) input.target = name.substr(2);
  }
  for (std::size_t i = 0; i < mutated.size(); ++i) {
    if (!mutated[i]) continue;
    const InputSpec& input = program.input_specs[index_of(*mutated[i])];
    program.output_specs[i].target = input.kind == InputKind::user_input ? program.graph.name_of(*mutated[i]) : input.target;
  }
}

/// The branches in the order in which the nodes that name them stand, with the generator's names.
void name_branches(Program& program) {
  std::vector<Subgraph> ordered;
  for (Node& node : program.graph.nodes) {
    if (node.kind != Node::Kind::get_attr) continue;
    const std::string name = branch_name(ordered.size() % 2 == 0, ordered.size() / 2);
    const std::string attribute = program.target(node).name;
    for (const Subgraph& s : program.graph.subgraphs) {
      if (s.attribute != attribute) continue;
      ordered.push_back({name, s.graph});
      ordered.back().graph.class_name = name;
      break;
    }
    node.name = name;
    node.target = program.intern({Target::Kind::python, "", name, ""});
  }
  for (Subgraph& s : ordered) {
    for (std::size_t i = 0; i < s.graph.placeholders.size(); ++i) s.graph.placeholders[i].name = branch_placeholder_name(i);
    for (std::size_t n = 0; n < s.graph.nodes.size(); ++n) {
      s.graph.nodes[n].name = branch_node_name(n);
      uncomment(s.graph.nodes[n], n == 0);
    }
  }
  program.graph.subgraphs = std::move(ordered);
  program = tidy(std::move(program));
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
  Program program = builder.take();
  if (!program.graph.subgraphs.empty()) program = tidy(std::move(program));  // targets of branches come last
  sort_groups(program);
  return program;
}

Program canonical(const Program& given) {
  Program program = tidy(in_order_of_kinds(given));
  program.leading_comments.clear();
  program.warnings.clear();
  name_placeholders(program);
  for (std::size_t n = 0; n < program.graph.nodes.size(); ++n) {
    Node& node = program.graph.nodes[n];
    if (node.kind == Node::Kind::call) node.name = node_name(n);
    uncomment(node, n == 0);
  }
  if (!program.graph.subgraphs.empty()) name_branches(program);
  sort_groups(program);
  return program;
}

std::optional<Records> encode(const Program& given, const Sizes& sizes) {
  if (given.input_specs.size() != given.graph.placeholders.size()) return std::nullopt;
  if (given.output_specs.size() != given.graph.outputs.size()) return std::nullopt;
  const Program program = canonical(given);
  try {
    Records records = encode_all(program, sizes);
    if (generate(records, sizes) == program) return records;
  } catch (const NotEncodable&) {
  }
  return std::nullopt;
}

}  // namespace writeback::fuzz
