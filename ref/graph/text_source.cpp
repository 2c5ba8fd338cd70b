#include "ref/graph/text_source.h"

#include <array>

#include "ref/graph/text_cursor.h"

namespace writeback::text {
namespace {

/// Removes `ESC [ ... letter`.
std::string without_colours(std::string_view text) {
  std::string result;
  result.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\x1b') {
      result += text[i];
      continue;
    }
    if (i + 1 < text.size() && text[i + 1] == '[') ++i;
    while (i + 1 < text.size() && (is_digit(text[i + 1]) || text[i + 1] == ';')) ++i;
    if (i + 1 < text.size() && is_name_start(text[i + 1])) ++i;
  }
  return result;
}

/// Where in a line the first line of a program begins, npos if nowhere.
std::size_t start_in_line(std::string_view line) {
  constexpr std::array kStarts{"ExportedProgram:", "class ", "graph(", "opcode ", "%"};
  for (const std::string_view start : kStarts) {
    const std::size_t found = line.find(start);
    if (found != std::string_view::npos && kind_of_line(trimmed(line.substr(found))) != LineKind::other) return found;
  }
  return std::string_view::npos;
}

/// The last word before the program in its first line: "" where only blanks stand there.
struct Prefix {
  std::string_view mark;
  std::size_t line_begin = 0;
  std::size_t size = 0;
};

bool has_plain_start(Cursor cursor) {
  for (; !cursor.at_end(); cursor.next_line()) {
    if (kind_of_line(trimmed(cursor.this_line())) != LineKind::other) return true;
  }
  return false;
}

Prefix find_prefix(std::string_view text) {
  for (Cursor cursor(text); !cursor.at_end(); cursor.next_line()) {
    const std::string_view line = cursor.this_line();
    if (kind_of_line(trimmed(line)) != LineKind::other) return {};
    const std::size_t start = start_in_line(line);
    if (start == std::string_view::npos) continue;
    const std::string_view before = trimmed(line.substr(0, start));
    // A comment that speaks of a program is no prefix of one.
    if (before.starts_with('#') && (before != "#" || has_plain_start(cursor))) continue;
    const std::size_t space = before.find_last_of(" \t");
    const std::string_view mark = space == std::string_view::npos ? before : before.substr(space + 1);
    // A prefix ends in `>`, `|`, `#`, `]`: a word before the program is a sentence about it.
    return {mark.empty() || is_name_char(mark.back()) ? std::string_view{} : mark, cursor.position(), start};
  }
  return {};
}

std::string without_prefix(std::string_view text, const Prefix& prefix) {
  constexpr std::size_t kSlack = 16;  // a log line's time or line number may be longer than the first one's
  std::string result(text.substr(0, prefix.line_begin));
  result.reserve(text.size());
  for (Cursor cursor(text, prefix.line_begin); !cursor.at_end(); cursor.next_line()) {
    std::string_view line = cursor.this_line();
    std::size_t mark = line.substr(0, prefix.size).rfind(prefix.mark);
    if (mark == std::string_view::npos) mark = line.substr(0, prefix.size + kSlack).find(prefix.mark);
    if (mark != std::string_view::npos) line.remove_prefix(mark + prefix.mark.size());
    result.append(line).append("\n");
  }
  return result;
}

}  // namespace

LineKind kind_of_line(std::string_view line) {
  if (line == "ExportedProgram:") return LineKind::exported_program;
  if (line.starts_with("class ") && line.ends_with("Module):")) return LineKind::module_class;
  if (line.starts_with("def forward(")) return LineKind::function;
  if (line.starts_with("graph(") && line.ends_with(':')) return LineKind::graph;
  if (line.starts_with("opcode ") && line.find(" kwargs") != std::string_view::npos) return LineKind::table;
  if (line.starts_with('%')) {
    const std::size_t equals = line.find("= ");
    if (equals != std::string_view::npos && line.find("[target=") != std::string_view::npos) return LineKind::graph_node;
  }
  return LineKind::other;
}

Source::Source(std::string_view original) : text_(original) {
  if (text_.starts_with("\xEF\xBB\xBF")) text_.remove_prefix(3);
  if (text_.find('\x1b') != std::string_view::npos) {
    cleaned_ = without_colours(text_);
    text_ = cleaned_;
  }
  const Prefix prefix = find_prefix(text_);
  if (prefix.mark.empty()) return;
  cleaned_ = without_prefix(text_, prefix);
  text_ = cleaned_;
}

}  // namespace writeback::text
