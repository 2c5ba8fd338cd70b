// Integers that a program knows only by name: sizes such as `s0` or `2*s0 + 1`. A SymInt is a number or an expression over symbols.
// Expressions are read in both spellings (torch prints `s0 + 1`; archives hold sympy's `Add(Symbol('s0', ...), Integer(1))`) and
// printed the first way. What cannot be read is kept as opaque text: it prints as it came and its value is unknown.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace writeback {

/// A closed interval; the extremes of int64 mean "unbounded".
struct SymRange {
  std::int64_t min = std::numeric_limits<std::int64_t>::min();
  std::int64_t max = std::numeric_limits<std::int64_t>::max();
  bool operator==(const SymRange&) const = default;
};

struct SymNode;  // an expression tree, immutable and shared; defined in symbolic.cpp

class SymInt {
 public:
  SymInt(std::int64_t value = 0) : value_(value) {}  // implicit on purpose: most sizes are numbers

  /// Reads an expression in torch's or sympy's spelling. Never fails: text that is no expression becomes an opaque symbol.
  static SymInt parse(std::string_view text);

  bool is_number() const { return expression_ == nullptr; }
  /// Only where is_number().
  std::int64_t number() const { return value_; }

  /// As torch prints it: `4`, `s0`, `s0 + 1`, `(s0//2)`.
  std::string text() const;
  /// The names of the symbols in it, each once, in order of appearance.
  std::vector<std::string> symbols() const;
  /// The value under an assignment; nullopt where a symbol has none, on overflow, or on division by zero.
  std::optional<std::int64_t> evaluate(const std::function<std::optional<std::int64_t>(const std::string&)>& value_of) const;
  /// An interval that holds every value the expression can take while its symbols stay in theirs.
  SymRange bounds(const std::map<std::string, SymRange>& ranges) const;

  /// Structural equality (equal text).
  friend bool operator==(const SymInt& a, const SymInt& b);
  /// `a` is the product of `factors` whatever their symbols are. False where that is not seen.
  friend bool is_product(const SymInt& a, std::span<const SymInt> factors);

 private:
  std::int64_t value_ = 0;
  std::shared_ptr<const SymNode> expression_;
};

}  // namespace writeback
