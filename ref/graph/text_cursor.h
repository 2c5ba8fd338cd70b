// A place in a text and how to go forward from it: the part of a lexer that every reader of PyTorch's text shares. It holds no
// tokens; each reader asks for what it expects and gets an InputError with line and column where something else stands.
#pragma once

#include <string>
#include <string_view>

#include "ref/graph/error.h"

namespace writeback::text {

inline bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }
inline bool is_digit(char c) { return c >= '0' && c <= '9'; }
inline bool is_name_start(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
inline bool is_name_char(char c) { return is_name_start(c) || is_digit(c); }

/// `torch.ops.aten.add.Tensor`: names joined by dots and nothing else.
bool is_dotted_name(std::string_view s);

/// `s` without blanks and line ends at both ends.
std::string_view trimmed(std::string_view s);

class Cursor {
 public:
  explicit Cursor(std::string_view text, std::size_t position = 0) : text_(text), position_(position) {}

  std::string_view text() const { return text_; }
  std::size_t position() const { return position_; }
  void move_to(std::size_t position) { position_ = position; }

  bool at_end() const { return position_ >= text_.size(); }
  char peek(std::size_t ahead = 0) const { return position_ + ahead < text_.size() ? text_[position_ + ahead] : '\0'; }
  void advance(std::size_t count = 1) { position_ += count; }
  std::string_view rest() const { return text_.substr(position_); }
  std::string_view since(std::size_t begin) const { return text_.substr(begin, position_ - begin); }
  bool looking_at(std::string_view word) const { return text_.compare(position_, word.size(), word) == 0; }

  void skip_blanks() {
    while (is_blank(peek())) ++position_;
  }
  /// Blanks and line ends: inside parentheses a statement may go on in the next line.
  void skip_space() {
    while (is_blank(peek()) || peek() == '\n') ++position_;
  }
  /// Takes `word` if it stands here.
  bool take(std::string_view word) {
    if (!looking_at(word)) return false;
    position_ += word.size();
    return true;
  }
  bool take(char c) {
    if (peek() != c || at_end()) return false;
    ++position_;
    return true;
  }
  void expect(char c, std::string_view where);
  /// A Python name, empty where none stands here.
  std::string_view name();
  /// Names joined by dots.
  std::string_view dotted_name();
  /// The rest of the line, without its end; stands on the line end (or the end of the text) afterwards.
  std::string_view rest_of_line();
  std::string_view this_line() const;
  void next_line() {
    rest_of_line();
    if (!at_end()) ++position_;
  }

  /// "line 12, column 5", both from 1.
  std::string place(std::size_t position) const;
  /// Throws InputError: "expected EXPECTED, found ...".
  [[noreturn]] void fail(const std::string& expected) const;
  [[noreturn]] void fail_at(std::size_t position, const std::string& message) const;

 private:
  std::string_view text_;
  std::size_t position_;
};

}  // namespace writeback::text
