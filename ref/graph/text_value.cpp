#include "ref/graph/text_value.h"

#include <array>
#include <charconv>
#include <cmath>

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

class ValueReader {
 public:
  ValueReader(Cursor& cursor, const Scope& scope) : cursor_(cursor), scope_(scope) {}

  Argument value() {
    cursor_.skip_space();
    const char c = cursor_.peek();
    if (c == '[' || c == '(') return sequence(c == '(');
    if (c == '{') return dict();
    if (c == '\'' || c == '"') return read_string(cursor_);
    if (is_digit(c) || c == '-' || c == '+' || c == '.') return number();
    if (c == '%') cursor_.advance();  // print(graph) marks values so
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
      if (!comma) cursor_.fail("',' or '" + std::string(1, close) + "' in a list");
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

  Argument number() {
    const std::size_t begin = cursor_.position();
    if (cursor_.peek() == '-' || cursor_.peek() == '+') cursor_.advance();
    if (cursor_.take("inf")) return cursor_.text()[begin] == '-' ? -INFINITY : INFINITY;
    if (cursor_.take("nan")) return std::nan("");
    while (is_name_char(cursor_.peek()) || cursor_.peek() == '.' || sign_of_exponent()) cursor_.advance();
    std::string_view digits = cursor_.since(begin);
    if (digits.starts_with('+')) digits.remove_prefix(1);
    const char* end = digits.data() + digits.size();
    std::int64_t integer = 0;
    if (const auto read = std::from_chars(digits.data(), end, integer); read.ec == std::errc() && read.ptr == end) return integer;
    double real = 0;
    const auto read = std::from_chars(digits.data(), end, real);
    const bool integral = digits.find_first_not_of("-0123456789") == std::string_view::npos;
    if (read.ptr == end && read.ec == std::errc() && !integral) return real;
    if (digits.size() > 1 || is_digit(digits.empty() ? ' ' : digits[0])) return Symbol{Symbol::Kind::other, std::string(digits)};
    cursor_.move_to(begin);
    cursor_.fail("a number");
  }

  bool sign_of_exponent() const {
    if (cursor_.peek() != '-' && cursor_.peek() != '+') return false;
    const char before = cursor_.text()[cursor_.position() - 1];
    return before == 'e' || before == 'E';
  }

  Argument word() {
    const std::size_t begin = cursor_.position();
    const std::string_view name = cursor_.dotted_name();
    if (name.empty()) cursor_.fail("a value");
    if (const auto value = scope_(name)) return *value;
    if (name == "None") return {};
    if (name == "True") return true;
    if (name == "False") return false;
    if (name == "inf") return INFINITY;
    if (name == "nan") return std::nan("");
    if (name == "slice" && cursor_.peek() == '(') return slice();
    if (cursor_.peek() == '(') return raw_call(begin);
    if (name.find('.') == std::string_view::npos && !is_plain_word(name)) {
      cursor_.fail_at(begin, "expected a value defined before this line, found '" + std::string(name) + "'");
    }
    return symbol_of(name);
  }

  /// Words of print(graph): devices are not quoted there.
  static bool is_plain_word(std::string_view name) {
    constexpr std::array kWords{"cpu", "cuda", "meta", "mps", "xpu", "Ellipsis", "int_oo"};
    for (const char* word : kWords) {
      if (name == word) return true;
    }
    return false;
  }

  Argument slice() {
    Argument parts = sequence(true);
    auto* list = std::get_if<ListArgument>(&parts);
    SliceArgument result;
    if (list == nullptr || list->items.empty()) {
      result.parts = {Argument{}, std::move(parts), Argument{}};  // slice(stop)
    } else {
      result.parts = std::move(list->items);
    }
    if (result.parts.size() > 3) cursor_.fail("a slice of at most three parts before it");
    result.parts.resize(3);
    return result;
  }

  /// `device(type='cpu', index=0)` and other constructors: kept as they are written.
  Argument raw_call(std::size_t begin) {
    const Deeper deeper(*this);
    for (int open = 0; !cursor_.at_end();) {
      const char c = cursor_.peek();
      if (c == '\'' || c == '"') {
        read_string(cursor_);
        continue;
      }
      if (c == '\n') break;
      cursor_.advance();
      if (c == '(' || c == '[') ++open;
      if ((c == ')' || c == ']') && --open == 0) return symbol_of(cursor_.since(begin));
    }
    cursor_.fail("')'");
  }

  Cursor& cursor_;
  const Scope& scope_;
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

Argument read_value(Cursor& cursor, const Scope& scope) { return ValueReader(cursor, scope).value(); }

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
  const int count = static_cast<int>(digits.size());
  if (exponent < -4 || exponent >= 16) {
    out += digits[0];
    if (count > 1) out += '.', out.append(digits, 1);
    out += exponent < 0 ? "e-" : "e+";
    const int size = std::abs(exponent);
    if (size < 10) out += '0';
    out += std::to_string(size);
  } else if (exponent < 0) {
    out += "0." + std::string(static_cast<std::size_t>(-exponent - 1), '0') + digits;
  } else if (count <= exponent + 1) {
    out += digits + std::string(static_cast<std::size_t>(exponent + 1 - count), '0') + ".0";
  } else {
    out.append(digits, 0, static_cast<std::size_t>(exponent + 1))
        .append(".")
        .append(digits, static_cast<std::size_t>(exponent + 1));
  }
}

void print_string(std::string& out, std::string_view s) {
  constexpr std::string_view kHex = "0123456789abcdef";
  const bool double_quotes = s.find('\'') != std::string_view::npos && s.find('"') == std::string_view::npos;
  const char quote = double_quotes ? '"' : '\'';
  out += quote;
  for (const char c : s) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == quote || c == '\\')
      out += '\\', out += c;
    else if (c == '\n')
      out += "\\n";
    else if (c == '\t')
      out += "\\t";
    else if (c == '\r')
      out += "\\r";
    else if (byte < 0x20 || byte == 0x7F)
      out += "\\x", out += kHex[byte >> 4], out += kHex[byte & 15];
    else
      out += c;
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
