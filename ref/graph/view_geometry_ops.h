// The view ops as arithmetic on regions, each as PyTorch computes it. Dimensions may be negative and count from the end; nullopt
// where PyTorch raises, or where the view does not exist. Sums and products saturate: sizes come from files.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "ref/graph/region.h"

namespace writeback::geometry {

using Ints = std::vector<std::int64_t>;
using View = std::optional<Region>;

bool is_contiguous(const Region&);

/// `sizes` may hold one -1. Exists only where the strides of each part that is merged fit.
View view(const Region&, const Ints& sizes);
View as_strided(const Region&, const Ints& sizes, const Ints& strides, std::int64_t offset);
View select(const Region&, std::int64_t dim, std::int64_t index);
View slice(const Region&, std::int64_t dim, std::int64_t start, std::int64_t end, std::int64_t step);
View narrow(const Region&, std::int64_t dim, std::int64_t start, std::int64_t length);
View permute(const Region&, const Ints& dims);
View transpose(const Region&, std::int64_t dim0, std::int64_t dim1);
View move_dims(const Region&, const Ints& source, const Ints& destination);
View expand(const Region&, const Ints& sizes);
/// prims::broadcast_in_dim: dimension i of the base becomes dimension dims[i] of `sizes`.
View broadcast_in_dim(const Region&, const Ints& sizes, const Ints& dims);
View unsqueeze(const Region&, std::int64_t dim);
View squeeze_all(const Region&);
View squeeze(const Region&, const Ints& dims);
View diagonal(const Region&, std::int64_t offset, std::int64_t dim1, std::int64_t dim2);
View unfold(const Region&, std::int64_t dim, std::int64_t size, std::int64_t step);
View flatten(const Region&, std::int64_t start_dim, std::int64_t end_dim);
View unflatten(const Region&, std::int64_t dim, const Ints& sizes);

/// The parts of a split, without a list of them: there may be very many.
struct Parts {
  std::int64_t count = 0;
  std::function<View(std::int64_t)> part;  ///< of 0 <= i < count
};

std::optional<Parts> split(const Region&, std::int64_t size, std::int64_t dim);
std::optional<Parts> split_with_sizes(const Region&, const Ints& sizes, std::int64_t dim);
std::optional<Parts> chunk(const Region&, std::int64_t chunks, std::int64_t dim);
std::optional<Parts> tensor_split(const Region&, std::int64_t sections, std::int64_t dim);
std::optional<Parts> tensor_split_at(const Region&, const Ints& indices, std::int64_t dim);
std::optional<Parts> unbind(const Region&, std::int64_t dim);

/// The sizes that all broadcast to; nullopt where they do not fit.
std::optional<Ints> broadcast(const std::vector<Ints>& sizes);

}  // namespace writeback::geometry
