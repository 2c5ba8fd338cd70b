#include "impl/import/encoding.h"

#include <array>

namespace writeback::impl {
namespace {

template <typename Value>
struct Row {
  std::int64_t number;
  Value value;
};

constexpr std::array kDTypes{
    Row<DType>{1, DType::u8},         Row<DType>{2, DType::i8},          Row<DType>{3, DType::i16},
    Row<DType>{4, DType::i32},        Row<DType>{5, DType::i64},         Row<DType>{6, DType::f16},
    Row<DType>{7, DType::f32},        Row<DType>{8, DType::f64},         Row<DType>{9, DType::c32},
    Row<DType>{10, DType::c64},       Row<DType>{11, DType::c128},       Row<DType>{12, DType::b8},
    Row<DType>{13, DType::bf16},      Row<DType>{28, DType::u16},        Row<DType>{29, DType::f8e4m3fn},
    Row<DType>{30, DType::f8e5m2},    Row<DType>{31, DType::f8e4m3fnuz}, Row<DType>{32, DType::f8e5m2fnuz},
    Row<DType>{33, DType::f8e8m0fnu}, Row<DType>{34, DType::u32},        Row<DType>{35, DType::u64},
};
/// Where ExecuTorch's fork differs.
constexpr std::array kForkDTypes{
    Row<DType>{14, DType::u16},
    Row<DType>{15, DType::f8e5m2},
    Row<DType>{16, DType::f8e4m3fn},
};
constexpr std::array kLayouts{
    Row<std::string_view>{1, "torch.sparse_coo"}, Row<std::string_view>{2, "torch.sparse_csr"},
    Row<std::string_view>{3, "torch.sparse_csc"}, Row<std::string_view>{4, "torch.sparse_bsr"},
    Row<std::string_view>{5, "torch.sparse_bsc"}, Row<std::string_view>{6, "torch._mkldnn"},
    Row<std::string_view>{7, "torch.strided"},
};
constexpr std::array kMemoryFormats{
    Row<std::string_view>{1, "torch.contiguous_format"},
    Row<std::string_view>{2, "torch.channels_last"},
    Row<std::string_view>{3, "torch.channels_last_3d"},
    Row<std::string_view>{4, "torch.preserve_format"},
};

template <typename Table, typename Value>
std::optional<std::int64_t> find_number(const Table& table, Value value) {
  for (const auto& row : table) {
    if (row.value == value) return row.number;
  }
  return std::nullopt;
}

template <typename Table>
auto find_value(const Table& table, std::int64_t number) -> std::optional<decltype(table[0].value)> {
  for (const auto& row : table) {
    if (row.number == number) return row.value;
  }
  return std::nullopt;
}

}  // namespace

DType dtype_from_number(std::int64_t number, Numbering numbering) {
  if (numbering == Numbering::executorch_fork) {
    if (const auto found = find_value(kForkDTypes, number)) return *found;
  }
  return find_value(kDTypes, number).value_or(DType::unknown);
}

std::int64_t number_of(DType dtype) { return find_number(kDTypes, dtype).value_or(0); }

std::optional<std::string_view> layout_from_number(std::int64_t number) { return find_value(kLayouts, number); }
std::optional<std::int64_t> layout_number(std::string_view name) { return find_number(kLayouts, name); }
std::optional<std::string_view> memory_format_from_number(std::int64_t number) { return find_value(kMemoryFormats, number); }
std::optional<std::int64_t> memory_format_number(std::string_view name) { return find_number(kMemoryFormats, name); }

}  // namespace writeback::impl
