// The signature of an exported program in the text: which placeholder is what, which output goes where; and the range constraints
// that stand behind it.
#pragma once

#include <string>
#include <vector>

#include "ref/graph/program.h"
#include "ref/graph/text_cursor.h"

namespace writeback::text {

/// One spec as the text gives it; the name ties it to a placeholder or an output.
struct NamedInput {
  std::string name;
  InputSpec spec;
};
struct NamedOutput {
  std::string name;  ///< empty for constants
  OutputSpec spec;
};
struct Signature {
  std::vector<NamedInput> inputs;
  std::vector<NamedOutput> outputs;
};

/// Reads what follows `Graph signature:`; the cursor ends at the line of the range constraints or at the end.
Signature read_signature(Cursor&);

/// Reads what follows `Range constraints:`.
std::map<std::string, SymRange> read_ranges(Cursor&);

void print_signature(std::string& out, const Program&);
void print_ranges(std::string& out, const Program&);

}  // namespace writeback::text
