// Concrete kernels on integers, so that a run can be read and compared with PyTorch: about sixty common ops with PyTorch's integer
// semantics (wrap-around in the result's dtype, broadcasting, negative dimensions). Numbers of floating dtypes are integers here
// too, so that only ops without division and rounding are known; the rest stays uninterpreted.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "ref/graph/program.h"

namespace writeback::ref {

/// A tensor's elements in row-major order.
struct Elements {
  std::vector<std::int64_t> sizes;
  std::vector<std::int64_t> cells;
  DType dtype = DType::unknown;
};

/// How a kernel gets at the arguments of its node.
class KernelArguments {
 public:
  virtual ~KernelArguments() = default;
  /// The tensor that stands for this value; nullptr where it has none (a scalar).
  virtual const Elements* tensor(ValueId) const = 0;
  virtual std::optional<std::int64_t> scalar(ValueId) const = 0;
};

/// Is there a kernel for this op? In-place and out variants of an op count as the op.
bool has_kernel(const Target&);

/// What a node computes for element `element` of its result (of its written argument, where it is an in-place or out variant), in
/// dtype `result`. Elements other than 0 exist for `_foreach_` ops and for views that copy into a list. nullopt where there is no
/// kernel or where it does not cover these arguments (a scalar that is no integer, a size that is not known).
std::optional<Elements> run_kernel(const Program&, NodeId, const KernelArguments&, std::size_t element, DType result);

/// A number as this dtype holds it: wrapped around, 0 or 1 for booleans, unchanged for floating types.
std::int64_t wrap(std::int64_t, DType);

}  // namespace writeback::ref
