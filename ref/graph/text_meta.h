// The type annotations of PyTorch's text: `f32[1, s0]`, with strides and device `f32[4, 8][8, 1]cuda:0`, `Sym(s0 + 1)`.
#pragma once

#include <string>
#include <string_view>

#include "ref/graph/tensor_meta.h"

namespace writeback::text {

/// Reads an annotation without its quotes; monostate where it is none of ours (a Python type, say).
ValueMeta read_meta(std::string_view annotation);

enum class Strides : bool { omitted, printed };

/// Appends the annotation without quotes, with strides where asked and known; nothing for monostate.
void print_meta(std::string& out, const ValueMeta& meta, Strides strides = Strides::omitted);

/// True unless the strides are known to differ from those of a contiguous tensor (dimensions of size 1 do not count).
bool may_be_contiguous(const TensorMeta& meta);

}  // namespace writeback::text
