// The Python code of a graph, as print_readable gives it: a class with a `forward`, one statement a node, `return`, and the classes
// of its subgraphs behind.
#pragma once

#include "ref/graph/program.h"
#include "ref/graph/text_cursor.h"
#include "ref/graph/text_target.h"

namespace writeback::text {

/// Reads the class at the cursor, which stands at the start of its `class` line; afterwards at the start of the first line behind
/// the class.
Graph read_class(Cursor&, TargetTable&);

}  // namespace writeback::text
