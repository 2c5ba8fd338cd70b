// Expressions over symbolic sizes as small immutable trees. What torch printed keeps its text and is printed back as it was; what
// came in sympy's spelling is printed by sympy's rules (the arguments stand in its order already). Two expressions are equal when
// their texts are. Values are computed as exact fractions: `floor(s0/2)` needs the half that an integer cannot hold.
#include "ref/graph/symbolic.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <numeric>

#include "ref/graph/symbolic_node.h"

namespace writeback {

namespace {

using Op = SymNode::Op;
using Tree = std::shared_ptr<const SymNode>;

constexpr int kDeepest = 100;
constexpr std::size_t kLongest = 100'000;
constexpr SymRange kUnbounded;

struct TooDeep {};
struct NoExpression {};

Tree make(Op op, std::vector<Tree> children, std::string name = {}) {
  SymNode node;
  node.op = op;
  node.name = std::move(name);
  for (const Tree& child : children) node.depth = std::max(node.depth, child->depth + 1);
  if (node.depth > kDeepest) throw TooDeep();
  node.children = std::move(children);
  return std::make_shared<const SymNode>(std::move(node));
}

Tree make_number(std::int64_t number) {
  SymNode node;
  node.op = Op::number;
  node.number = number;
  return std::make_shared<const SymNode>(std::move(node));
}

Tree make_symbol(std::string_view name) {
  SymNode node;
  node.name = name;
  return std::make_shared<const SymNode>(std::move(node));
}

struct Function {
  std::string_view name;
  Op op;
  std::size_t least, most;  // arguments
};
constexpr std::size_t kAny = 1000;
constexpr std::array kFunctions{
    Function{"Add", Op::add, 1, kAny},
    Function{"Mul", Op::multiply, 1, kAny},
    Function{"Pow", Op::power, 2, 2},
    Function{"PowByNatural", Op::power, 2, 2},
    Function{"FloorDiv", Op::floor_divide, 2, 2},
    Function{"CleanDiv", Op::floor_divide, 2, 2},
    Function{"IntTrueDiv", Op::divide, 2, 2},
    Function{"Rational", Op::divide, 2, 2},
    Function{"Mod", Op::modulo, 2, 2},
    Function{"PythonMod", Op::modulo, 2, 2},
    Function{"Max", Op::maximum, 1, kAny},
    Function{"Min", Op::minimum, 1, kAny},
    Function{"floor", Op::floor, 1, 1},
    Function{"FloorToInt", Op::floor, 1, 1},
    Function{"ceiling", Op::ceiling, 1, 1},
    Function{"CeilToInt", Op::ceiling, 1, 1},
};

/// Reads both spellings: calls (`Add(Symbol('s0', integer=True), Integer(1))`) and infix (`s0 + 1`, `(s0//2)`).
class ExpressionReader {
 public:
  explicit ExpressionReader(std::string_view text) : text_(text) {}

  Tree read() {
    if (text_.size() > kLongest) throw TooDeep();
    Tree tree = sum();
    if (position_ != text_.size()) throw NoExpression();
    return tree;
  }
  bool sympy_spelling() const { return sympy_; }

 private:
  struct Deeper {
    explicit Deeper(ExpressionReader& r) : reader(r) {
      if (++reader.depth_ > kDeepest) throw TooDeep();
    }
    ~Deeper() { --reader.depth_; }
    ExpressionReader& reader;
  };

  char peek() {
    while (position_ < text_.size() && text_[position_] == ' ') ++position_;
    return position_ < text_.size() ? text_[position_] : '\0';
  }
  bool take(std::string_view word) {
    peek();
    if (text_.compare(position_, word.size(), word) != 0) return false;
    position_ += word.size();
    return true;
  }
  void expect(std::string_view word) {
    if (!take(word)) throw NoExpression();
  }

  Tree sum() {
    const Deeper deeper(*this);
    std::vector<Tree> terms{product()};
    for (;;) {
      if (take("+"))
        terms.push_back(product());
      else if (take("-"))
        terms.push_back(make(Op::multiply, {make_number(-1), product()}));
      else
        return terms.size() == 1 ? std::move(terms[0]) : make(Op::add, std::move(terms));
    }
  }

  Tree product() {
    std::vector<Tree> factors{signed_factor()};
    const auto joined = [&] { return factors.size() == 1 ? factors[0] : make(Op::multiply, factors); };
    for (;;) {
      if (take("//"))
        factors = {make(Op::floor_divide, {joined(), signed_factor()})};
      else if (take("/"))
        factors = {make(Op::divide, {joined(), signed_factor()})};
      else if (take("%"))
        factors = {make(Op::modulo, {joined(), signed_factor()})};
      else if (peek() == '*' && text_.compare(position_, 2, "**") != 0 && take("*"))
        factors.push_back(signed_factor());
      else
        return joined();
    }
  }

  Tree signed_factor() {
    const Deeper deeper(*this);
    if (take("-")) return make(Op::multiply, {make_number(-1), signed_factor()});
    if (take("+")) return signed_factor();
    Tree base = atom();
    return take("**") ? make(Op::power, {base, signed_factor()}) : base;
  }

  Tree atom() {
    const char c = peek();
    if (c == '(') {
      expect("(");
      Tree inside = sum();
      expect(")");
      return inside;
    }
    const std::size_t begin = position_;
    while (position_ < text_.size() && is_word(text_[position_])) ++position_;
    const std::string_view word = text_.substr(begin, position_ - begin);
    if (word.empty()) throw NoExpression();
    if (c >= '0' && c <= '9') return integer(word);
    return peek() == '(' ? call(word) : make_symbol(word);
  }

  static bool is_word(char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }

  static Tree integer(std::string_view word) {
    std::int64_t number = 0;
    const auto read = std::from_chars(word.data(), word.data() + word.size(), number);
    if (read.ec != std::errc() || read.ptr != word.data() + word.size()) throw NoExpression();
    return make_number(number);
  }

  Tree call(std::string_view name) {
    expect("(");
    if (name == "Symbol" || name == "Dummy") return quoted_symbol();
    if (name == "Integer") {
      sympy_ = true;
      const bool negative = take("-");
      peek();
      const Tree number = atom();
      if (number->op != Op::number) throw NoExpression();
      expect(")");
      return make_number(negative ? -number->number : number->number);
    }
    std::vector<Tree> arguments;
    while (!take(")")) {
      if (!arguments.empty()) expect(",");
      arguments.push_back(sum());
    }
    for (const Function& f : kFunctions) {
      if (f.name != name || arguments.size() < f.least || arguments.size() > f.most) continue;
      if (f.op == Op::add || f.op == Op::multiply || name == "Pow" || name == "Rational") sympy_ = true;
      return make(f.op, std::move(arguments), std::string(name));
    }
    return make(Op::other, std::move(arguments), std::string(name));
  }

  /// `'s0', integer=True)`: assumptions are not kept.
  Tree quoted_symbol() {
    sympy_ = true;
    const char quote = peek();
    if (quote != '\'' && quote != '"') throw NoExpression();
    const std::size_t begin = ++position_, end = text_.find(quote, begin);
    if (end == std::string_view::npos) throw NoExpression();
    const std::size_t close = text_.find(')', end);
    if (close == std::string_view::npos) throw NoExpression();
    position_ = close + 1;
    return make_symbol(text_.substr(begin, end - begin));
  }

  std::string_view text_;
  std::size_t position_ = 0;
  int depth_ = 0;
  bool sympy_ = false;
};

// Printing, by the precedences of sympy (and of torch's own functions, which stand below sums).

struct Relation {
  std::string_view function, symbol;
};
constexpr std::array kRelations{Relation{"StrictGreaterThan", " > "}, Relation{"StrictLessThan", " < "},
                                Relation{"GreaterThan", " >= "}, Relation{"LessThan", " <= "}};
constexpr int kRelational = 35, kAdd = 40, kMultiply = 50, kPower = 60, kAtom = 1000;

const Relation* relation_of(const SymNode& node) {
  if (node.op != Op::other || node.children.size() != 2) return nullptr;
  const auto found = std::find_if(kRelations.begin(), kRelations.end(), [&](const Relation& r) { return r.function == node.name; });
  return found == kRelations.end() ? nullptr : &*found;
}

bool is_negative(const SymNode& node) {
  if (node.op == Op::number) return node.number < 0;
  return node.op == Op::multiply && is_negative(*node.children[0]);
}

int precedence(const SymNode& node) {
  switch (node.op) {
    case Op::number:
      return node.number < 0 ? kAdd : kAtom;
    case Op::add:
      return kAdd;
    case Op::multiply:
      return is_negative(node) ? kAdd : kMultiply;
    case Op::power:
      return node.name == "PowByNatural" ? kMultiply : kPower;
    case Op::floor_divide:
    case Op::modulo:
      return kRelational;
    case Op::divide:
      return node.name == "Rational" ? kMultiply : kRelational;
    case Op::other:
      return relation_of(node) != nullptr ? kRelational : kAtom;
    case Op::symbol:
    case Op::maximum:
    case Op::minimum:
    case Op::floor:
    case Op::ceiling:
      return kAtom;
  }
  return kAtom;
}

std::string in_parentheses(const std::string& text) { return std::string("(").append(text).append(")"); }

/// In parentheses where it binds no tighter than `level`.
std::string print_within(const SymNode& node, int level) {
  return precedence(node) <= level ? in_parentheses(print(node)) : print(node);
}

std::string print_product(const SymNode& node) {
  std::string out, below;
  bool first = true;
  for (const Tree& factor : node.children) {
    const bool rational = factor->op == Op::divide && factor->name == "Rational";
    if (first && factor->op == Op::number && factor->number == -1) {
      out += '-';
      continue;
    }
    if (rational && factor->children[0]->op == Op::number && factor->children[0]->number == 1) {
      below = "/" + print(*factor->children[1]);
      continue;
    }
    if (!first) out += '*';
    const bool leading = first && factor->op == Op::number;
    out += leading ? print(*factor) : print_within(*factor, kMultiply - 1);
    first = false;
  }
  if (first) out += '1';
  return out + below;
}

std::string print_sum(const SymNode& node) {
  std::string out;
  for (const Tree& term : node.children) {
    std::string text = precedence(*term) < kAdd ? in_parentheses(print(*term)) : print(*term);
    const bool negative = text.starts_with('-');
    if (!out.empty()) out += negative ? " - " : " + ";
    out += out.empty() || !negative ? text : text.substr(1);
  }
  return out;
}

std::string print_call(const SymNode& node, std::string_view name) {
  std::string out(name);
  out += '(';
  for (const Tree& child : node.children) {
    if (&child != &node.children.front()) out += ", ";
    out += print(*child);
  }
  return out + ')';
}

std::string print_other(const SymNode& node) {
  if (const Relation* relation = relation_of(node)) {
    return print_within(*node.children[0], kRelational).append(relation->symbol) + print_within(*node.children[1], kRelational);
  }
  if (node.name == "Equality") return print_call(node, "Eq");
  if (node.name == "Unequality") return print_call(node, "Ne");
  if (node.name == "ExprCondPair") return print_call(node, "");
  return print_call(node, node.name);
}

}  // namespace

std::string print(const SymNode& node) {
  switch (node.op) {
    case Op::number:
      return std::to_string(node.number);
    case Op::symbol:
      return node.name == "true" ? "True" : node.name == "false" ? "False" : node.name;
    case Op::add:
      return print_sum(node);
    case Op::multiply:
      return print_product(node);
    case Op::power:
      return print_within(*node.children[0], kPower) + "**" + print_within(*node.children[1], kPower);
    case Op::floor_divide:
      return in_parentheses(print_within(*node.children[0], kAtom - 1) + "//" + print_within(*node.children[1], kAtom - 1));
    case Op::divide:
      return node.name == "Rational" ? print(*node.children[0]) + "/" + print(*node.children[1]) : print_call(node, node.name);
    case Op::modulo:
      return print_call(node, node.name);
    case Op::maximum:
      return print_call(node, "Max");
    case Op::minimum:
      return print_call(node, "Min");
    case Op::floor:
    case Op::ceiling:
      return print_call(node, node.name);
    case Op::other:
      return print_other(node);
  }
  return node.name;
}

namespace {

// Values.

struct Fraction {
  std::int64_t above = 0, below = 1;  // below > 0, no common factor
};
using Value = std::optional<Fraction>;

Value fraction(__int128 above, __int128 below) {
  if (below == 0) return std::nullopt;
  if (below < 0) above = -above, below = -below;
  __int128 a = above < 0 ? -above : above, b = below;
  while (b != 0) std::tie(a, b) = std::pair(b, a % b);
  if (a > 1) above /= a, below /= a;
  if (above > kUnbounded.max || above < kUnbounded.min || below > kUnbounded.max) return std::nullopt;
  return Fraction{static_cast<std::int64_t>(above), static_cast<std::int64_t>(below)};
}

Value add(Fraction a, Fraction b) {
  return fraction(__int128(a.above) * b.below + __int128(b.above) * a.below, __int128(a.below) * b.below);
}
Value multiply(Fraction a, Fraction b) { return fraction(__int128(a.above) * b.above, __int128(a.below) * b.below); }
Value divide(Fraction a, Fraction b) { return fraction(__int128(a.above) * b.below, __int128(a.below) * b.above); }
Value rounded_down(Fraction a) { return Fraction{a.above / a.below - (a.above % a.below < 0), 1}; }
bool less(Fraction a, Fraction b) { return __int128(a.above) * b.below < __int128(b.above) * a.below; }

Value power(Fraction base, Fraction exponent) {
  if (exponent.below != 1 || exponent.above < 0 || exponent.above > 64) return std::nullopt;
  Value result = Fraction{1, 1};
  for (std::int64_t i = 0; i < exponent.above && result; ++i) result = multiply(*result, base);
  return result;
}

using ValueOf = std::function<std::optional<std::int64_t>(const std::string&)>;

Value evaluate_node(const SymNode& node, const ValueOf& value_of);

/// Left to right with `combine`; nothing where a child has no value.
template <typename Combine>
Value fold(const SymNode& node, const ValueOf& value_of, Combine combine) {
  Value result;
  for (const Tree& child : node.children) {
    const Value next = evaluate_node(*child, value_of);
    if (!next) return std::nullopt;
    result = result ? combine(*result, *next) : next;
    if (!result) return std::nullopt;
  }
  return result;
}

Value evaluate_node(const SymNode& node, const ValueOf& value_of) {
  const auto floor_divide = [](Fraction a, Fraction b) {
    const Value quotient = divide(a, b);
    return quotient ? rounded_down(*quotient) : std::nullopt;
  };
  switch (node.op) {
    case Op::number:
      return Fraction{node.number, 1};
    case Op::symbol: {
      const auto value = value_of(node.name);
      return value ? Value(Fraction{*value, 1}) : std::nullopt;
    }
    case Op::add:
      return fold(node, value_of, add);
    case Op::multiply:
      return fold(node, value_of, multiply);
    case Op::power:
      return fold(node, value_of, power);
    case Op::divide:
      return fold(node, value_of, divide);
    case Op::floor_divide:
      return fold(node, value_of, floor_divide);
    case Op::modulo:
      return fold(node, value_of, [&](Fraction a, Fraction b) -> Value {
        const Value quotient = floor_divide(a, b);
        if (!quotient) return std::nullopt;
        const Value whole = multiply(*quotient, b);
        return whole ? add(a, {-whole->above, whole->below}) : std::nullopt;
      });
    case Op::maximum:
      return fold(node, value_of, [](Fraction a, Fraction b) { return Value(less(a, b) ? b : a); });
    case Op::minimum:
      return fold(node, value_of, [](Fraction a, Fraction b) { return Value(less(b, a) ? b : a); });
    case Op::floor:
    case Op::ceiling: {
      const Value inside = evaluate_node(*node.children[0], value_of);
      if (!inside) return std::nullopt;
      const Value down = rounded_down(*inside);
      return node.op == Op::ceiling && inside->below != 1 ? add(*down, {1, 1}) : down;
    }
    case Op::other:
      return std::nullopt;
  }
  return std::nullopt;
}

// Bounds: intervals whose ends are int64 or unbounded; what overflows is unbounded, so an interval is never too narrow.

constexpr bool infinite(std::int64_t end) { return end == kUnbounded.min || end == kUnbounded.max; }

std::int64_t saturated(__int128 exact) {
  return exact >= kUnbounded.max ? kUnbounded.max : exact <= kUnbounded.min ? kUnbounded.min : static_cast<std::int64_t>(exact);
}

std::int64_t add_ends(std::int64_t a, std::int64_t b) {
  if (infinite(a)) return a;
  return infinite(b) ? b : saturated(__int128(a) + b);
}
std::int64_t multiply_ends(std::int64_t a, std::int64_t b) {
  if (a == 0 || b == 0) return 0;
  if (infinite(a) || infinite(b)) return (a < 0) == (b < 0) ? kUnbounded.max : kUnbounded.min;
  return saturated(__int128(a) * b);
}
/// Rounded down; `b` > 0.
std::int64_t divide_ends(std::int64_t a, std::int64_t b) {
  if (infinite(a)) return a;
  if (infinite(b)) return a < 0 ? -1 : 0;
  return a / b - (a % b < 0);
}

template <typename Combine>
SymRange corners(SymRange a, SymRange b, Combine combine) {
  const std::array ends{combine(a.min, b.min), combine(a.min, b.max), combine(a.max, b.min), combine(a.max, b.max)};
  const auto [low, high] = std::minmax_element(ends.begin(), ends.end());
  return {*low, *high};
}

SymRange combine_bounds(Op op, SymRange a, SymRange b) {
  switch (op) {
    case Op::add:
      return {add_ends(a.min, b.min), add_ends(a.max, b.max)};
    case Op::multiply:
      return corners(a, b, multiply_ends);
    case Op::maximum:
      return {std::max(a.min, b.min), std::max(a.max, b.max)};
    case Op::minimum:
      return {std::min(a.min, b.min), std::min(a.max, b.max)};
    case Op::floor_divide:
      return b.min > 0 ? corners(a, b, divide_ends) : SymRange{};
    case Op::divide: {  // not rounded: one more above is wide enough
      const SymRange down = b.min > 0 ? corners(a, b, divide_ends) : SymRange{};
      return {down.min, add_ends(down.max, 1)};
    }
    case Op::modulo: {
      if (b.min <= 0) return {};
      const std::int64_t most = infinite(b.max) ? b.max : b.max - 1;
      return {0, a.min >= 0 ? std::min(a.max, most) : most};
    }
    case Op::power: {
      if (a.min < 0 || b.min != b.max || b.min < 0 || b.min > 64) return {};
      SymRange result{1, 1};
      for (std::int64_t i = 0; i < b.min; ++i) result = corners(result, a, multiply_ends);
      return result;
    }
    case Op::number:
    case Op::symbol:
    case Op::floor:
    case Op::ceiling:
    case Op::other:
      return {};
  }
  return {};
}

SymRange bounds_of(const SymNode& node, const std::map<std::string, SymRange>& ranges) {
  if (node.op == Op::number) return {node.number, node.number};
  if (node.op == Op::symbol) {
    const auto found = ranges.find(node.name);
    return found == ranges.end() ? SymRange{} : found->second;
  }
  if (node.op == Op::other || node.children.empty()) return {};
  SymRange result = bounds_of(*node.children[0], ranges);
  for (std::size_t i = 1; i < node.children.size(); ++i) {
    result = combine_bounds(node.op, result, bounds_of(*node.children[i], ranges));
  }
  return result;
}

void collect(const SymNode& node, std::vector<std::string>& names) {
  if (node.op == Op::symbol && std::find(names.begin(), names.end(), node.name) == names.end()) names.push_back(node.name);
  for (const Tree& child : node.children) collect(*child, names);
}

Tree parse_tree(std::string_view text) {
  ExpressionReader reader(text);
  SymNode root = *reader.read();
  root.text = reader.sympy_spelling() ? print(root) : std::string(text);
  return std::make_shared<const SymNode>(std::move(root));
}

/// What cannot be read: a symbol that no one knows.
Tree opaque(std::string_view text) {
  SymNode node;
  node.name = node.text = text;
  return std::make_shared<const SymNode>(std::move(node));
}

std::string_view without_blanks(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

}  // namespace

SymInt SymInt::parse(std::string_view text) {
  text = without_blanks(text);
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error == std::errc() && end == text.data() + text.size()) return number;
  SymInt result;
  try {
    const Tree tree = parse_tree(text);
    if (tree->op == Op::number) return tree->number;
    result.expression_ = tree;
  } catch (const NoExpression&) {
    result.expression_ = opaque(text);
  } catch (const TooDeep&) {
    result.expression_ = opaque(text);
  }
  return result;
}

std::string SymInt::text() const { return is_number() ? std::to_string(value_) : expression_->text; }

std::vector<std::string> SymInt::symbols() const {
  std::vector<std::string> names;
  if (!is_number()) collect(*expression_, names);
  return names;
}

std::optional<std::int64_t> SymInt::evaluate(const std::function<std::optional<std::int64_t>(const std::string&)>& value_of) const {
  if (is_number()) return value_;
  const Value value = evaluate_node(*expression_, value_of);
  if (!value || value->below != 1) return std::nullopt;
  return value->above;
}

SymRange SymInt::bounds(const std::map<std::string, SymRange>& ranges) const {
  if (is_number()) return {value_, value_};
  return bounds_of(*expression_, ranges);
}

bool operator==(const SymInt& a, const SymInt& b) {
  if (a.is_number() != b.is_number()) return false;
  if (a.is_number()) return a.value_ == b.value_;
  return a.expression_ == b.expression_ || a.expression_->text == b.expression_->text;
}

}  // namespace writeback
