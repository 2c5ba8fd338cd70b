// By the annotations: an argument with "!" is read and written, and a return of the same letter is that tensor; a return that
// shares a letter with an argument that is not written is a view of it, which reads no cell; every other tensor argument is read
// and every other tensor return is fresh. Keyword-only written arguments are outputs (`out=`): overwritten, not read.
#include "ref/graph/effects_rule.h"

#include <algorithm>

namespace writeback {
namespace {

bool written(const SchemaArgument& a) { return a.type.alias && a.type.alias->write; }

bool share_a_letter(const SchemaArgument& a, const SchemaArgument& b) {
  if (!a.type.alias || !b.type.alias) return false;
  const auto &x = a.type.alias->before, &y = b.type.alias->before;
  return std::any_of(x.begin(), x.end(),
                     [&](const std::string& letter) { return std::find(y.begin(), y.end(), letter) != y.end(); });
}

/// Types of TorchScript alone (type variables, dicts, annotated lists, wildcards) tell nothing of tensors.
bool is_script_only(const SchemaArgument& a) {
  const std::string& base = a.type.base;
  const bool wildcard = a.type.alias && !a.type.alias->before.empty() && a.type.alias->before.front() == "*";
  return wildcard || a.type.alias_on_list || base == "t" || base == "Any" || base == "AnyListType" || base.front() == '(' ||
         base.find('(') != std::string::npos;
}

ArgumentRule argument_rule(const SchemaArgument& a) {
  ArgumentRule rule;
  rule.tensor = a.type.is_tensor();
  rule.list = a.type.is_list();
  rule.writes = rule.tensor && written(a);
  rule.out = rule.writes && a.keyword_only;
  rule.reads = rule.tensor && !rule.out;
  return rule;
}

ResultRule result_rule(const Schema& schema, const SchemaArgument& result) {
  ResultRule rule;
  rule.list = result.type.is_list();
  if (!result.type.is_tensor()) {
    rule.kind = ResultKind::none;
    return rule;
  }
  bool same = false;
  for (std::uint32_t i = 0; i < schema.arguments.size(); ++i) {
    if (!share_a_letter(schema.arguments[i], result)) continue;
    rule.sources.push_back(i);
    same = same || written(schema.arguments[i]);
    rule.elementwise = rule.list && schema.arguments[i].type.is_list();
  }
  if (!rule.sources.empty()) rule.kind = same ? ResultKind::same : ResultKind::alias;
  return rule;
}

bool has_tag(const Schema& schema, std::string_view tag) {
  return std::find(schema.tags.begin(), schema.tags.end(), tag) != schema.tags.end();
}

/// Whether a comma-separated list has this name.
bool names(std::string_view list, std::string_view name) {
  while (!list.empty()) {
    const std::string_view first = list.substr(0, list.find(','));
    if (first == name) return true;
    list.remove_prefix(std::min(first.size() + 1, list.size()));
  }
  return false;
}

/// The indices of the arguments that a row names.
std::vector<std::uint32_t> arguments_of(const Override& row, const Schema& schema, const EffectRule& rule) {
  std::vector<std::uint32_t> result;
  for (std::uint32_t i = 0; i < schema.arguments.size(); ++i) {
    if (!rule.arguments[i].tensor) continue;
    if (row.arguments.empty()) {
      if (row.correction == Correction::reads_nothing ? !rule.arguments[i].writes : result.empty()) result.push_back(i);
    } else if (names(row.arguments, schema.arguments[i].name)) {
      result.push_back(i);
    }
  }
  return result;
}

/// Results that the schema calls fresh, or views, become aliases of `source`.
void alias_results(EffectRule& rule, std::uint32_t source, ResultKind kind) {
  for (ResultRule& result : rule.results) {
    if (result.kind == ResultKind::none || result.kind == ResultKind::same) {
      if (result.kind != ResultKind::same || kind != ResultKind::alias) continue;
    }
    result.kind = kind;
    result.sources = {source};
    result.elementwise = result.list && rule.arguments[source].list;
  }
  rule.arguments[source].reads = kind == ResultKind::may_alias;
}

void apply(const Override& row, const Schema& schema, EffectRule& rule) {
  const std::vector<std::uint32_t> arguments = arguments_of(row, schema, rule);
  switch (row.correction) {
    case Correction::may_alias:
    case Correction::alias:
      for (const std::uint32_t i : arguments) {
        alias_results(rule, i, row.correction == Correction::alias ? ResultKind::alias : ResultKind::may_alias);
      }
      return;
    case Correction::reads_nothing:
    case Correction::overwrites:
      for (const std::uint32_t i : arguments) rule.arguments[i].reads = false;
      return;
    case Correction::writes:
      for (const std::uint32_t i : arguments) rule.arguments[i].reads = rule.arguments[i].writes = true;
      return;
    case Correction::writes_nothing:
      for (const std::uint32_t i : arguments) rule.arguments[i].writes = rule.arguments[i].out = false;
      return;
    case Correction::uninitialized:
      rule.set(Trait::uninitialized);
      return;
    case Correction::observed:
      rule.set(Trait::observed);
      return;
    case Correction::random:
      rule.set(Trait::random);
      return;
    case Correction::not_random:
      rule.clear(Trait::random);
      return;
    case Correction::refused:
      rule.set(Trait::refused);
      return;
  }
}

/// An in-place metadata op writes no cell: its result is a view of the argument, which takes the view's geometry.
void make_rebinding(EffectRule& rule) {
  rule.set(Trait::rebinds);
  for (ArgumentRule& a : rule.arguments) {
    if (a.writes) a.reads = a.writes = false;
  }
  for (ResultRule& r : rule.results) {
    if (r.kind == ResultKind::same) r.kind = ResultKind::alias;
  }
}

}  // namespace

EffectRule effect_rule(const Schema& schema, const std::vector<const Override*>& rows) {
  const auto script_only = [](const std::vector<SchemaArgument>& all) {
    return std::any_of(all.begin(), all.end(), is_script_only);
  };
  if (script_only(schema.arguments) || script_only(schema.returns) || schema.variadic || schema.variadic_returns)
    return opaque_rule(schema);
  EffectRule rule;
  for (const SchemaArgument& a : schema.arguments) rule.arguments.push_back(argument_rule(a));
  for (const SchemaArgument& r : schema.returns) rule.results.push_back(result_rule(schema, r));
  for (const ResultRule& r : rule.results) {
    for (const std::uint32_t i : r.sources) rule.arguments[i].reads = rule.arguments[i].reads && r.kind != ResultKind::alias;
  }
  if (schema.returns.empty()) rule.set(Trait::returns_nothing);
  if (has_tag(schema, "nondeterministic_seeded")) rule.set(Trait::random);
  if (has_tag(schema, "inplace_view")) make_rebinding(rule);
  for (const Override* row : rows) apply(*row, schema, rule);
  return rule;
}

EffectRule opaque_rule(const Schema& schema) {
  EffectRule rule;
  rule.set(Trait::opaque);
  if (schema.returns.empty()) rule.set(Trait::returns_nothing);
  for (const SchemaArgument& a : schema.arguments) {
    const bool tensor = a.type.is_tensor() || is_script_only(a);
    rule.arguments.push_back({tensor, a.type.is_list(), tensor, tensor, false});
  }
  for (const SchemaArgument& r : schema.returns) {
    const bool tensor = r.type.is_tensor() || is_script_only(r);
    rule.results.push_back({tensor ? ResultKind::opaque : ResultKind::none, r.type.is_list(), false, {}});
  }
  return rule;
}

}  // namespace writeback
