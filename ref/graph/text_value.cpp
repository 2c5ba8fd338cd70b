#include "ref/graph/text_value.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdlib>

#include "ref/graph/tensor_meta.h"

namespace writeback::text {
namespace {

constexpr int kDeepest = 64;  // nested lists; deeper is no graph but an attack on the stack

void append_utf8(std::string& out, std::uint32_t code) {
  const auto put = [&](std::uint32_t byte) { out += static_cast<char>(byte); };
  if (code < 0x80) return put(code);
  if (code < 0x800) return put(0xC0 | code >> 6), put(0x80 | (code & 0x3F));
  if (code < 0x10000) return put(0xE0 | code >> 12), put(0x80 | (code >> 6 & 0x3F)), put(0x80 | (code & 0x3F));
  put(0xF0 | code >> 18), put(0x80 | (code >> 12 & 0x3F)), put(0x80 | (code >> 6 & 0x3F)), put(0x80 | (code & 0x3F));
}

std::uint32_t read_hex(Cursor& cursor, std::size_t digits) {
  std::uint32_t code = 0;
  for (std::size_t i = 0; i < digits; ++i, cursor.advance()) {
    const char c = cursor.peek();
    if (is_digit(c))
      code = code * 16 + static_cast<std::uint32_t>(c - '0');
    else if (c >= 'a' && c <= 'f')
      code = code * 16 + static_cast<std::uint32_t>(c - 'a' + 10);
    else if (c >= 'A' && c <= 'F')
      code = code * 16 + static_cast<std::uint32_t>(c - 'A' + 10);
    else
      cursor.fail("a hexadecimal digit");
  }
  if (code > 0x10FFFF) cursor.fail("a code point up to 10ffff before it");
  return code;
}

void read_escape(Cursor& cursor, std::string& out) {
  const char c = cursor.peek();
  cursor.advance();
  switch (c) {
    case 'n':
      out += '\n';
      return;
    case 't':
      out += '\t';
      return;
    case 'r':
      out += '\r';
      return;
    case 'x':
      return append_utf8(out, read_hex(cursor, 2));
    case 'u':
      return append_utf8(out, read_hex(cursor, 4));
    case 'U':
      return append_utf8(out, read_hex(cursor, 8));
    case '\\':
    case '\'':
    case '"':
      out += c;
      return;
    default:
      out += '\\', out += c;
      return;  // Python keeps an escape that it does not know
  }
}

/// `(1+2j)` without its parentheses.
bool is_complex_number(std::string_view text) {
  return text.ends_with('j') && text.find_first_not_of("0123456789.+-einfaj") == std::string_view::npos;
}

class ValueReader {
 public:
  ValueReader(Cursor& cursor, const ValueContext& context) : cursor_(cursor), context_(context) {}

  Argument value() {
    cursor_.skip_space();
    const char c = cursor_.peek();
    if (c == '(' && complex_ahead()) return complex();
    if (c == '[' || c == '(') return sequence(c == '(');
    if (c == '{') return dict();
    if (c == '\'' || c == '"') return read_string(cursor_);
    if (cursor_.looking_at("...")) return cut();
    if (context_.spelling == Spelling::graph) return c == '%' ? marked_name() : unmarked();
    if (is_digit(c) || c == '-' || c == '+' || c == '.') return number();
    return word();
  }

 private:
  struct Deeper {
    explicit Deeper(ValueReader& r) : reader(r) {
      if (++reader.depth_ > kDeepest) reader.cursor_.fail("lists at most " + std::to_string(kDeepest) + " deep");
    }
    ~Deeper() { --reader.depth_; }
    ValueReader& reader;
  };

  Argument sequence(bool tuple) {
    const Deeper deeper(*this);
    cursor_.advance();
    ListArgument list;
    list.tuple = tuple;
    bool comma = true;
    const char close = tuple ? ')' : ']';
    for (cursor_.skip_space(); !cursor_.take(close); cursor_.skip_space()) {
      if (!comma) cursor_.fail(tuple ? "',' or ')' in a tuple" : "',' or ']' in a list");
      list.items.push_back(value());
      cursor_.skip_space();
      comma = cursor_.take(',');
    }
    if (tuple && list.items.size() == 1 && !comma) return std::move(list.items.front());  // (a) is a
    return list;
  }

  Argument dict() {
    const Deeper deeper(*this);
    cursor_.advance();
    DictArgument result;
    bool comma = true;
    for (cursor_.skip_space(); !cursor_.take('}'); cursor_.skip_space()) {
      if (!comma) cursor_.fail("',' or '}' in a dict");
      const bool quoted = cursor_.peek() == '\'' || cursor_.peek() == '"';
      std::string key = quoted ? read_string(cursor_) : std::string(cursor_.name());
      if (!quoted && key.empty()) cursor_.fail("a key of a dict");
      cursor_.skip_space();
      cursor_.expect(':', "after a key of a dict");
      result.items.emplace_back(std::move(key), value());
      cursor_.skip_space();
      comma = cursor_.take(',');
    }
    return result;
  }

  Argument cut() {
    context_.warnings.add(cursor_, "a list is cut ('...'); what stood there is not known");
    cursor_.advance(3);
    if (cursor_.looking_at("[total_len=")) {
      while (!cursor_.at_end() && cursor_.peek() != ']' && cursor_.peek() != '\n') cursor_.advance();
      cursor_.take(']');
    }
    return Symbol{Symbol::Kind::other, "..."};
  }

  std::string_view inside_parentheses() const {
    constexpr std::size_t kLongest = 80;
    const std::string_view ahead = cursor_.rest().substr(1, kLongest);
    const std::size_t close = ahead.find(')');
    return close == std::string_view::npos ? std::string_view{} : ahead.substr(0, close);
  }
  bool complex_ahead() const { return is_complex_number(inside_parentheses()); }
  Argument complex() {
    const std::size_t begin = cursor_.position();
    cursor_.advance(inside_parentheses().size() + 2);
    return Symbol{Symbol::Kind::other, std::string(cursor_.since(begin))};
  }

  Argument number() {
    const std::size_t begin = cursor_.position();
    if (cursor_.peek() == '-' || cursor_.peek() == '+') cursor_.advance();
    while (is_name_char(cursor_.peek()) || cursor_.peek() == '.' || sign_of_exponent()) cursor_.advance();
    if (auto number = number_in(cursor_.since(begin))) return std::move(*number);
    cursor_.move_to(begin);
    cursor_.fail("a number");
  }

  bool sign_of_exponent() const {
    if (cursor_.peek() != '-' && cursor_.peek() != '+') return false;
    const char before = cursor_.text()[cursor_.position() - 1];
    return before == 'e' || before == 'E';
  }

  /// A number too large for its type and a complex one are kept as they are written.
  static std::optional<Argument> number_in(std::string_view text) {
    if (text.starts_with('+')) text.remove_prefix(1);
    const std::string_view magnitude = text.starts_with('-') ? text.substr(1) : text;
    if (magnitude == "inf") return text == magnitude ? INFINITY : -INFINITY;
    if (magnitude == "nan") return std::nan("");
    const std::size_t point = magnitude.starts_with('.') ? 1 : 0;
    if (point >= magnitude.size() || !is_digit(magnitude[point])) return std::nullopt;
    const char *begin = text.data(), *end = begin + text.size();
    std::int64_t integer = 0;
    if (const auto read = std::from_chars(begin, end, integer); read.ec == std::errc() && read.ptr == end) return integer;
    double real = 0;
    const auto read = std::from_chars(begin, end, real);
    const bool integral = magnitude.find_first_not_of("0123456789") == std::string_view::npos;
    const bool too_large = read.ptr == end && (integral || read.ec == std::errc::result_out_of_range);
    if (too_large || is_complex_number(magnitude)) return Symbol{Symbol::Kind::other, std::string(text)};
    return read.ptr == end ? std::optional<Argument>(real) : std::nullopt;
  }

  static std::optional<Argument> constant_in(std::string_view word) {
    if (word == "None") return Argument{};
    if (word == "True") return true;
    if (word == "False") return false;
    if (word == "inf") return INFINITY;
    if (word == "nan") return std::nan("");
    return std::nullopt;
  }

  Argument word() {
    const std::size_t begin = cursor_.position();
    const std::string_view name = cursor_.dotted_name();
    if (name.empty()) cursor_.fail("a value");
    if (const auto value = context_.names.find(name)) return *value;
    if (auto constant = constant_in(name)) return std::move(*constant);
    if (name == "slice" && cursor_.peek() == '(') return slice();
    if (cursor_.peek() == '(') return raw_call(begin);
    if (name.find('.') == std::string_view::npos || name.starts_with("self.")) undefined(name, begin);
    return symbol_of(name);
  }

  Argument marked_name() {
    cursor_.advance();
    const std::size_t begin = cursor_.position();
    const std::string_view name = cursor_.name();
    if (const auto value = context_.names.find(name)) return *value;
    undefined(name, begin);
  }

  [[noreturn]] void undefined(std::string_view name, std::size_t position) const {
    if (name == "Ellipsis") cursor_.fail_at(position, "expected an index without '...'");
    throw UndefinedValue(cursor_.place(position),
                         "expected a value that is defined before this line, found '" + std::string(name) + "'", std::string(name));
  }

  /// print(graph) quotes nothing: what is no number and no word of torch is a string.
  Argument unmarked() {
    const std::size_t begin = cursor_.position();
    if (cursor_.looking_at("slice(")) return cursor_.advance(5), slice();
    for (int open = 0; !cursor_.at_end() && cursor_.peek() != '\n'; cursor_.advance()) {
      const char c = cursor_.peek();
      if (open == 0 && (c == ',' || c == ')' || c == ']' || c == '}')) break;
      if (c == '(' || c == '[' || c == '{') ++open;
      if (c == ')' || c == ']' || c == '}') --open;
    }
    const std::string_view text = trimmed(cursor_.since(begin));
    if (text.empty()) cursor_.fail("a value");
    if (auto constant = constant_in(text)) return std::move(*constant);
    if (auto number = number_in(text)) return std::move(*number);
    if (text.starts_with("torch.") && is_dotted_name(text)) return symbol_of(text);
    if (is_call(text)) return symbol_of(text);
    if (is_device(text)) return Symbol{Symbol::Kind::device, device_call(text)};
    if (is_operator_name(text)) return Symbol{Symbol::Kind::op, "torch.ops." + std::string(text)};
    return std::string(text);
  }

  /// `Name(...)`, so that it reads back in code as it is.
  static bool is_call(std::string_view text) {
    Cursor cursor(text);
    if (cursor.dotted_name().empty() || cursor.peek() != '(') return false;
    int open = 0;
    for (; !cursor.at_end(); cursor.advance()) {
      const char c = cursor.peek();
      if (c == '\'' || c == '"') return false;
      if (c == '(' || c == '[') ++open;
      if ((c == ')' || c == ']') && --open == 0) return cursor.position() + 1 == text.size();
    }
    return false;
  }

  static bool is_device(std::string_view text) {
    constexpr std::array kDevices{"cpu", "cuda", "mps", "meta", "xpu", "hpu", "xla", "npu"};
    const std::size_t colon = text.find(':');
    const std::string_view type = text.substr(0, colon), index = colon == std::string_view::npos ? "0" : text.substr(colon + 1);
    if (index.empty() || index.find_first_not_of("0123456789") != std::string_view::npos) return false;
    return std::find(kDevices.begin(), kDevices.end(), type) != kDevices.end();
  }
  static std::string device_call(std::string_view text) {
    const std::size_t colon = text.find(':');
    std::string result = "device(type='" + std::string(text.substr(0, colon)) + "'";
    if (colon != std::string_view::npos) result.append(", index=").append(text.substr(colon + 1));
    return result + ")";
  }
  /// `my.touch.default`.
  static bool is_operator_name(std::string_view text) {
    return is_dotted_name(text) && std::count(text.begin(), text.end(), '.') == 2;
  }

  Argument slice() {
    Argument parts = sequence(true);
    auto* list = std::get_if<ListArgument>(&parts);
    SliceArgument result;
    if (list == nullptr) {
      result.parts = {Argument{}, std::move(parts), Argument{}};  // slice(stop)
    } else {
      result.parts = std::move(list->items);
    }
    if (result.parts.empty() || result.parts.size() > 3) cursor_.fail("a slice of one to three parts before it");
    result.parts.resize(3);
    return result;
  }

  /// `device(type='cpu', index=0)` and other constructors: kept as they are written.
  Argument raw_call(std::size_t begin) {
    for (int open = 0; !cursor_.at_end() && cursor_.peek() != '\n';) {
      const char c = cursor_.peek();
      if (c == '\'' || c == '"') {
        read_string(cursor_);
        continue;
      }
      cursor_.advance();
      if (c == '(' || c == '[') ++open;
      if ((c == ')' || c == ']') && --open == 0) return symbol_of(cursor_.since(begin));
    }
    cursor_.fail("')'");
  }

  Cursor& cursor_;
  const ValueContext& context_;
  int depth_ = 0;
};

/// Digits and decimal exponent: 0.00123 is "123" and -3.
struct Decimal {
  std::string digits;
  int exponent = 0;
};

Decimal shortest(double magnitude) {
  std::array<char, 32> buffer;
  const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), magnitude, std::chars_format::scientific).ptr;
  const std::string_view text(buffer.data(), static_cast<std::size_t>(end - buffer.data()));
  const std::size_t e = text.find('e');
  Decimal result;
  for (const char c : text.substr(0, e)) {
    if (c != '.') result.digits += c;
  }
  const char* exponent = text.data() + e + 1;
  if (*exponent == '+') ++exponent;
  std::from_chars(exponent, end, result.exponent);
  return result;
}

}  // namespace

Argument read_value(Cursor& cursor, const ValueContext& context) { return ValueReader(cursor, context).value(); }

std::string read_string(Cursor& cursor) {
  const char quote = cursor.peek();
  const std::size_t begin = cursor.position();
  cursor.advance();
  std::string result;
  while (cursor.peek() != quote || cursor.at_end()) {
    if (cursor.at_end() || cursor.peek() == '\n')
      cursor.fail_at(begin, "expected a string with its closing quote in the same line");
    const char c = cursor.peek();
    cursor.advance();
    if (c == '\\')
      read_escape(cursor, result);
    else
      result += c;
  }
  cursor.advance();
  return result;
}

Symbol symbol_of(std::string_view text) {
  using Kind = Symbol::Kind;
  Kind kind = Kind::other;
  if (dtype_from_python_name(text)) {
    kind = Kind::dtype;
  } else if (text.starts_with("torch.ops.") || text.starts_with("executorch_exir_dialects_edge__ops_")) {
    kind = Kind::op;
  } else if (text.starts_with("device(")) {
    kind = Kind::device;
  } else if (text == "torch.strided" || text == "torch.jagged" || text.starts_with("torch.sparse_")) {
    kind = Kind::layout;
  } else if (text == "torch.contiguous_format" || text == "torch.preserve_format" || text.starts_with("torch.channels_last")) {
    kind = Kind::memory_format;
  }
  return {kind, std::string(text)};
}

void print_float(std::string& out, double number) {
  if (std::isnan(number)) return void(out += "nan");
  if (std::signbit(number)) out += '-';
  if (std::isinf(number)) return void(out += "inf");
  const auto [digits, exponent] = shortest(std::abs(number));
  if (exponent < -4 || exponent >= 16) {
    out += digits[0];
    if (digits.size() > 1) out += '.', out.append(digits, 1);
    out += exponent < 0 ? "e-" : "e+";
    const int size = std::abs(exponent);
    if (size < 10) out += '0';
    out += std::to_string(size);
  } else if (exponent < 0) {
    out += "0." + std::string(static_cast<std::size_t>(-exponent - 1), '0') + digits;
  } else if (const auto whole = static_cast<std::size_t>(exponent) + 1; digits.size() <= whole) {
    out += digits + std::string(whole - digits.size(), '0') + ".0";
  } else {
    out.append(digits, 0, whole).append(".").append(digits, whole);
  }
}

namespace {

/// What Python's repr escapes beyond ASCII: controls, blanks other than ' ', surrogates, private use, marks without a glyph. The
/// table has what occurs in practice; what it misses is printed as it is, which Python reads back all the same.
bool is_printable(std::uint32_t code) {
  struct Range {
    std::uint32_t first, last;
  };
  constexpr std::array kEscaped{Range{0, 0x1F},          Range{0x7F, 0xA0},     Range{0xAD, 0xAD},     Range{0x1680, 0x1680},
                                Range{0x2000, 0x200F},   Range{0x2028, 0x202F}, Range{0x205F, 0x206F}, Range{0x3000, 0x3000},
                                Range{0xD800, 0xF8FF},   Range{0xFEFF, 0xFEFF}, Range{0xFFF0, 0xFFFB}, Range{0xE0000, 0xE0FFF},
                                Range{0xF0000, 0x10FFFF}};
  return std::none_of(kEscaped.begin(), kEscaped.end(), [&](Range r) { return r.first <= code && code <= r.last; });
}

/// The code point at the start of `s` and its length in bytes; length 0 where `s` is no UTF-8.
std::pair<std::uint32_t, std::size_t> code_point(std::string_view s) {
  const auto lead = static_cast<unsigned char>(s[0]);
  if (lead < 0x80) return {lead, 1};
  const std::size_t size = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
  if (lead < 0xC2 || lead > 0xF4 || s.size() < size) return {0, 0};
  std::uint32_t code = lead & (0x7Fu >> size);
  for (std::size_t i = 1; i < size; ++i) {
    const auto byte = static_cast<unsigned char>(s[i]);
    if ((byte & 0xC0) != 0x80) return {0, 0};
    code = code << 6 | (byte & 0x3Fu);
  }
  return {code, size};
}

void print_escaped(std::string& out, std::uint32_t code) {
  constexpr std::string_view kHex = "0123456789abcdef";
  if (code == '\n') return void(out += "\\n");
  if (code == '\t') return void(out += "\\t");
  if (code == '\r') return void(out += "\\r");
  const int digits = code < 0x100 ? 2 : code < 0x10000 ? 4 : 8;
  out += digits == 2 ? "\\x" : digits == 4 ? "\\u" : "\\U";
  for (int i = digits - 1; i >= 0; --i) out += kHex[code >> (4 * i) & 15];
}

}  // namespace

void print_string(std::string& out, std::string_view s) {
  const bool double_quotes = s.find('\'') != std::string_view::npos && s.find('"') == std::string_view::npos;
  const char quote = double_quotes ? '"' : '\'';
  out += quote;
  while (!s.empty()) {
    const auto [code, size] = code_point(s);
    const std::string_view character = s.substr(0, std::max<std::size_t>(size, 1));
    s.remove_prefix(character.size());
    if (character[0] == quote || character[0] == '\\') out += '\\';
    if (size > 0 && !is_printable(code))
      print_escaped(out, code);
    else
      out += character;
  }
  out += quote;
}

namespace {

struct ValuePrinter {
  std::string& out;
  const NameOf& name_of;

  void operator()(std::monostate) const { out += "None"; }
  void operator()(ValueId v) const { out += name_of(v); }
  void operator()(std::int64_t i) const { out += std::to_string(i); }
  void operator()(double d) const { print_float(out, d); }
  void operator()(bool b) const { out += b ? "True" : "False"; }
  void operator()(const std::string& s) const { print_string(out, s); }
  void operator()(const Symbol& s) const { out += s.text; }
  void operator()(const ListArgument& list) const {
    out += list.tuple ? '(' : '[';
    items(list.items);
    if (list.tuple && list.items.size() == 1) out += ',';
    out += list.tuple ? ')' : ']';
  }
  void operator()(const SliceArgument& slice) const {
    out += "slice(";
    items(slice.parts);
    out += ')';
  }
  void operator()(const DictArgument& dict) const {
    out += '{';
    for (const auto& [key, value] : dict.items) {
      if (&key != &dict.items.front().first) out += ", ";
      print_string(out, key);
      out += ": ";
      print_value(out, value, name_of);
    }
    out += '}';
  }
  void items(const std::vector<Argument>& list) const {
    for (const Argument& item : list) {
      if (&item != &list.front()) out += ", ";
      print_value(out, item, name_of);
    }
  }
};

}  // namespace

void print_value(std::string& out, const Argument& a, const NameOf& name_of) {
  std::visit(ValuePrinter{out, name_of}, static_cast<const Argument::variant&>(a));
}

}  // namespace writeback::text
