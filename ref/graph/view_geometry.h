// The geometry of view ops: from the region of the base and the node's arguments to the region of the result, as PyTorch computes
// it. One op at a time; used by the reference and the implementation alike, and compared with real tensors by the bridge.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "ref/graph/program.h"
#include "ref/graph/region.h"

namespace writeback {

/// The values of integer arguments: where an argument is a ValueId (a symbolic size), `integer_of` gives its value or nullopt.
using IntegerOf = std::optional<std::int64_t> (*)(const void* context, ValueId);

/// The region of result `element` (0 but for list results such as split's) of a view node over `base`, or nullopt where the op
/// is not known as a view, an argument is not known, or the view does not exist (view of an incompatible stride).
/// Handles every view op of ATen under its plain, `_copy` and in-place metadata name: view, reshape, select, slice, transpose,
/// permute, t, expand, unsqueeze, squeeze, as_strided, diagonal, unfold, split, chunk, unbind, narrow, alias, detach, flatten,
/// movedim, ... For `_copy` names it is the geometry that the alias would have.
std::optional<Region> view_region(const Program&, NodeId, const Region& base, std::int64_t element, IntegerOf integer_of = nullptr,
                                  const void* context = nullptr);

/// How many elements a list-returning view (split, chunk, unbind, ...) has; nullopt as above.
std::optional<std::int64_t> view_count(const Program&, NodeId, const Region& base, IntegerOf integer_of = nullptr,
                                       const void* context = nullptr);

/// The strides are certainly those of a contiguous tensor of these sizes (of dimensions of size 1 they do not count), or not told.
bool has_contiguous_strides(const TensorMeta&);

}  // namespace writeback
