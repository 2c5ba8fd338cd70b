// PyTorch's printed text: print(ExportedProgram), print_readable, print(graph). Read in every variant of the last years, edge
// dialect included; printed in today's style, byte for byte as torch 2.13 prints it.
#pragma once

#include <string>
#include <string_view>

#include "ref/graph/program.h"

namespace writeback {

/// Reads a program. Text around it (a mail, an issue, a log) is skipped; comment lines in front that start with `# alias:`,
/// `# share_alloc:`, `# schema:`, `# options:` are understood (text_annotations.h), and all are kept in leading_comments, so that
/// they print in their order. What cannot be understood but can be left opaque is, with a warning in Program::warnings; the rest
/// throws InputError with line, column and what was expected. Time and memory are linear in the size of the text.
Program read_text(std::string_view text);

/// Prints a program as torch 2.13 does, with the annotations that we add (`# alias:` ...) in comment lines in front. Strides of a
/// placeholder that is not contiguous are printed as torch's include_stride does (`f32[2, 2][1, 2]`). Comments that were read are
/// printed as they were; a program without any gets those that torch makes of its stack traces. Deletions (`;  x = None`) are
/// made anew.
std::string print_text(const Program&);

}  // namespace writeback
