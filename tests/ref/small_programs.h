// Small programs for tests, in a line or two each: `small_program("b_a x:2,2", {"y = add(b_a, x) : 4"}, "y -> b_a, y")` has the
// buffer b_a and the input x (sizes behind the colon, else 4), one node (sizes, or a type such as i64[4], behind the last colon,
// else 4) and, as outputs, a write-back of y to b_a and the user output y. Overloads are the usual ones of each op.
#pragma once

#include <string>
#include <vector>

#include "ref/graph/program.h"

namespace writeback::ref {

/// `front` are comment lines such as "# alias: b_a b_b".
Program small_program(const std::string& inputs, const std::vector<std::string>& nodes, const std::string& outputs,
                      const std::vector<std::string>& front = {});

}  // namespace writeback::ref
