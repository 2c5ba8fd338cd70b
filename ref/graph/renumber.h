// A program whose values have other numbers, since nodes came or went.
#pragma once

#include <cstdint>
#include <vector>

#include "ref/graph/program.h"

namespace writeback {

/// Renumbers every value of the top graph: value v becomes `new_index[v]`.
void renumber(Program&, const std::vector<std::uint32_t>& new_index);

/// Without these nodes, by number; no node that stays may use one of them.
Program without_nodes(Program, const std::vector<bool>& removed);

}  // namespace writeback
