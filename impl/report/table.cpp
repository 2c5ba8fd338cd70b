#include "impl/report/table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

namespace writeback::impl {
namespace {

bool is_numeric(const std::string& cell) {
  return !cell.empty() && (std::isdigit(static_cast<unsigned char>(cell[0])) || cell[0] == '-');
}

}  // namespace

std::string aligned_table(const std::vector<std::vector<std::string>>& rows) {
  std::vector<std::size_t> width(rows.front().size(), 0);
  for (const auto& row : rows) {
    for (std::size_t i = 0; i < row.size(); ++i) width[i] = std::max(width[i], row[i].size());
  }
  std::string text;
  for (const auto& row : rows) {
    for (std::size_t i = 0; i + 1 < row.size(); ++i) {
      text += is_numeric(row[i]) ? fmt::format("{:>{}}  ", row[i], width[i]) : fmt::format("{:<{}}  ", row[i], width[i]);
    }
    text += row.back() + "\n";
  }
  return text;
}

}  // namespace writeback::impl
