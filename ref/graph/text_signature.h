// The signature of an exported program in the text: which placeholder is what, which output goes where; and the range constraints
// that stand behind it. Three styles: lists since torch 2.8 (`b_a: BUFFER target='a'`), the repr of a dataclass from 2.2 on
// (`InputSpec(kind=<InputKind.BUFFER: 3>, ...)`), and the one of 2.1 (`buffers_to_mutate={...}`).
#pragma once

#include <string>
#include <vector>

#include "ref/graph/program.h"
#include "ref/graph/text_cursor.h"
#include "ref/graph/text_names.h"

namespace writeback::text {

/// One spec as the text gives it; the name ties it to a placeholder or an output (empty for constants).
template <typename Spec>
struct Named {
  std::string name;
  Spec spec;
  std::size_t position = 0;  ///< in the text
};
struct Signature {
  std::vector<Named<InputSpec>> inputs;
  std::vector<Named<OutputSpec>> outputs;
};

/// Reads what follows `Graph signature:`; the cursor ends at the line of the range constraints, or where the signature ends.
Signature read_signature(Cursor&);
/// The repr of a signature, at `ExportGraphSignature(`.
Signature read_signature_repr(Cursor&);
/// The kinds by their names; an InputError at `position` for others.
InputKind input_kind(std::string_view name, const Cursor&, std::size_t position);
OutputKind output_kind(std::string_view name, const Cursor&, std::size_t position);

/// Gives the program its specs. Throws InputError where the signature does not fit the graph.
void bind_signature(const Signature&, const Cursor&, Program&);
/// Inputs told by their names (`p_`, `b_`, `c_`, ...).
std::vector<Named<InputSpec>> inferred_inputs(const Graph&);
/// For text without a signature: inputs by their names (`p_`, `b_`, `c_`, ...), outputs as user outputs, with a warning.
void infer_signature(Program&, Warnings&);

/// Reads what follows `Range constraints:`.
void read_ranges(Cursor&, Program&);

void print_signature(std::string& out, const Program&);
/// In the order of range_order, the others in the order in which they occur in the graph.
void print_ranges(std::string& out, const Program&);

}  // namespace writeback::text
