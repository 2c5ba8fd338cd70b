// Which ops may write their result over an operand while they still read it: each cell of the result depends on no other cell of
// the operand than the one at the same place. A reviewed list, for operands of the result's own sizes; what is not in it may not.
//
// It may be too short, never too long: a kernel of an op in this list reads a cell before it writes it. (Copy first and write then,
// as `index_put` does, is as good: the copy is of a tensor to itself.)
#pragma once

#include "ref/graph/program.h"

namespace writeback {

/// Wherever the node's arguments name `operand`, it is read cell by cell.
bool reads_cell_by_cell(const Program&, NodeId, ValueId operand);

}  // namespace writeback
