// The reader of whole programs: finds the parts of the text (comments in front, code, signature, ranges) and ties them together.
#include "ref/graph/text.h"

#include "ref/graph/text_annotations.h"
#include "ref/graph/text_code.h"
#include "ref/graph/text_cursor.h"
#include "ref/graph/text_graph.h"
#include "ref/graph/text_lift.h"
#include "ref/graph/text_signature.h"
#include "ref/graph/text_source.h"
#include "ref/graph/text_target.h"

namespace writeback {
namespace {

using text::Cursor;
using text::LineKind;
using text::trimmed;

class TextReader {
 public:
  explicit TextReader(std::string_view original) : source_(original), cursor_(source_.text()) {}

  Program read() {
    const LineKind kind = comments_in_front();
    graph(kind);
    const bool signature = rest();
    if (!signature) text::infer_signature(program_, warnings_);
    text::lift_attributes(program_, signature ? InputKind::constant_tensor : InputKind::buffer, warnings_);
    text::read_annotations(comments_, cursor_, program_);
    program_.warnings = warnings_.list();
    return std::move(program_);
  }

 private:
  /// Goes to the line where the graph begins; what it begins with.
  LineKind comments_in_front() {
    for (; !cursor_.at_end(); cursor_.next_line()) {
      const std::string_view line = trimmed(cursor_.this_line());
      const LineKind kind = text::kind_of_line(line);
      if (kind != LineKind::other && kind != LineKind::exported_program) return kind;
      if (line.starts_with('#')) comments_.push_back({line, cursor_.position() + cursor_.this_line().find('#')});
    }
    cursor_.fail("a program as PyTorch prints it ('ExportedProgram:', 'class GraphModule(torch.nn.Module):' or 'graph():')");
  }

  void graph(LineKind kind) {
    text::TargetTable targets(program_, SchemaTable::with(text::schema_lines(comments_)));
    switch (kind) {
      case LineKind::graph:
      case LineKind::graph_node:
        program_.graph = text::read_graph(cursor_, targets, warnings_);
        return;
      case LineKind::table:
        program_.graph = text::read_table(cursor_, targets, warnings_);
        return;
      case LineKind::module_class:
      case LineKind::function:
      case LineKind::exported_program:
      case LineKind::other:
        program_.graph = text::read_class(cursor_, targets, warnings_);
        return;
    }
  }

  /// Signature and ranges, wherever they stand behind; true if there was a signature.
  bool rest() {
    bool signature = false;
    while (!cursor_.at_end()) {
      cursor_.skip_blanks();
      if (!signature && (cursor_.take("Graph signature:") || cursor_.looking_at("ExportGraphSignature("))) {
        text::bind_signature(text::read_signature(cursor_), cursor_, program_);
        signature = true;
        cursor_.skip_blanks();
      }
      if (!signature && (cursor_.looking_at("# inputs") || cursor_.looking_at("# outputs"))) {
        sections();
        signature = true;
      }
      if (cursor_.take("Range constraints:")) text::read_ranges(cursor_, program_);
      cursor_.next_line();
    }
    return signature;
  }

  /// A signature whose head was cut away, perhaps with its inputs.
  void sections() {
    text::Signature signature = text::read_signature(cursor_);
    if (signature.inputs.empty()) {
      warnings_.add("the text tells no inputs: what an input is was told by its name (p_, b_, c_)");
      signature.inputs = text::inferred_inputs(program_.graph);
    }
    text::bind_signature(signature, cursor_, program_);
    cursor_.skip_blanks();
  }

  text::Source source_;
  Cursor cursor_;
  Program program_;
  text::Warnings warnings_;
  std::vector<text::CommentLine> comments_;
};

}  // namespace

Program read_text(std::string_view source) { return TextReader(source).read(); }

}  // namespace writeback
