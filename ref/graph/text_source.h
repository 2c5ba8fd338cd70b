// Text as people paste it: quoted in a mail, behind the prefix of a log, coloured. The readers want it without all that.
#pragma once

#include <string>
#include <string_view>

namespace writeback::text {

/// The text without terminal colours, without byte-order mark, and from the line where the program starts on without the prefix
/// that stands before it there (`> `, `I0101 12:00 ... [__graph_code] `). Lines stay lines; text that needs nothing is not copied.
class Source {
 public:
  explicit Source(std::string_view original);
  Source(const Source&) = delete;
  Source& operator=(const Source&) = delete;
  std::string_view text() const { return text_; }

 private:
  std::string cleaned_;
  std::string_view text_;
};

/// What a line (without blanks at its ends) begins.
enum class LineKind : unsigned char { other, exported_program, module_class, function, graph, graph_node, table };
LineKind kind_of_line(std::string_view line);

}  // namespace writeback::text
