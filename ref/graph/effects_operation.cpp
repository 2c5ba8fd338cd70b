#include "ref/graph/effects_operation.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <unordered_map>

#include "ref/graph/error.h"

namespace writeback {
namespace {

std::optional<double> number_of(const Argument& a) {
  if (const bool* b = std::get_if<bool>(&a)) return *b ? 1 : 0;
  if (const std::int64_t* i = as_int(a)) return static_cast<double>(*i);
  if (const double* d = std::get_if<double>(&a)) return *d;
  return std::nullopt;
}

std::optional<double> parse_number(std::string_view text) {
  if (text == "True") return 1;
  if (text == "False") return 0;
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size() ? std::optional(value) : std::nullopt;
}

/// Rows that take an effect away must surely hold.
bool weakens(Correction correction) {
  switch (correction) {
    case Correction::reads_nothing:
    case Correction::overwrites:
    case Correction::writes_nothing:
    case Correction::not_random:
      return true;
    case Correction::may_alias:
    case Correction::alias:
    case Correction::writes:
    case Correction::uninitialized:
    case Correction::observed:
    case Correction::random:
    case Correction::refused:
      return false;
  }
  return false;
}

/// "train=False|p=0" as conditions on the arguments of this schema.
std::vector<Operation::Condition> conditions_of(const Override& row, const Schema& schema) {
  std::vector<Operation::Condition> alternatives;
  std::string_view when = row.when;
  while (!when.empty()) {
    const std::string_view one = when.substr(0, when.find('|'));
    when.remove_prefix(std::min(one.size() + 1, when.size()));
    const std::string_view name = one.substr(0, one.find('='));
    for (std::size_t i = 0; i < schema.arguments.size(); ++i) {
      const SchemaArgument& a = schema.arguments[i];
      if (a.name != name) continue;
      alternatives.push_back({i, *parse_number(one.substr(name.size() + 1)),
                              a.default_value ? parse_number(*a.default_value) : std::nullopt, weakens(row.correction)});
    }
  }
  return alternatives;
}

bool may_hold(const Operation::Condition& condition, std::span<const Argument* const> bound) {
  const Argument* given = bound[condition.argument];
  const std::optional<double> value = given == nullptr ? condition.by_default : number_of(*given);
  return value ? *value == condition.value : !condition.must_be_known;
}

bool is_trusted(const std::string& ns, const Options& options) {
  static constexpr std::array<std::string_view, 4> kTrusted = {"aten", "prims", "dim_order_ops", "quantized_decomposed"};
  return std::find(kTrusted.begin(), kTrusted.end(), ns) != kTrusted.end() ||
         std::find(options.trusted.begin(), options.trusted.end(), ns) != options.trusted.end();
}

/// Functions that take and give numbers alone.
bool is_number_function(const std::string& name) {
  for (const std::string_view module : {"operator.", "_operator.", "math.", "builtins.", "torch.sym_", "torch._sym_"}) {
    if (name.starts_with(module)) return true;
  }
  return false;
}

std::string join_reasons(const std::vector<const Override*>& rows) {
  if (rows.empty()) return "schema";
  std::string text = "table: ";
  for (const Override* row : rows) {
    if (text.find(row->reason) == std::string::npos) text += (text.ends_with(": ") ? "" : "; ") + std::string(row->reason);
  }
  return text;
}

SchemaTable table_for(const Program& program, const Options& options) {
  std::vector<std::string> lines = program.schemas;
  lines.insert(lines.end(), options.schemas.begin(), options.schemas.end());
  return SchemaTable::with(lines);
}

const Operation& builtin_operation(const Schema& schema, bool lowered) {
  thread_local std::array<std::unordered_map<const Schema*, Operation>, 2> known;
  auto& of_lowering = known[lowered ? 1 : 0];
  const auto found = of_lowering.find(&schema);
  if (found != of_lowering.end()) return found->second;
  return of_lowering.emplace(&schema, operation_of(schema, true, lowered)).first->second;
}

}  // namespace

Operation operation_of(const Schema& schema, bool trusted, bool lowered) {
  Operation operation;
  operation.kind = Operation::Kind::schema;
  operation.schema = &schema;
  for (const SchemaArgument& a : schema.arguments) {
    operation.positional += !a.keyword_only;
    operation.required += !a.default_value.has_value();
  }
  if (!trusted) {
    operation.source = fmt::format("opaque: namespace {} is not trusted", schema.ns);
    operation.rules.push_back(opaque_rule(schema));
    return operation;
  }
  const std::vector<const Override*> rows = overrides_of(schema);
  operation.source = join_reasons(rows);
  operation.later_alias = lowered && schema.ns == "aten" && schema.name == "view_copy" && schema.overload == "default";
  std::vector<const Override*> conditional;
  for (const Override* row : rows) {
    if (!row->when.empty()) conditional.push_back(row);
  }
  for (const Override* row : conditional) operation.conditions.push_back(conditions_of(*row, schema));
  for (std::size_t holding = 0; holding < std::size_t{1} << conditional.size(); ++holding) {
    std::vector<const Override*> chosen;
    for (const Override* row : rows) {
      const auto at = std::find(conditional.begin(), conditional.end(), row);
      if (at == conditional.end() || (holding >> (at - conditional.begin()) & 1) != 0) chosen.push_back(row);
    }
    operation.rules.push_back(effect_rule(schema, chosen));
  }
  return operation;
}

const EffectRule& Operation::rule(std::span<const Argument* const> bound) const {
  std::size_t holding = 0;
  for (std::size_t i = 0; i < conditions.size(); ++i) {
    const bool holds =
        std::any_of(conditions[i].begin(), conditions[i].end(), [&](const Condition& c) { return may_hold(c, bound); });
    holding |= static_cast<std::size_t>(holds) << i;
  }
  return rules[holding];
}

Operations::Operations(const Program& program, const Options& options) : table_(table_for(program, options)) {
  operations_.reserve(program.targets.size());
  for (const Target& target : program.targets) operations_.push_back(&resolve(target, options));
}

const Operation& Operations::resolve(const Target& target, const Options& options) {
  Operation operation;
  switch (target.kind) {
    case Target::Kind::python:
      operation.kind = target.is_getitem()               ? Operation::Kind::getitem
                       : is_number_function(target.name) ? Operation::Kind::numbers
                                                         : Operation::Kind::unknown;
      operation.source = operation.kind == Operation::Kind::unknown ? "opaque: no operator" : "python";
      return keep(std::move(operation));
    case Target::Kind::higher_order:
      operation.kind = Operation::Kind::higher_order;
      operation.source = "subgraph";
      return keep(std::move(operation));
    case Target::Kind::op:
    case Target::Kind::edge_op:
      break;
  }
  const bool lowered = options.lowering == Lowering::executorch;
  if (const Schema* schema = table_.find(target)) {
    const bool trusted = is_trusted(target.ns, options);
    if (trusted && SchemaTable::builtin().find(target) == schema) return builtin_operation(*schema, lowered);
    return keep(operation_of(*schema, trusted, lowered));
  }
  operation.source = "opaque: no schema";
  return keep(std::move(operation));
}

}  // namespace writeback
