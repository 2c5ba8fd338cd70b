// Numbers for the symbolic sizes of a program.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "ref/graph/program.h"

namespace writeback {

/// Throws InputError where a value is outside the range that the program allows.
void check_sizes(const Program&, const std::map<std::string, std::int64_t>& symbols);

/// The program with each size and stride that the symbols determine as a number; others stay. Throws as check_sizes does.
Program with_sizes(Program, const std::map<std::string, std::int64_t>& symbols);

}  // namespace writeback
