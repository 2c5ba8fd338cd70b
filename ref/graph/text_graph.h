// The other two prints of a graph: print(graph), a node a line as `%y : [num_users=1] = call_function[target=...](args = ...)`
// (also Inductor's fragments and ExecuTorch's print_delegated_graph), and print_tabular.
#pragma once

#include "ref/graph/program.h"
#include "ref/graph/text_cursor.h"
#include "ref/graph/text_names.h"
#include "ref/graph/text_target.h"

namespace writeback::text {

/// Reads nodes from the cursor's line on, up to `return` or to a line that is no node; `graph():` may stand in front.
/// A `[num_users=N]` that the text does not bear out is a warning: the text seems cut.
Graph read_graph(Cursor&, TargetTable&, Warnings&);

/// Reads the table at whose head line (`opcode  name  target  args  kwargs`) the cursor stands.
Graph read_table(Cursor&, TargetTable&, Warnings&);

/// How often torch.fx counts each value as used: once a node, once for all outputs.
std::vector<std::uint32_t> user_counts(const Graph&);

}  // namespace writeback::text
