// Symbolic sizes as polynomials: sums of products of symbols. What is no polynomial (`s0//2`, `Max(1, s0)`) is a symbol of its own,
// the same one where it has the same text. Two polynomials that are the same have the same value everywhere; large ones, and
// those whose numbers overflow, are not compared.
#include <algorithm>
#include <iterator>
#include <map>
#include <span>

#include "ref/graph/symbolic.h"
#include "ref/graph/symbolic_node.h"

namespace writeback {
namespace {

using Monomial = std::vector<std::string>;  // its symbols in order, a power as often as it says
using Polynomial = std::map<Monomial, std::int64_t>;
constexpr std::size_t kMostTerms = 64;
constexpr std::int64_t kHighestPower = 8;

std::optional<Polynomial> valid(Polynomial p) {
  std::erase_if(p, [](const auto& term) { return term.second == 0; });
  if (p.size() > kMostTerms) return std::nullopt;
  return p;
}

std::optional<Polynomial> sum(Polynomial a, const Polynomial& b) {
  for (const auto& [monomial, factor] : b) {
    std::int64_t& total = a[monomial];
    if (__builtin_add_overflow(total, factor, &total)) return std::nullopt;
  }
  return valid(std::move(a));
}

std::optional<Polynomial> product(const Polynomial& a, const Polynomial& b) {
  Polynomial result;
  for (const auto& [x, n] : a) {
    for (const auto& [y, m] : b) {
      Monomial both;
      std::ranges::merge(x, y, std::back_inserter(both));
      std::int64_t factor = 0, &total = result[std::move(both)];
      if (__builtin_mul_overflow(n, m, &factor) || __builtin_add_overflow(total, factor, &total)) return std::nullopt;
    }
  }
  return valid(std::move(result));
}

std::optional<Polynomial> constant(std::int64_t number) { return valid({{Monomial{}, number}}); }

std::optional<Polynomial> polynomial(const SymNode& node) {
  const auto fold = [&](std::int64_t from, auto combine) {
    std::optional<Polynomial> result = constant(from);
    for (const auto& child : node.children) {
      const std::optional<Polynomial> next = polynomial(*child);
      result = result && next ? combine(*result, *next) : std::nullopt;
    }
    return result;
  };
  switch (node.op) {
    case SymNode::Op::number:
      return constant(node.number);
    case SymNode::Op::add:
      return fold(0, sum);
    case SymNode::Op::multiply:
      return fold(1, product);
    case SymNode::Op::power: {
      const SymNode& exponent = *node.children[1];
      if (exponent.op != SymNode::Op::number || exponent.number < 0 || exponent.number > kHighestPower) break;
      const std::optional<Polynomial> base = polynomial(*node.children[0]);
      std::optional<Polynomial> result = base ? constant(1) : std::nullopt;
      for (std::int64_t i = 0; i < exponent.number && result; ++i) result = product(*result, *base);
      return result;
    }
    case SymNode::Op::symbol:
    case SymNode::Op::floor_divide:
    case SymNode::Op::divide:
    case SymNode::Op::modulo:
    case SymNode::Op::maximum:
    case SymNode::Op::minimum:
    case SymNode::Op::floor:
    case SymNode::Op::ceiling:
    case SymNode::Op::other:
      break;
  }
  return Polynomial{{Monomial{print(node)}, 1}};
}

}  // namespace

bool is_product(const SymInt& a, std::span<const SymInt> factors) {
  const auto of = [](const SymInt& x) { return x.is_number() ? constant(x.value_) : polynomial(*x.expression_); };
  std::optional<Polynomial> all = constant(1);
  for (const SymInt& x : factors) {
    const std::optional<Polynomial> next = of(x);
    all = all && next ? product(*all, *next) : std::nullopt;
  }
  return all && all == of(a);
}

}  // namespace writeback
