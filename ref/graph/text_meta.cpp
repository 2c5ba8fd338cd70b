#include "ref/graph/text_meta.h"

#include "ref/graph/text_cursor.h"

namespace writeback::text {
namespace {

/// The text between brackets that match, the cursor behind them; nullopt where none close in this text.
std::optional<std::string_view> bracketed(Cursor& cursor) {
  if (!cursor.take('[')) return std::nullopt;
  const std::size_t begin = cursor.position();
  for (int open = 1; !cursor.at_end(); cursor.advance()) {
    const char c = cursor.peek();
    if (c == '[' || c == '(') ++open;
    if ((c == ']' || c == ')') && --open == 0) {
      const std::string_view inside = cursor.since(begin);
      cursor.advance();
      return inside;
    }
  }
  return std::nullopt;
}

/// Splits at commas outside parentheses.
std::vector<SymInt> read_sizes(std::string_view list) {
  std::vector<SymInt> sizes;
  if (trimmed(list).empty()) return sizes;
  int open = 0;
  std::size_t begin = 0;
  for (std::size_t i = 0; i <= list.size(); ++i) {
    if (i < list.size() && list[i] == '(') ++open;
    if (i < list.size() && list[i] == ')') --open;
    if (i < list.size() && (list[i] != ',' || open > 0)) continue;
    sizes.push_back(SymInt::parse(list.substr(begin, i - begin)));
    begin = i + 1;
  }
  return sizes;
}

void print_sizes(std::string& out, const std::vector<SymInt>& sizes) {
  out += '[';
  for (const SymInt& size : sizes) {
    if (&size != &sizes.front()) out += ", ";
    if (size.is_number())
      out += std::to_string(size.number());
    else
      out += size.text();
  }
  out += ']';
}

SymScalarMeta read_scalar(std::string_view text) {
  using Kind = SymScalarMeta::Kind;
  const bool compares = text.find_first_of("<>&|~") != std::string_view::npos || text.find("Eq(") != std::string_view::npos ||
                        text.find("Ne(") != std::string_view::npos || text == "True" || text == "False";
  const bool floats = text.starts_with("zf") || text.starts_with("zuf") || text.find("ToFloat(") != std::string_view::npos ||
                      text.find('.') != std::string_view::npos;
  return {compares ? Kind::boolean : floats ? Kind::floating : Kind::integer, std::string(text)};
}

}  // namespace

ValueMeta read_meta(std::string_view annotation) {
  annotation = trimmed(annotation);
  if (annotation.find('"') != std::string_view::npos) return {};  // it is printed between quotes
  if (annotation.starts_with("Sym(") && annotation.ends_with(')')) return read_scalar(annotation.substr(4, annotation.size() - 5));
  Cursor cursor(annotation);
  const auto dtype = dtype_from_short_name(cursor.name());
  if (!dtype) return {};
  const auto sizes = bracketed(cursor);
  if (!sizes) return {};
  TensorMeta meta;
  meta.dtype = *dtype;
  meta.sizes = read_sizes(*sizes);
  if (cursor.peek() == '[') {
    const auto strides = bracketed(cursor);
    if (!strides) return {};
    meta.strides = read_sizes(*strides);
  }
  meta.device = std::string(trimmed(cursor.rest()));
  return meta;
}

void print_meta(std::string& out, const ValueMeta& meta, Strides strides) {
  if (const auto* scalar = std::get_if<SymScalarMeta>(&meta)) out.append("Sym(").append(scalar->text).append(")");
  const TensorMeta* tensor = tensor_meta(meta);
  if (tensor == nullptr) return;
  out += short_name(tensor->dtype);
  print_sizes(out, tensor->sizes);
  if (strides == Strides::printed && tensor->strides) print_sizes(out, *tensor->strides);
}

bool may_be_contiguous(const TensorMeta& meta) {
  if (!meta.strides || meta.strides->size() != meta.sizes.size()) return true;
  // Symbols get odd numbers of their own: two products that agree there agree everywhere, for the sizes that occur.
  const auto sample = [](const std::string& symbol) -> std::optional<std::int64_t> {
    std::int64_t number = 3;
    for (const char c : symbol) number = (number * 131 + c) % 9973;
    return 2 * number + 3;
  };
  std::int64_t expected = 1;
  for (std::size_t i = meta.sizes.size(); i-- > 0;) {
    const auto size = meta.sizes[i].evaluate(sample), stride = (*meta.strides)[i].evaluate(sample);
    if (!size || !stride) return true;
    if (*size != 1 && *stride != expected) return false;
    if (*size == 0 || __builtin_mul_overflow(expected, *size, &expected)) return true;
  }
  return true;
}

}  // namespace writeback::text
