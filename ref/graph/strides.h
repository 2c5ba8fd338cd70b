// Strides for values of which a program tells none, as text does not: a placeholder is contiguous, a view has the strides that its
// op gives it over its base, any other result is taken for contiguous. The last is a guess (torch lets an element-wise result keep
// the order of a permuted operand), so nothing that judges a program may build on it; it is for files that must name strides.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "ref/graph/program.h"

namespace writeback {

/// By value of the program's top graph; nullopt where strides are told, sizes are symbolic, or the value is no tensor.
std::vector<std::optional<std::vector<std::int64_t>>> guessed_strides(const Program&);

}  // namespace writeback
