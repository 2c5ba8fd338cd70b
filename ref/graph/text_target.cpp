#include "ref/graph/text_target.h"

#include <algorithm>
#include <array>

#include "ref/graph/text_cursor.h"

namespace writeback::text {
namespace {

constexpr std::string_view kOps = "torch.ops.", kHigherOrder = "torch.ops.higher_order.";
constexpr std::string_view kModule = "self.";
constexpr std::string_view kEdge = "executorch_exir_dialects_edge__ops_", kEdgeDotted = "executorch.exir.dialects.edge._ops.";

// Longer symbols stand before the shorter ones that they start with.
constexpr std::array kOperators{
    PythonOperator{"floordiv", "//"},   PythonOperator{"pow", "**"},      PythonOperator{"lshift", "<<"},
    PythonOperator{"rshift", ">>"},     PythonOperator{"eq", "=="},       PythonOperator{"ne", "!="},
    PythonOperator{"le", "<="},         PythonOperator{"ge", ">="},       PythonOperator{"lt", "<"},
    PythonOperator{"gt", ">"},          PythonOperator{"add", "+"},       PythonOperator{"sub", "-"},
    PythonOperator{"mul", "*"},         PythonOperator{"truediv", "/"},   PythonOperator{"mod", "%"},
    PythonOperator{"and_", "&"},        PythonOperator{"or_", "|"},       PythonOperator{"xor", "^"},
    PythonOperator{"matmul", "@"},      PythonOperator{"pos", "+", true}, PythonOperator{"neg", "-", true},
    PythonOperator{"invert", "~", true}};

Target dotted_op(Target::Kind kind, std::string_view rest, std::string_view spelled) {
  const std::size_t first = rest.find('.');
  if (first == std::string_view::npos) return python_target(std::string(spelled));
  const std::size_t second = rest.find('.', first + 1);
  Target target{kind, std::string(rest.substr(0, first)), std::string(rest.substr(first + 1, second - first - 1)), "default"};
  if (second != std::string_view::npos) target.overload = rest.substr(second + 1);
  return target;
}

/// `aten_sum_dim_IntList`. Of an operator that no schema tells of, the overload is taken to be the last part.
Target underscored_op(std::string_view rest, const SchemaTable& schemas) {
  if (const auto known = schemas.split_edge_name(rest)) return *known;
  constexpr std::array kNamespaces{"dim_order_ops", "quantized_decomposed"};
  std::string_view ns = rest.substr(0, rest.find('_'));
  for (const std::string_view known : kNamespaces) {
    if (rest.starts_with(known)) ns = known;
  }
  rest.remove_prefix(std::min(rest.size(), ns.size() + 1));
  const std::size_t last = rest.rfind('_');
  if (last == std::string_view::npos || last == 0) return {Target::Kind::edge_op, std::string(ns), std::string(rest), "default"};
  return {Target::Kind::edge_op, std::string(ns), std::string(rest.substr(0, last)), std::string(rest.substr(last + 1))};
}

}  // namespace

Target read_target(std::string_view spelled, const SchemaTable& schemas) {
  if (spelled.starts_with(kHigherOrder))
    return {Target::Kind::higher_order, {}, std::string(spelled.substr(kHigherOrder.size())), {}};
  if (spelled.starts_with(kOps)) return dotted_op(Target::Kind::op, spelled.substr(kOps.size()), spelled);
  if (spelled.starts_with(kEdge)) return underscored_op(spelled.substr(kEdge.size()), schemas);
  if (spelled.starts_with(kEdgeDotted)) return dotted_op(Target::Kind::edge_op, spelled.substr(kEdgeDotted.size()), spelled);
  return python_target(std::string(spelled));
}

Target python_target(std::string name) { return {Target::Kind::python, {}, std::move(name), {}}; }

std::string print_target(const Target& target) {
  switch (target.kind) {
    case Target::Kind::op:
      return std::string(kOps) + target.ns + "." + target.name + "." + target.overload;
    case Target::Kind::edge_op:
      return std::string(kEdge) + target.ns + "_" + target.name + "_" + target.overload;
    case Target::Kind::higher_order:
      return std::string(kHigherOrder) + target.name;
    case Target::Kind::python:
      return target.name.starts_with(kModule) ? print_attribute(std::string_view(target.name).substr(kModule.size())) : target.name;
  }
  return target.name;
}

bool is_attribute_path(std::string_view path) {
  const auto valid = [](char c) { return is_name_char(c) || c == '.'; };
  return !path.empty() && std::all_of(path.begin(), path.end(), valid) && path.front() != '.' && path.back() != '.' &&
         path.find("..") == std::string_view::npos;
}

std::string print_attribute(std::string_view path) {
  std::string result = "self";
  while (!path.empty()) {
    const std::string_view part = path.substr(0, path.find('.'));
    path.remove_prefix(std::min(path.size(), part.size() + 1));
    if (is_dotted_name(part))
      result.append(".").append(part);
    else
      result = std::string("getattr(").append(result).append(", \"").append(part).append("\")");
  }
  return result;
}

TargetId TargetTable::find(const Target& target) {
  const auto [entry, added] =
      printed_.try_emplace(print_target(target), TargetId{static_cast<std::uint32_t>(program_.targets.size())});
  if (added) program_.targets.push_back(target);
  return entry->second;
}

TargetId TargetTable::find(std::string_view spelled) {
  const auto [entry, added] = spelled_.try_emplace(spelled);
  if (added) entry->second = find(read_target(spelled, schemas_));
  return entry->second;
}

TargetId TargetTable::find_operator(std::string_view function) {
  const auto [entry, added] = operators_.try_emplace(function);
  if (added) entry->second = find(python_target("operator." + std::string(function)));
  return entry->second;
}

const PythonOperator* operator_of(const Target& target) {
  if (target.kind != Target::Kind::python) return nullptr;
  std::string_view name = target.name;
  if (name.starts_with('_')) name.remove_prefix(1);
  if (!name.starts_with("operator.")) return nullptr;
  name.remove_prefix(std::string_view("operator.").size());
  for (const PythonOperator& row : kOperators) {
    if (row.function == name) return &row;
  }
  return nullptr;
}

const PythonOperator* infix_at(std::string_view text) {
  for (const PythonOperator& row : kOperators) {
    if (!row.unary && text.starts_with(row.symbol)) return &row;
  }
  return nullptr;
}

const PythonOperator* prefix_at(std::string_view text) {
  for (const PythonOperator& row : kOperators) {
    if (row.unary && text.starts_with(row.symbol)) return &row;
  }
  return nullptr;
}

}  // namespace writeback::text
