// What PyTorch's text cannot say and we write in comment lines in front of a program:
//
//   # alias: b_a b_b                            these placeholders share one storage, with the same geometry
//   # alias: b_b = b_a[offset; sizes; strides]  b_b is that region of b_a's storage; sizes and strides with commas between
//   # alias: b_a = b_a[offset; sizes; strides]  b_a is not the whole of its own storage either
//   # share_alloc: y 0                          a later pass lets node y's result take the storage of its positional argument 0
//   # born_in: new b_a                          node new's result is born in the storage of placeholder b_a, no copy needed
//   # schema: my::op(Tensor x) -> Tensor        the schema of a custom op
//   # options: --lowering none                  defaults for the command line
#pragma once

#include <string>
#include <vector>

#include "ref/graph/program.h"
#include "ref/graph/text_cursor.h"

namespace writeback::text {

/// A comment line in front of the program and where its text begins.
struct CommentLine {
  std::string_view text;  ///< from "#" on
  std::size_t position = 0;
};

/// What the `# schema:` lines say.
std::vector<std::string> schema_lines(const std::vector<CommentLine>&);

/// Takes the annotations into the program, whose graph must have been read. All lines are kept in leading_comments too, so that
/// they are printed in their order.
void read_annotations(const std::vector<CommentLine>&, const Cursor& text, Program&);

/// The comment lines in front of the program: leading_comments as they are, without annotations that no longer hold, then those
/// annotations that no leading comment gives.
std::vector<std::string> annotation_lines(const Program&);

}  // namespace writeback::text
