// The reader of whole programs: finds the parts of the text (comments in front, code, signature, ranges) and ties them together.
#include "ref/graph/text.h"

#include "ref/graph/error.h"
#include "ref/graph/text_annotations.h"
#include "ref/graph/text_code.h"
#include "ref/graph/text_cursor.h"
#include "ref/graph/text_signature.h"
#include "ref/graph/text_target.h"

namespace writeback {
namespace {

using text::Cursor;
using text::trimmed;

/// Specs by index, where the names agree with the placeholders and outputs.
void bind(const text::Signature& signature, const Cursor& cursor, Program& program) {
  const Graph& graph = program.graph;
  if (signature.inputs.size() != graph.placeholders.size()) {
    throw InputError(cursor.place(cursor.position()), "expected a signature of " + std::to_string(graph.placeholders.size()) +
                                                          " inputs, found " + std::to_string(signature.inputs.size()));
  }
  if (signature.outputs.size() != graph.outputs.size()) {
    throw InputError(cursor.place(cursor.position()), "expected a signature of " + std::to_string(graph.outputs.size()) +
                                                          " outputs, found " + std::to_string(signature.outputs.size()));
  }
  for (const auto& input : signature.inputs) program.input_specs.push_back(input.spec);
  for (const auto& output : signature.outputs) program.output_specs.push_back(output.spec);
}

}  // namespace

Program read_text(std::string_view source) {
  Program program;
  Cursor cursor(source);
  text::TargetTable targets(program);
  std::vector<text::CommentLine> comments;
  for (; !cursor.at_end(); cursor.next_line()) {
    const std::string_view line = trimmed(cursor.this_line());
    if (line.starts_with("class ")) break;
    if (line.starts_with('#')) comments.push_back({line, cursor.position() + cursor.this_line().find('#')});
  }
  if (cursor.at_end()) cursor.fail("a program as PyTorch prints it ('ExportedProgram:', 'class GraphModule' or 'graph():')");
  program.graph = text::read_class(cursor, targets);
  for (; !cursor.at_end(); cursor.next_line()) {
    cursor.skip_blanks();
    if (cursor.take("Graph signature:")) bind(text::read_signature(cursor), cursor, program);
    cursor.skip_blanks();
    if (cursor.take("Range constraints:")) program.range_constraints = text::read_ranges(cursor);
  }
  text::read_annotations(comments, cursor, program);
  return program;
}

}  // namespace writeback
