#include "ref/graph/cellwise.h"

#include <algorithm>
#include <string_view>
#include <unordered_set>

namespace writeback {
namespace {

/// Element-wise ops: every tensor argument, whatever the overload.
const std::unordered_set<std::string_view>& elementwise() {
  static const std::unordered_set<std::string_view> names = {
      "abs",          "acos",        "acosh",      "add",         "addcdiv",     "addcmul",    "asin",        "asinh",
      "atan",         "atan2",       "atanh",      "bitwise_and", "bitwise_not", "bitwise_or", "bitwise_xor", "ceil",
      "clamp",        "clamp_max",   "clamp_min",  "clone",       "copysign",    "cos",        "cosh",        "div",
      "elu",          "eq",          "erf",        "erfc",        "exp",         "exp2",       "expm1",       "floor",
      "floor_divide", "fmax",        "fmin",       "fmod",        "frac",        "ge",         "gelu",        "gt",
      "hardsigmoid",  "hardswish",   "hardtanh",   "hypot",       "le",          "leaky_relu", "lerp",        "log",
      "log10",        "log1p",       "log2",       "logical_and", "logical_not", "logical_or", "logical_xor", "logit",
      "lt",           "masked_fill", "maximum",    "minimum",     "mish",        "mul",        "nan_to_num",  "ne",
      "neg",          "pow",         "reciprocal", "relu",        "relu6",       "remainder",  "round",       "rsqrt",
      "rsub",         "sgn",         "sigmoid",    "sign",        "silu",        "sin",        "sinc",        "sinh",
      "softplus",     "sqrt",        "square",     "sub",         "tan",         "tanh",       "threshold",   "trunc",
      "where"};
  return names;
}

/// Ops that give back their first argument with some cells replaced by, or added to from, the others: the first argument alone.
const std::unordered_set<std::string_view>& updates() {
  static const std::unordered_set<std::string_view> names = {"index_put",      "index_add",     "index_copy",
                                                             "index_fill",     "scatter",       "scatter_add",
                                                             "select_scatter", "slice_scatter", "diagonal_scatter"};
  return names;
}

bool names_value(const Argument& a, ValueId v) {
  bool found = false;
  for_each_value(a, [&](ValueId named) { found = found || named == v; });
  return found;
}

}  // namespace

bool reads_cell_by_cell(const Program& program, NodeId n, ValueId operand) {
  const Node& node = program.graph.node(n);
  const Target& target = program.target(node);
  if (node.kind != Node::Kind::call || !target.is_op() || target.ns != "aten") return false;
  if (elementwise().contains(target.name)) return true;
  if (!updates().contains(target.name)) return false;
  const auto elsewhere = [&](const Argument& a) { return names_value(a, operand); };
  return std::none_of(node.args.begin() + (node.args.empty() ? 0 : 1), node.args.end(), elsewhere) &&
         std::none_of(node.kwargs.begin(), node.kwargs.end(), [&](const KeywordArgument& k) { return elsewhere(k.value); });
}

}  // namespace writeback
