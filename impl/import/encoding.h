// The numbers that archives use for element types, layouts and memory formats, and the words that PyTorch prints for them.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "ref/graph/tensor_meta.h"

namespace writeback::impl {

/// Whose numbering of element types a file uses: torch.export's, or that of ExecuTorch's own fork (schema 5.4), which differs
/// beyond 13.
enum class Numbering : std::uint8_t { torch_export, executorch_fork };

/// DType::unknown for a number that no table has.
DType dtype_from_number(std::int64_t number, Numbering);
/// The number in torch.export's numbering, 0 for unknown.
std::int64_t number_of(DType);

/// "torch.strided" for 7.
std::optional<std::string_view> layout_from_number(std::int64_t);
std::optional<std::int64_t> layout_number(std::string_view python_name);
/// "torch.channels_last" for 2.
std::optional<std::string_view> memory_format_from_number(std::int64_t);
std::optional<std::int64_t> memory_format_number(std::string_view python_name);

}  // namespace writeback::impl
