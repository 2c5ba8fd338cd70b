// Text tables: rows of cells with aligned columns, the last one not padded.
#pragma once

#include <string>
#include <vector>

namespace writeback::impl {

/// Cells that are numbers stand to the right. All rows have as many cells as the first.
std::string aligned_table(const std::vector<std::vector<std::string>>& rows);

}  // namespace writeback::impl
