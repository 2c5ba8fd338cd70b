// Which op is which view: the arguments of a node, by position or name, are given to the arithmetic of view_geometry_ops.h. One row
// an op in the tables below. A `_copy` name and an in-place name stand for the plain one.
#include "ref/graph/view_geometry.h"

#include <algorithm>
#include <limits>
#include <span>
#include <string_view>
#include <unordered_map>

#include "ref/graph/view_geometry_ops.h"

namespace writeback {
namespace {

using geometry::Ints;
using geometry::Parts;
using geometry::View;
using Int = std::int64_t;
constexpr Int kEnd = std::numeric_limits<Int>::max();

/// The arguments of a view node. What is absent or None takes its default; what is not known makes the whole view unknown.
class Call {
 public:
  Call(const Program& program, NodeId n, IntegerOf integer_of, const void* context)
      : program_(program), node_(program.graph.node(n)), integer_of_(integer_of), context_(context) {}

  const Argument* argument(std::size_t position, std::string_view name) const { return argument_of(node_, position, name); }
  bool has(std::size_t position, std::string_view name) const {
    const Argument* a = argument(position, name);
    return a != nullptr && !is_none(*a);
  }

  std::optional<Int> integer(std::size_t position, std::string_view name, std::optional<Int> by_default = std::nullopt) const {
    return has(position, name) ? integer_in(*argument(position, name)) : by_default;
  }

  /// A list of integers; a bare integer is a list of one.
  std::optional<Ints> integers(std::size_t position, std::string_view name) const {
    if (!has(position, name)) return std::nullopt;
    const Argument& a = *argument(position, name);
    const ListArgument* list = as_list(a);
    Ints values;
    for (const Argument& item : list == nullptr ? std::span(&a, 1) : std::span(list->items)) {
      const std::optional<Int> value = integer_in(item);
      if (!value) return std::nullopt;
      values.push_back(*value);
    }
    return values;
  }

  bool is_list(std::size_t position, std::string_view name) const {
    return has(position, name) && as_list(*argument(position, name)) != nullptr;
  }
  bool is_true(std::size_t position, std::string_view name) const {
    const Argument* a = argument(position, name);
    const bool* value = a == nullptr ? nullptr : std::get_if<bool>(a);
    return value != nullptr && *value;
  }

  /// The sizes of a tensor argument, by its metadata.
  std::optional<Ints> sizes_of(const Argument& a) const {
    const ValueId* v = as_value(a);
    const TensorMeta* meta = v == nullptr ? nullptr : tensor_meta(program_.graph.meta_of(*v));
    if (meta == nullptr) return std::nullopt;
    Ints sizes;
    for (const SymInt& size : meta->sizes) {
      if (!size.is_number()) return std::nullopt;
      sizes.push_back(size.number());
    }
    return sizes;
  }
  std::optional<Ints> sizes_of(std::size_t position, std::string_view name) const {
    return has(position, name) ? sizes_of(*argument(position, name)) : std::nullopt;
  }
  std::optional<std::vector<Ints>> sizes_of_all(std::size_t position, std::string_view name) const {
    if (!is_list(position, name)) return std::nullopt;
    std::vector<Ints> all;
    for (const Argument& item : as_list(*argument(position, name))->items) {
      std::optional<Ints> sizes = sizes_of(item);
      if (!sizes) return std::nullopt;
      all.push_back(std::move(*sizes));
    }
    return all;
  }

  /// The dtype of the first argument and that of the result, where both are known to differ.
  bool changes_dtype() const {
    const ValueId* v = node_.args.empty() ? nullptr : as_value(node_.args[0]);
    const TensorMeta* before = v == nullptr ? nullptr : tensor_meta(program_.graph.meta_of(*v));
    const TensorMeta* after = tensor_meta(node_.meta);
    return before != nullptr && after != nullptr && before->dtype != DType::unknown && after->dtype != DType::unknown &&
           before->dtype != after->dtype;
  }

 private:
  std::optional<Int> integer_in(const Argument& a) const {
    if (const Int* i = as_int(a)) return *i;
    const ValueId* v = as_value(a);
    return v != nullptr && integer_of_ != nullptr ? integer_of_(context_, *v) : std::nullopt;
  }

  const Program& program_;
  const Node& node_;
  IntegerOf integer_of_;
  const void* context_;
};

/// f of the values where all are known.
template <typename F, typename... T>
auto with(F f, const std::optional<T>&... values) -> decltype(f(*values...)) {
  return (values.has_value() && ...) ? f(*values...) : std::nullopt;
}

using ViewOf = View (*)(const Call&, const Region&, Int element);
using PartsOf = std::optional<Parts> (*)(const Call&, const Region&);

/// The tensor itself: what ops return that may have nothing to do.
View itself(const Call&, const Region& r, Int) { return r; }
View itself_if_same_dtype(const Call& call, const Region& r, Int) { return call.changes_dtype() ? std::nullopt : View(r); }
View swapped(const Region& r) {
  if (r.sizes.empty()) return Region{r.offset, {}, {}};
  return r.sizes.size() == 1 ? std::nullopt : geometry::transpose(r, -2, -1);
}

View reversed(const Region& r) {
  Ints dims;
  for (std::size_t d = r.sizes.size(); d-- > 0;) dims.push_back(static_cast<Int>(d));
  return geometry::permute(r, dims);
}

View to(const Call& call, const Region& r, Int element) {
  // copy=True stands third in to.dtype and to.other, fourth in to.device.
  const bool copies = call.is_true(3, "copy") || call.is_true(4, "copy");
  return copies ? std::nullopt : itself_if_same_dtype(call, r, element);
}

/// contiguous() of a tensor that is not contiguous copies. Of other memory formats only the caller's metadata could tell.
View contiguous(const Call& call, const Region& r, Int) {
  const Argument* format = call.argument(1, "memory_format");
  const Symbol* symbol = format == nullptr ? nullptr : std::get_if<Symbol>(format);
  const bool plain = symbol == nullptr || symbol->text == "torch.contiguous_format";
  return plain && !geometry::is_contiguous(r) ? std::nullopt : View(r);
}

View at_least(std::size_t rank, const Region& r) {
  if (r.sizes.empty()) return geometry::view(r, Ints(rank, 1));
  View result = r;
  if (rank >= 2 && r.sizes.size() == 1) result = geometry::unsqueeze(*result, 0);
  if (rank >= 3 && r.sizes.size() <= 2) result = geometry::unsqueeze(*result, -1);
  return result;
}

View meshgrid(const Call& call, const Region& r, Int element) {
  auto all = call.sizes_of_all(0, "tensors");
  if (!all || element < 0 || static_cast<std::size_t>(element) >= all->size() || r.sizes.size() > 1) return std::nullopt;
  const Argument* indexing = call.argument(1, "indexing");
  const std::string* word = indexing == nullptr ? nullptr : std::get_if<std::string>(indexing);
  const bool swap = word != nullptr && *word == "xy" && all->size() >= 2;
  if (swap) std::swap((*all)[0], (*all)[1]);
  const Int at = swap && element < 2 ? 1 - element : element;
  Ints lines(all->size(), 1), sizes;
  for (const Ints& one : *all) sizes.push_back(one.empty() ? 1 : one[0]);
  lines[static_cast<std::size_t>(at)] = r.numel();
  const View line = geometry::view(r, lines);
  return line ? geometry::expand(*line, sizes) : std::nullopt;
}

View squeeze(const Call& c, const Region& r, Int) {
  return c.has(1, "dim") ? with([&](const Ints& dims) { return geometry::squeeze(r, dims); }, c.integers(1, "dim"))
                         : geometry::squeeze_all(r);
}

View slice(const Call& c, const Region& r, Int) {
  return with([&](Int dim, Int start, Int end, Int step) { return geometry::slice(r, dim, start, end, step); },
              c.integer(1, "dim", 0), c.integer(2, "start", 0), c.integer(3, "end", kEnd), c.integer(4, "step", 1));
}

View view(const Call& c, const Region& r, Int) {
  return with([&](const Ints& sizes) { return geometry::view(r, sizes); }, c.integers(1, c.has(1, "size") ? "size" : "shape"));
}

View permute(const Call& c, const Region& r, Int) {
  return with([&](const Ints& dims) { return geometry::permute(r, dims); },
              c.integers(1, c.has(1, "dims") ? "dims" : "permutation"));
}

View as_strided(const Call& c, const Region& r, Int) {
  return with([&](const Ints& sizes, const Ints& strides, Int offset) { return geometry::as_strided(r, sizes, strides, offset); },
              c.integers(1, "size"), c.integers(2, "stride"), c.integer(3, "storage_offset", r.offset));
}

View diagonal(const Call& c, const Region& r, Int dim1, Int dim2) {
  return with([&](Int offset, Int a, Int b) { return geometry::diagonal(r, offset, a, b); }, c.integer(1, "offset", 0),
              c.integer(2, "dim1", dim1), c.integer(3, "dim2", dim2));
}

View transpose(const Call& c, const Region& r, std::string_view first, std::string_view second) {
  return with([&](Int a, Int b) { return geometry::transpose(r, a, b); }, c.integer(1, first), c.integer(2, second));
}

/// Sums even a scalar that is asked to be one.
View sum_to_size(const Call& c, const Region& r, Int) {
  return with([&](const Ints& sizes) { return sizes == r.sizes && !sizes.empty() ? View(r) : std::nullopt; },
              c.integers(1, "size"));
}

View collapse(const Call& c, const Region& r, Int) {
  return with([&](Int start, Int end) { return geometry::flatten(r, start, end); }, c.integer(1, "start"), c.integer(2, "end"));
}

View split_dim(const Call& c, const Region& r, Int) {
  return with([&](Int dim, Int outer) { return geometry::unflatten(r, dim, {outer, -1}); }, c.integer(1, "dim"),
              c.integer(2, "outer_length"));
}

std::optional<Parts> split_along(const Call& c, const Region& r, std::size_t least_rank, Int dim) {
  if (r.sizes.size() < least_rank) return std::nullopt;
  if (c.is_list(1, "indices"))
    return with([&](const Ints& at) { return geometry::tensor_split_at(r, at, dim); }, c.integers(1, "indices"));
  return with(
      [&](Int sections) {
        const bool even = sections > 0 && r.sizes[static_cast<std::size_t>(dim)] % sections == 0;
        return even ? geometry::tensor_split(r, sections, dim) : std::nullopt;
      },
      c.integer(1, "sections"));
}

std::optional<Parts> split_sizes(const Call& c, const Region& r) {
  return with([&](const Ints& sizes, Int dim) { return geometry::split_with_sizes(r, sizes, dim); },
              c.integers(1, c.has(1, "split_sizes") ? "split_sizes" : "split_size"), c.integer(2, "dim", 0));
}

std::optional<Parts> split(const Call& c, const Region& r) {
  if (c.is_list(1, "split_size")) return split_sizes(c, r);
  return with([&](Int size, Int dim) { return geometry::split(r, size, dim); }, c.integer(1, "split_size"), c.integer(2, "dim", 0));
}

std::optional<Parts> chunk(const Call& c, const Region& r) {
  return with([&](Int chunks, Int dim) { return geometry::chunk(r, chunks, dim); }, c.integer(1, "chunks"), c.integer(2, "dim", 0));
}

std::optional<Parts> tensor_split(const Call& c, const Region& r) {
  const auto dim = c.integer(2, "dim", 0);
  if (c.is_list(1, "indices"))
    return with([&](const Ints& at, Int d) { return geometry::tensor_split_at(r, at, d); }, c.integers(1, "indices"), dim);
  return with([&](Int sections, Int d) { return geometry::tensor_split(r, sections, d); }, c.integer(1, "sections"), dim);
}

const std::unordered_map<std::string_view, ViewOf> kViews{
    {"view", view},
    {"reshape", view},
    {"_reshape", view},
    {"_unsafe_view", view},
    {"_reshape_alias", as_strided},
    {"view_as", [](const Call& c, const Region& r,
                   Int) { return with([&](const Ints& s) { return geometry::view(r, s); }, c.sizes_of(1, "other")); }},
    {"reshape_as", [](const Call& c, const Region& r,
                      Int) { return with([&](const Ints& s) { return geometry::view(r, s); }, c.sizes_of(1, "other")); }},
    {"flatten",
     [](const Call& c, const Region& r, Int) {
       return with([&](Int a, Int b) { return geometry::flatten(r, a, b); }, c.integer(1, "start_dim", 0),
                   c.integer(2, "end_dim", -1));
     }},
    {"unflatten",
     [](const Call& c, const Region& r, Int) {
       return with([&](Int d, const Ints& s) { return geometry::unflatten(r, d, s); }, c.integer(1, "dim"), c.integers(2, "sizes"));
     }},
    {"ravel",
     [](const Call&, const Region& r, Int) { return geometry::is_contiguous(r) ? geometry::view(r, {-1}) : std::nullopt; }},
    {"select",
     [](const Call& c, const Region& r, Int) {
       return with([&](Int d, Int i) { return geometry::select(r, d, i); }, c.integer(1, "dim"), c.integer(2, "index"));
     }},
    {"slice", slice},
    {"narrow",
     [](const Call& c, const Region& r, Int) {
       return with([&](Int d, Int s, Int n) { return geometry::narrow(r, d, s, n); }, c.integer(1, "dim"), c.integer(2, "start"),
                   c.integer(3, "length"));
     }},
    {"transpose", [](const Call& c, const Region& r, Int) { return transpose(c, r, "dim0", "dim1"); }},
    {"swapdims", [](const Call& c, const Region& r, Int) { return transpose(c, r, "dim0", "dim1"); }},
    {"swapaxes", [](const Call& c, const Region& r, Int) { return transpose(c, r, "axis0", "axis1"); }},
    {"permute", permute},
    {"t", [](const Call&, const Region& r, Int) { return r.sizes.size() > 2 ? std::nullopt : reversed(r); }},
    {"numpy_T", [](const Call&, const Region& r, Int) { return reversed(r); }},
    {"mT", [](const Call&, const Region& r, Int) { return swapped(r); }},
    {"mH", [](const Call&, const Region& r, Int) { return swapped(r); }},
    {"adjoint", [](const Call&, const Region& r, Int) { return swapped(r); }},
    {"matrix_H",
     [](const Call&, const Region& r, Int) { return r.sizes.empty() || r.sizes.size() == 2 ? swapped(r) : std::nullopt; }},
    {"movedim",
     [](const Call& c, const Region& r, Int) {
       return with([&](const Ints& s, const Ints& d) { return geometry::move_dims(r, s, d); }, c.integers(1, "source"),
                   c.integers(2, "destination"));
     }},
    {"moveaxis",
     [](const Call& c, const Region& r, Int) {
       return with([&](const Ints& s, const Ints& d) { return geometry::move_dims(r, s, d); }, c.integers(1, "source"),
                   c.integers(2, "destination"));
     }},
    {"expand", [](const Call& c, const Region& r,
                  Int) { return with([&](const Ints& s) { return geometry::expand(r, s); }, c.integers(1, "size")); }},
    {"expand_as", [](const Call& c, const Region& r,
                     Int) { return with([&](const Ints& s) { return geometry::expand(r, s); }, c.sizes_of(1, "other")); }},
    {"broadcast_to", [](const Call& c, const Region& r,
                        Int) { return with([&](const Ints& s) { return geometry::expand(r, s); }, c.integers(1, "size")); }},
    {"broadcast_tensors",
     [](const Call& c, const Region& r, Int) {
       const auto all = c.sizes_of_all(0, "tensors");
       return with([&](const Ints& s) { return geometry::expand(r, s); }, all ? geometry::broadcast(*all) : std::nullopt);
     }},
    {"meshgrid", meshgrid},
    {"unsqueeze", [](const Call& c, const Region& r,
                     Int) { return with([&](Int d) { return geometry::unsqueeze(r, d); }, c.integer(1, "dim")); }},
    {"squeeze", squeeze},
    {"as_strided", as_strided},
    {"diagonal", [](const Call& c, const Region& r, Int) { return diagonal(c, r, 0, 1); }},
    {"linalg_diagonal", [](const Call& c, const Region& r, Int) { return diagonal(c, r, -2, -1); }},
    {"unfold",
     [](const Call& c, const Region& r, Int) {
       return with([&](Int d, Int n, Int s) { return geometry::unfold(r, d, n, s); }, c.integer(1, "dimension"),
                   c.integer(2, "size"), c.integer(3, "step"));
     }},
    {"atleast_1d", [](const Call&, const Region& r, Int) { return at_least(1, r); }},
    {"atleast_2d", [](const Call&, const Region& r, Int) { return at_least(2, r); }},
    {"atleast_3d", [](const Call&, const Region& r, Int) { return at_least(3, r); }},
    {"sum_to_size", sum_to_size},
    {"contiguous", contiguous},
    {"to", to},
    {"type_as", itself_if_same_dtype},
    {"alias", itself},
    {"detach", itself},
    {"data", itself},
    {"lift", itself},
    {"lift_fresh", itself},
    {"positive", itself},
    {"conj", itself},
    {"_conj", itself},
    {"_neg_view", itself},
    {"_fw_primal", itself},
    {"resolve_conj", itself},
    {"resolve_neg", itself},
    {"conj_physical", itself},
    {"requires_grad", itself},
    {"pin_memory", itself},
    {"dropout", itself},
    {"feature_dropout", itself},
    {"alpha_dropout", itself},
    {"feature_alpha_dropout", itself},
};

const std::unordered_map<std::string_view, ViewOf> kPrimViews{
    {"as_strided", as_strided},
    {"transpose", permute},
    {"broadcast_in_dim",
     [](const Call& c, const Region& r, Int) {
       return with([&](const Ints& s, const Ints& d) { return geometry::broadcast_in_dim(r, s, d); }, c.integers(1, "shape"),
                   c.integers(2, "broadcast_dimensions"));
     }},
    {"squeeze", [](const Call& c, const Region& r,
                   Int) { return with([&](const Ints& d) { return geometry::squeeze(r, d); }, c.integers(1, "dimensions")); }},
    {"collapse_view", collapse},
    {"split_dim", split_dim},
    {"view_of", itself},
    {"conj", itself},
};

const std::unordered_map<std::string_view, PartsOf> kLists{
    {"split", split},
    {"unsafe_split", split},
    {"split_with_sizes", split_sizes},
    {"unsafe_split_with_sizes", split_sizes},
    {"chunk", chunk},
    {"unsafe_chunk", chunk},
    {"tensor_split", tensor_split},
    {"hsplit", [](const Call& c, const Region& r) { return split_along(c, r, 1, r.sizes.size() == 1 ? 0 : 1); }},
    {"vsplit", [](const Call& c, const Region& r) { return split_along(c, r, 2, 0); }},
    {"dsplit", [](const Call& c, const Region& r) { return split_along(c, r, 3, 2); }},
    {"unbind",
     [](const Call& c, const Region& r) { return with([&](Int d) { return geometry::unbind(r, d); }, c.integer(1, "dim", 0)); }},
};

/// "view_copy" and "view_" are "view".
std::string_view plain_name(std::string_view name) {
  if (name.ends_with("_copy")) return name.substr(0, name.size() - 5);
  if (name.ends_with("_")) return name.substr(0, name.size() - 1);
  return name;
}

template <typename Function>
Function find(const std::unordered_map<std::string_view, Function>& table, const Target& target) {
  // view.dtype reads the bytes as another type: no region of elements.
  const std::string_view name = plain_name(target.name);
  if (!target.is_op() || (name == "view" && target.overload.starts_with("dtype"))) return nullptr;
  const auto found = table.find(name);
  return found == table.end() ? nullptr : found->second;
}

}  // namespace

std::optional<Region> view_region(const Program& program, NodeId n, const Region& base, std::int64_t element, IntegerOf integer_of,
                                  const void* context) {
  const Target& target = program.target(n);
  const Call call(program, n, integer_of, context);
  const bool prim = target.ns == "prims";
  if (const ViewOf view_of = find(prim ? kPrimViews : kViews, target)) return view_of(call, base, element);
  const PartsOf parts_of = prim ? nullptr : find(kLists, target);
  const std::optional<Parts> parts = parts_of == nullptr ? std::nullopt : parts_of(call, base);
  return parts && element >= 0 && element < parts->count ? parts->part(element) : std::nullopt;
}

std::optional<std::int64_t> view_count(const Program& program, NodeId n, const Region& base, IntegerOf integer_of,
                                       const void* context) {
  const PartsOf parts_of = program.target(n).ns == "prims" ? nullptr : find(kLists, program.target(n));
  const std::optional<Parts> parts = parts_of == nullptr ? std::nullopt : parts_of(Call(program, n, integer_of, context), base);
  return parts ? std::optional(parts->count) : std::nullopt;
}

bool has_contiguous_strides(const TensorMeta& meta) {
  if (!meta.strides) return true;
  if (meta.strides->size() != meta.sizes.size()) return false;
  std::vector<SymInt> inner;
  for (std::size_t d = meta.sizes.size(); d-- > 0;) {
    const SymInt& size = meta.sizes[d];
    if (size == 1) continue;
    if (!is_product((*meta.strides)[d], inner)) return false;
    if (size != 0) inner.push_back(size);
  }
  return true;
}

}  // namespace writeback
