// The table of element types: one row each.
#include <array>

#include "ref/graph/tensor_meta.h"

namespace writeback {
namespace {

struct Row {
  DType dtype;
  std::string_view short_name, python_name;
  std::size_t bytes;
};

constexpr std::array kRows{
    Row{DType::unknown, "?", "?", 0},
    Row{DType::u8, "u8", "torch.uint8", 1},
    Row{DType::i8, "i8", "torch.int8", 1},
    Row{DType::i16, "i16", "torch.int16", 2},
    Row{DType::i32, "i32", "torch.int32", 4},
    Row{DType::i64, "i64", "torch.int64", 8},
    Row{DType::f16, "f16", "torch.float16", 2},
    Row{DType::f32, "f32", "torch.float32", 4},
    Row{DType::f64, "f64", "torch.float64", 8},
    Row{DType::c32, "c32", "torch.complex32", 4},
    Row{DType::c64, "c64", "torch.complex64", 8},
    Row{DType::c128, "c128", "torch.complex128", 16},
    Row{DType::b8, "b8", "torch.bool", 1},
    Row{DType::bf16, "bf16", "torch.bfloat16", 2},
    Row{DType::u16, "u16", "torch.uint16", 2},
    Row{DType::u32, "u32", "torch.uint32", 4},
    Row{DType::u64, "u64", "torch.uint64", 8},
    Row{DType::f8e4m3fn, "f8e4m3fn", "torch.float8_e4m3fn", 1},
    Row{DType::f8e5m2, "f8e5m2", "torch.float8_e5m2", 1},
    Row{DType::f8e4m3fnuz, "f8e4m3fnuz", "torch.float8_e4m3fnuz", 1},
    Row{DType::f8e5m2fnuz, "f8e5m2fnuz", "torch.float8_e5m2fnuz", 1},
    Row{DType::f8e8m0fnu, "f8e8m0fnu", "torch.float8_e8m0fnu", 1},
    Row{DType::bits16, "b16", "torch.bits16", 2},
};

constexpr const Row& row(DType dtype) { return kRows[static_cast<std::size_t>(dtype)]; }

constexpr bool rows_stand_in_order() {
  for (std::size_t i = 0; i < kRows.size(); ++i) {
    if (static_cast<std::size_t>(kRows[i].dtype) != i) return false;
  }
  return true;
}
static_assert(rows_stand_in_order());

}  // namespace

std::string_view short_name(DType dtype) { return row(dtype).short_name; }
std::string_view python_name(DType dtype) { return row(dtype).python_name; }
std::size_t byte_size(DType dtype) { return row(dtype).bytes; }

std::optional<DType> dtype_from_short_name(std::string_view name) {
  for (const Row& r : kRows) {
    if (r.dtype != DType::unknown && r.short_name == name) return r.dtype;
  }
  return std::nullopt;
}

std::optional<DType> dtype_from_python_name(std::string_view name) {
  for (const Row& r : kRows) {
    if (r.dtype != DType::unknown && r.python_name == name) return r.dtype;
  }
  return std::nullopt;
}

bool is_floating(DType dtype) {
  switch (dtype) {
    case DType::f16:
    case DType::f32:
    case DType::f64:
    case DType::bf16:
    case DType::f8e4m3fn:
    case DType::f8e5m2:
    case DType::f8e4m3fnuz:
    case DType::f8e5m2fnuz:
    case DType::f8e8m0fnu:
      return true;
    case DType::unknown:
    case DType::u8:
    case DType::i8:
    case DType::i16:
    case DType::i32:
    case DType::i64:
    case DType::c32:
    case DType::c64:
    case DType::c128:
    case DType::b8:
    case DType::u16:
    case DType::u32:
    case DType::u64:
    case DType::bits16:
      return false;
  }
  return false;
}

bool is_complex(DType dtype) { return dtype == DType::c32 || dtype == DType::c64 || dtype == DType::c128; }

}  // namespace writeback
