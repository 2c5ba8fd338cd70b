// The Python code of a graph, as print_readable gives it: a class with a `forward`, one statement a node, `return`, and the classes
// of its subgraphs behind, indented once more. Unlifted modules too (`ep.module()`): their typed placeholders and pytree lines are
// understood, the call of their `_guards_fn` is left out.
#pragma once

#include "ref/graph/program.h"
#include "ref/graph/text_cursor.h"
#include "ref/graph/text_names.h"
#include "ref/graph/text_target.h"

namespace writeback::text {

/// Reads the class (or the `def forward` alone) at whose line the cursor stands; afterwards it stands at the start of the first
/// line behind the class.
Graph read_class(Cursor&, TargetTable&, Warnings& warnings);

}  // namespace writeback::text
