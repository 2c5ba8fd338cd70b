#include "ref/graph/view_geometry_ops.h"

#include <algorithm>
#include <limits>
#include <numeric>

namespace writeback::geometry {
namespace {

using Int = std::int64_t;
using Wide = __int128;
constexpr Int kMax = std::numeric_limits<Int>::max();
constexpr Int kMin = std::numeric_limits<Int>::min();

Int narrow_to_int(Wide x) { return static_cast<Int>(std::clamp(x, Wide{kMin}, Wide{kMax})); }
Int times(Int a, Int b) { return narrow_to_int(Wide{a} * b); }
Int plus(Int a, Int b) { return narrow_to_int(Wide{a} + b); }

std::size_t rank(const Region& r) { return r.sizes.size(); }

/// A dimension of `count`, counted from the end if negative. A scalar has one dimension to name.
std::optional<std::size_t> wrap(Int dim, std::size_t count) {
  const Int n = std::max<Int>(static_cast<Int>(count), 1);
  if (dim < -n || dim >= n) return std::nullopt;
  return static_cast<std::size_t>(dim < 0 ? dim + n : dim);
}

/// The same for a region that must have dimensions.
std::optional<std::size_t> dimension(const Region& r, Int dim) { return rank(r) == 0 ? std::nullopt : wrap(dim, rank(r)); }

void erase_dimension(Region& r, std::size_t d) {
  r.sizes.erase(r.sizes.begin() + static_cast<std::ptrdiff_t>(d));
  r.strides.erase(r.strides.begin() + static_cast<std::ptrdiff_t>(d));
}

void insert_dimension(Region& r, std::size_t d, Int size, Int stride) {
  r.sizes.insert(r.sizes.begin() + static_cast<std::ptrdiff_t>(d), size);
  r.strides.insert(r.strides.begin() + static_cast<std::ptrdiff_t>(d), stride);
}

bool any_negative(const Ints& values) {
  return std::any_of(values.begin(), values.end(), [](Int v) { return v < 0; });
}

Int product(const Ints& sizes) { return Region{0, sizes, sizes}.numel(); }

/// The sizes with their -1 replaced.
std::optional<Ints> infer_sizes(Ints sizes, Int numel) {
  const auto unknown = std::find(sizes.begin(), sizes.end(), -1);
  if (unknown != sizes.end()) {
    *unknown = 1;
    const Int others = any_negative(sizes) ? 0 : product(sizes);
    if (others == 0 || numel % others != 0) return std::nullopt;
    *unknown = numel / others;
  }
  if (any_negative(sizes) || product(sizes) != numel) return std::nullopt;
  return sizes;
}

/// Strides for new sizes over the same cells in the same order: runs of old dimensions that lie evenly are re-cut freely, and a new
/// dimension must not cross from one run into the next.
std::optional<Ints> restride(const Region& r, const Ints& sizes) {
  if (r.is_empty()) return r.sizes == sizes ? r.strides : contiguous_strides(sizes);
  Ints strides(sizes.size(), 1);
  if (rank(r) == 0) return strides;
  std::size_t to_cut = sizes.size();
  Int run_stride = r.strides.back(), run_cells = 1, cut_cells = 1;
  for (std::size_t d = rank(r); d-- > 0;) {
    run_cells = times(run_cells, r.sizes[d]);
    if (d > 0 && (r.sizes[d - 1] == 1 || r.strides[d - 1] == times(run_cells, run_stride))) continue;
    while (to_cut > 0 && (cut_cells < run_cells || sizes[to_cut - 1] == 1)) {
      --to_cut;
      strides[to_cut] = times(cut_cells, run_stride);
      cut_cells = times(cut_cells, sizes[to_cut]);
    }
    if (cut_cells != run_cells) return std::nullopt;
    if (d > 0) run_stride = r.strides[d - 1];
    run_cells = cut_cells = 1;
  }
  return to_cut == 0 ? std::optional(strides) : std::nullopt;
}

/// Parts [start(i), start(i) + length(i)) of one dimension.
template <typename Interval>
Parts intervals(const Region& r, std::size_t dim, Int count, const Interval& interval) {
  return {count, [r, dim, interval](Int i) {
            const auto [start, length] = interval(i);
            return slice(r, static_cast<Int>(dim), start, plus(start, length), 1);
          }};
}

}  // namespace

bool is_contiguous(const Region& r) { return r.is_empty() || same_region(r, Region::contiguous(r.sizes, r.offset)); }

View view(const Region& r, const Ints& sizes) {
  const std::optional<Ints> known = infer_sizes(sizes, r.numel());
  if (!known) return std::nullopt;
  std::optional<Ints> strides = restride(r, *known);
  if (!strides) return std::nullopt;
  return Region{r.offset, *known, std::move(*strides)};
}

View as_strided(const Region&, const Ints& sizes, const Ints& strides, Int offset) {
  if (sizes.size() != strides.size() || offset < 0 || any_negative(sizes) || any_negative(strides)) return std::nullopt;
  return Region{offset, sizes, strides};
}

View select(const Region& r, Int dim, Int index) {
  const auto d = dimension(r, dim);
  if (!d || index < -r.sizes[*d] || index >= r.sizes[*d]) return std::nullopt;
  Region result = r;
  result.offset = plus(r.offset, times(index < 0 ? index + r.sizes[*d] : index, r.strides[*d]));
  erase_dimension(result, *d);
  return result;
}

View slice(const Region& r, Int dim, Int start, Int end, Int step) {
  const auto d = dimension(r, dim);
  if (!d || step <= 0) return std::nullopt;
  const Int size = r.sizes[*d];
  start = std::clamp<Int>(start < 0 ? start + size : start, 0, size);
  end = std::clamp(end < 0 ? end + size : end, start, size);
  Region result = r;
  result.offset = plus(r.offset, times(start, r.strides[*d]));
  result.sizes[*d] = end == start ? 0 : (end - start - 1) / step + 1;
  result.strides[*d] = times(r.strides[*d], step);
  return result;
}

View narrow(const Region& r, Int dim, Int start, Int length) {
  const auto d = dimension(r, dim);
  if (!d || length < 0 || start < -r.sizes[*d] || start > r.sizes[*d]) return std::nullopt;
  if (start < 0) start += r.sizes[*d];
  if (start > r.sizes[*d] - length) return std::nullopt;
  return slice(r, dim, start, start + length, 1);
}

View permute(const Region& r, const Ints& dims) {
  if (dims.size() != rank(r)) return std::nullopt;
  Region result{r.offset, {}, {}};
  std::vector<bool> seen(rank(r), false);
  for (const Int dim : dims) {
    const auto d = dimension(r, dim);
    if (!d || seen[*d]) return std::nullopt;
    seen[*d] = true;
    insert_dimension(result, rank(result), r.sizes[*d], r.strides[*d]);
  }
  return result;
}

View transpose(const Region& r, Int dim0, Int dim1) {
  const auto a = wrap(dim0, rank(r)), b = wrap(dim1, rank(r));
  if (!a || !b) return std::nullopt;
  if (rank(r) == 0) return r;
  Region result = r;
  std::swap(result.sizes[*a], result.sizes[*b]);
  std::swap(result.strides[*a], result.strides[*b]);
  return result;
}

View move_dims(const Region& r, const Ints& source, const Ints& destination) {
  if (source.size() != destination.size()) return std::nullopt;
  Ints order(std::max<std::size_t>(rank(r), 1), -1);
  std::vector<bool> moved(order.size(), false);
  for (std::size_t i = 0; i < source.size(); ++i) {
    const auto from = wrap(source[i], rank(r)), to = wrap(destination[i], rank(r));
    if (!from || !to || moved[*from] || order[*to] != -1) return std::nullopt;
    moved[*from] = true;
    order[*to] = static_cast<Int>(*from);
  }
  if (rank(r) == 0) return r;
  std::size_t next = 0;
  for (Int& place : order) {
    if (place != -1) continue;
    while (moved[next]) ++next;
    place = static_cast<Int>(next++);
  }
  return permute(r, order);
}

View expand(const Region& r, const Ints& sizes) {
  if (sizes.size() < rank(r)) return std::nullopt;
  if (rank(r) == 0) return any_negative(sizes) ? std::nullopt : View(Region{r.offset, sizes, Ints(sizes.size(), 0)});
  const std::size_t added = sizes.size() - rank(r);
  Region result{r.offset, sizes, Ints(sizes.size(), 0)};
  for (std::size_t i = sizes.size(); i-- > 0;) {
    const bool old = i >= added;
    const Int size = old ? r.sizes[i - added] : 1;
    if (sizes[i] < 0 && (sizes[i] != -1 || !old)) return std::nullopt;
    if (sizes[i] == -1) result.sizes[i] = size;
    if (result.sizes[i] != size && size != 1) return std::nullopt;
    if (result.sizes[i] != size) continue;
    result.strides[i] = old ? r.strides[i - added] : i + 1 == sizes.size() ? 1 : times(result.sizes[i + 1], result.strides[i + 1]);
  }
  return result;
}

View broadcast_in_dim(const Region& r, const Ints& sizes, const Ints& dims) {
  if (dims.size() != rank(r) || any_negative(sizes)) return std::nullopt;
  Region result{r.offset, sizes, Ints(sizes.size(), 0)};
  Int last = -1;
  for (std::size_t i = 0; i < dims.size(); ++i) {
    if (dims[i] <= last || dims[i] >= static_cast<Int>(sizes.size())) return std::nullopt;
    last = dims[i];
    const auto to = static_cast<std::size_t>(dims[i]);
    if (r.sizes[i] != sizes[to] && r.sizes[i] != 1) return std::nullopt;
    if (r.sizes[i] == sizes[to]) result.strides[to] = r.strides[i];
  }
  return result;
}

View unsqueeze(const Region& r, Int dim) {
  const auto d = wrap(dim, rank(r) + 1);
  if (!d) return std::nullopt;
  Region result = r;
  insert_dimension(result, *d, 1, *d == rank(r) ? 1 : times(r.sizes[*d], r.strides[*d]));
  return result;
}

View squeeze_all(const Region& r) {
  Region result{r.offset, {}, {}};
  for (std::size_t d = 0; d < rank(r); ++d) {
    if (r.sizes[d] != 1) insert_dimension(result, rank(result), r.sizes[d], r.strides[d]);
  }
  return result;
}

View squeeze(const Region& r, const Ints& dims) {
  std::vector<bool> named(std::max<std::size_t>(rank(r), 1), false);
  for (const Int dim : dims) {
    const auto d = wrap(dim, rank(r));
    if (!d) return std::nullopt;
    named[*d] = true;
  }
  Region result{r.offset, {}, {}};
  for (std::size_t d = 0; d < rank(r); ++d) {
    if (!named[d] || r.sizes[d] != 1) insert_dimension(result, rank(result), r.sizes[d], r.strides[d]);
  }
  return result;
}

View diagonal(const Region& r, Int offset, Int dim1, Int dim2) {
  const auto a = dimension(r, dim1), b = dimension(r, dim2);
  if (!a || !b || *a == *b) return std::nullopt;
  const Int rows = offset < 0 ? plus(r.sizes[*a], offset) : r.sizes[*a];
  const Int columns = offset < 0 ? r.sizes[*b] : narrow_to_int(Wide{r.sizes[*b]} - offset);
  const Int length = std::max<Int>(std::min(rows, columns), 0);
  Region result = r;
  if (length > 0)
    result.offset = plus(r.offset, offset < 0 ? times(times(offset, -1), r.strides[*a]) : times(offset, r.strides[*b]));
  erase_dimension(result, std::max(*a, *b));
  erase_dimension(result, std::min(*a, *b));
  insert_dimension(result, rank(result), length, plus(r.strides[*a], r.strides[*b]));
  return result;
}

View unfold(const Region& r, Int dim, Int size, Int step) {
  const auto d = wrap(dim, rank(r));
  if (!d || size < 0 || step <= 0) return std::nullopt;
  if (size > (rank(r) == 0 ? 1 : r.sizes[*d])) return std::nullopt;
  Region result = r;
  if (rank(r) > 0) {
    result.sizes[*d] = (r.sizes[*d] - size) / step + 1;
    result.strides[*d] = times(step, r.strides[*d]);
  }
  insert_dimension(result, rank(r), size, rank(r) == 0 ? 1 : r.strides[*d]);
  return result;
}

View flatten(const Region& r, Int start_dim, Int end_dim) {
  const auto a = wrap(start_dim, rank(r)), b = wrap(end_dim, rank(r));
  if (!a || !b || *a > *b) return std::nullopt;
  if (rank(r) == 0) return view(r, {1});
  if (*a == *b) return r;
  const auto at = [&](std::size_t i) { return r.sizes.begin() + static_cast<std::ptrdiff_t>(i); };
  Ints sizes(r.sizes.begin(), at(*a));
  sizes.push_back(product(Ints(at(*a), at(*b + 1))));
  sizes.insert(sizes.end(), at(*b + 1), r.sizes.end());
  return view(r, sizes);
}

View unflatten(const Region& r, Int dim, const Ints& sizes) {
  const auto d = dimension(r, dim);
  if (!d || sizes.empty()) return std::nullopt;
  const std::optional<Ints> known = infer_sizes(sizes, r.sizes[*d]);
  if (!known) return std::nullopt;
  Ints all = r.sizes;
  all.erase(all.begin() + static_cast<std::ptrdiff_t>(*d));
  all.insert(all.begin() + static_cast<std::ptrdiff_t>(*d), known->begin(), known->end());
  return view(r, all);
}

std::optional<Parts> split(const Region& r, Int size, Int dim) {
  const auto d = dimension(r, dim);
  if (!d || size < 0 || (size == 0 && r.sizes[*d] != 0)) return std::nullopt;
  const Int n = r.sizes[*d];
  const Int count = n == 0 ? 1 : (n - 1) / size + 1;
  return intervals(r, *d, count, [size, n](Int i) { return std::pair(i * size, std::min(size, n - i * size)); });
}

std::optional<Parts> split_with_sizes(const Region& r, const Ints& sizes, Int dim) {
  const auto d = dimension(r, dim);
  if (!d || any_negative(sizes)) return std::nullopt;
  Ints starts{0};
  for (const Int size : sizes) starts.push_back(plus(starts.back(), size));
  if (starts.back() != r.sizes[*d]) return std::nullopt;
  return intervals(r, *d, static_cast<Int>(sizes.size()), [starts](Int i) {
    const Int start = starts[static_cast<std::size_t>(i)];
    return std::pair(start, starts[static_cast<std::size_t>(i) + 1] - start);
  });
}

std::optional<Parts> chunk(const Region& r, Int chunks, Int dim) {
  const auto d = dimension(r, dim);
  if (!d || chunks <= 0) return std::nullopt;
  const Int n = r.sizes[*d];
  if (n == 0) return intervals(r, *d, chunks, [](Int) { return std::pair<Int, Int>(0, 0); });
  return split(r, (n - 1) / chunks + 1, dim);
}

std::optional<Parts> tensor_split(const Region& r, Int sections, Int dim) {
  const auto d = dimension(r, dim);
  if (!d || sections <= 0) return std::nullopt;
  const Int size = r.sizes[*d] / sections, longer = r.sizes[*d] % sections;
  return intervals(r, *d, sections,
                   [size, longer](Int i) { return std::pair(i * size + std::min(i, longer), size + (i < longer ? 1 : 0)); });
}

std::optional<Parts> tensor_split_at(const Region& r, const Ints& indices, Int dim) {
  const auto d = dimension(r, dim);
  if (!d) return std::nullopt;
  return Parts{static_cast<Int>(indices.size()) + 1, [r, indices, d = static_cast<Int>(*d)](Int i) {
                 const auto at = static_cast<std::size_t>(i);
                 return slice(r, d, i == 0 ? 0 : indices[at - 1], at == indices.size() ? kMax : indices[at], 1);
               }};
}

std::optional<Parts> unbind(const Region& r, Int dim) {
  const auto d = dimension(r, dim);
  if (!d) return std::nullopt;
  return Parts{r.sizes[*d], [r, d = static_cast<Int>(*d)](Int i) { return select(r, d, i); }};
}

std::optional<Ints> broadcast(const std::vector<Ints>& sizes) {
  Ints result;
  for (const Ints& one : sizes) {
    if (one.size() > result.size()) result.insert(result.begin(), one.size() - result.size(), 1);
    const std::size_t added = result.size() - one.size();
    for (std::size_t i = 0; i < one.size(); ++i) {
      Int& size = result[added + i];
      if (size != one[i] && size != 1 && one[i] != 1) return std::nullopt;
      if (size == 1) size = one[i];
    }
  }
  return result;
}

}  // namespace writeback::geometry
