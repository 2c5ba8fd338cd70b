#include "ref/graph/text_cursor.h"

#include <algorithm>

namespace writeback::text {

bool is_dotted_name(std::string_view s) {
  Cursor cursor(s);
  return !s.empty() && cursor.dotted_name() == s;
}

std::string_view trimmed(std::string_view s) {
  while (!s.empty() && (is_blank(s.front()) || s.front() == '\n')) s.remove_prefix(1);
  while (!s.empty() && (is_blank(s.back()) || s.back() == '\n')) s.remove_suffix(1);
  return s;
}

void Cursor::expect(char c, std::string_view where) {
  if (take(c)) return;
  std::string what;
  fail(what.append("'").append(1, c).append("' ").append(where));
}

std::string_view Cursor::name() {
  const std::size_t begin = position_;
  if (!is_name_start(peek())) return {};
  while (is_name_char(peek())) ++position_;
  return since(begin);
}

std::string_view Cursor::dotted_name() {
  const std::size_t begin = position_;
  if (name().empty()) return {};
  while (peek() == '.' && is_name_start(peek(1))) {
    ++position_;
    name();
  }
  return since(begin);
}

std::string_view Cursor::rest_of_line() {
  const std::size_t begin = position_;
  position_ = std::min(text_.find('\n', position_), text_.size());
  return since(begin);
}

std::string_view Cursor::this_line() const {
  Cursor copy = *this;
  return copy.rest_of_line();
}

std::string Cursor::place(std::size_t position) const {
  const std::string_view before = text_.substr(0, position);
  const auto lines = std::count(before.begin(), before.end(), '\n');
  const std::size_t start = before.rfind('\n') == std::string_view::npos ? 0 : before.rfind('\n') + 1;
  return "line " + std::to_string(lines + 1) + ", column " + std::to_string(before.size() - start + 1);
}

void Cursor::fail(const std::string& expected) const {
  constexpr std::size_t kShown = 24;
  std::string_view found = this_line();
  std::string message = "expected " + expected + ", found ";
  if (at_end())
    message.append("the end of the text");
  else if (found.empty())
    message.append("the end of the line");
  else
    message.append("'").append(found.substr(0, kShown)).append(found.size() > kShown ? "...'" : "'");
  fail_at(position_, message);
}

void Cursor::fail_at(std::size_t position, const std::string& message) const { throw InputError(place(position), message); }

}  // namespace writeback::text
