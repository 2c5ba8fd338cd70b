// What a program says of a value: dtype, sizes, strides. Sizes and strides are in elements.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "ref/graph/symbolic.h"

namespace writeback {

/// Element types, in no particular order; names and sizes come from dtype.cpp, numbers of the archive from impl/import.
enum class DType : std::uint8_t {
  unknown,
  u8,
  i8,
  i16,
  i32,
  i64,
  f16,
  f32,
  f64,
  c32,
  c64,
  c128,
  b8,
  bf16,
  u16,
  u32,
  u64,
  f8e4m3fn,
  f8e5m2,
  f8e4m3fnuz,
  f8e5m2fnuz,
  f8e8m0fnu,
  bits16
};

/// The abbreviation of the printed text: "f32", "b8".
std::string_view short_name(DType);
/// The Python name: "torch.float32".
std::string_view python_name(DType);
std::optional<DType> dtype_from_short_name(std::string_view);
std::optional<DType> dtype_from_python_name(std::string_view);
/// Bytes of one element; 0 for unknown.
std::size_t byte_size(DType);
bool is_floating(DType);
bool is_complex(DType);

struct TensorMeta {
  DType dtype = DType::unknown;
  std::vector<SymInt> sizes;
  /// Absent where the text does not tell; then a placeholder is contiguous and a result is what its op makes.
  std::optional<std::vector<SymInt>> strides;
  SymInt storage_offset = 0;
  std::string device;  ///< empty = not told, else "cpu", "cuda:0"
  bool operator==(const TensorMeta&) const = default;
};

/// A symbolic scalar: `Sym(s0 + 1)`, `Sym(s0 > 5)`.
struct SymScalarMeta {
  enum class Kind : std::uint8_t { integer, floating, boolean } kind = Kind::integer;
  std::string text;  ///< between the parentheses
  bool operator==(const SymScalarMeta&) const = default;
};

/// monostate: nothing is told (tuples, None, old text).
using ValueMeta = std::variant<std::monostate, TensorMeta, SymScalarMeta>;

inline const TensorMeta* tensor_meta(const ValueMeta& meta) { return std::get_if<TensorMeta>(&meta); }

}  // namespace writeback
