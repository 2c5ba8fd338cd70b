#include "ref/kernels.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <functional>
#include <numeric>
#include <string>
#include <unordered_map>

#include "ref/graph/schema.h"
#include "ref/graph/view_geometry.h"
#include "ref/memory.h"

namespace writeback::ref {
namespace {

using Sizes64 = std::vector<std::int64_t>;
using Result = std::optional<Elements>;

constexpr std::int64_t kMostElements = 1 << 24;

std::int64_t count_of(const Sizes64& sizes) {
  std::int64_t n = 1;
  for (const std::int64_t s : sizes) n = s <= 0 ? 0 : (n > kMostElements / s ? kMostElements : n * s);
  return n;
}

// Arithmetic that wraps at 64 bits, as PyTorch's does.
std::int64_t plus(std::int64_t a, std::int64_t b) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b));
}
std::int64_t minus(std::int64_t a, std::int64_t b) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) - static_cast<std::uint64_t>(b));
}
std::int64_t times(std::int64_t a, std::int64_t b) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) * static_cast<std::uint64_t>(b));
}

Elements filled(Sizes64 sizes, std::int64_t value) {
  const auto n = static_cast<std::size_t>(count_of(sizes));
  return {std::move(sizes), std::vector<std::int64_t>(n, value), DType::unknown};
}

std::optional<Sizes64> broadcast_sizes(const Sizes64& a, const Sizes64& b) {
  Sizes64 result(std::max(a.size(), b.size()), 1);
  for (const Sizes64* s : {&a, &b}) {
    for (std::size_t d = 0; d < s->size(); ++d) {
      std::int64_t& r = result[result.size() - s->size() + d];
      const std::int64_t x = (*s)[d];
      if (r == 1)
        r = x;
      else if (x != 1 && x != r)
        return std::nullopt;
    }
  }
  return result;
}

/// The elements broadcast to larger sizes.
std::optional<Elements> expand(const Elements& e, const Sizes64& sizes) {
  if (e.sizes == sizes) return e;
  if (e.sizes.size() > sizes.size()) return std::nullopt;
  Region r{0, sizes, Sizes64(sizes.size(), 0)};
  const Sizes64 strides = contiguous_strides(e.sizes);
  for (std::size_t d = 0; d < e.sizes.size(); ++d) {
    const std::size_t at = sizes.size() - e.sizes.size() + d;
    if (e.sizes[d] == sizes[at])
      r.strides[at] = strides[d];
    else if (e.sizes[d] != 1)
      return std::nullopt;
  }
  Elements result{sizes, {}, e.dtype};
  for (const std::uint32_t i : list_cells(r)) result.cells.push_back(e.cells[i]);
  return result;
}

/// A node's arguments by the names of its schema.
class Call {
 public:
  Call(const Program& program, NodeId node, const KernelArguments& values, std::size_t element, bool elementwise)
      : program_(program), node_(node), values_(values), element_(element), elementwise_(elementwise) {
    const Node& n = program.graph.node(node);
    const Schema* schema = SchemaTable::builtin().find(program.target(n));
    for (std::size_t i = 0; i < n.args.size() && schema != nullptr && i < schema->arguments.size(); ++i) {
      arguments_[schema->arguments[i].name] = &n.args[i];
    }
    for (const KeywordArgument& k : n.kwargs) arguments_[k.name] = &k.value;
  }

  const Program& program() const { return program_; }
  NodeId node() const { return node_; }
  std::size_t element() const { return element_; }

  const Argument* get(const std::string& name) const {
    const auto found = arguments_.find(name);
    if (found == arguments_.end()) return nullptr;
    const ListArgument* list = elementwise_ ? as_list(*found->second) : nullptr;
    if (list != nullptr) return element_ < list->items.size() ? &list->items[element_] : nullptr;
    return found->second;
  }

  std::optional<Elements> tensor(const std::string& name) const {
    const Argument* a = get(name);
    if (a == nullptr) return std::nullopt;
    if (const ValueId* v = as_value(*a)) {
      if (const Elements* e = values_.tensor(*v)) return *e;
    }
    const auto n = number(*a);  // a number where a tensor may stand is a tensor without dimensions
    return n ? std::optional(filled({}, *n)) : std::nullopt;
  }

  std::vector<Elements> tensors(const std::string& name) const {
    std::vector<Elements> result;
    const Argument* a = get(name);
    const ListArgument* list = a == nullptr ? nullptr : as_list(*a);
    for (std::size_t i = 0; list != nullptr && i < list->items.size(); ++i) {
      const ValueId* v = as_value(list->items[i]);
      const Elements* e = v == nullptr ? nullptr : values_.tensor(*v);
      if (e != nullptr) result.push_back(*e);
    }
    return result;
  }

  /// An integer argument; nullopt where it is there and no integer.
  std::optional<std::int64_t> integer(const std::string& name, std::int64_t otherwise) const {
    const Argument* a = get(name);
    return a == nullptr || is_none(*a) ? otherwise : number(*a);
  }

  std::optional<Sizes64> integers(const std::string& name) const {
    const Argument* a = get(name);
    if (a == nullptr || is_none(*a)) return Sizes64{};
    const ListArgument* list = as_list(*a);
    if (list == nullptr) {
      const auto n = number(*a);
      return n ? std::optional(Sizes64{*n}) : std::nullopt;
    }
    Sizes64 result;
    for (const Argument& item : list->items) {
      const auto n = number(item);
      if (!n) return std::nullopt;
      result.push_back(*n);
    }
    return result;
  }

  std::optional<Sizes64> sizes(const std::string& name) const {
    auto list = integers(name);
    if (!list || std::ranges::any_of(*list, [](std::int64_t n) { return n < 0; }) || count_of(*list) >= kMostElements)
      return std::nullopt;
    return list;
  }

 private:
  std::optional<std::int64_t> number(const Argument& a) const {
    if (const std::int64_t* i = as_int(a)) return *i;
    if (const bool* b = std::get_if<bool>(&a)) return *b ? 1 : 0;
    if (const double* d = std::get_if<double>(&a)) {
      if (std::nearbyint(*d) == *d && std::abs(*d) < 1e15) return static_cast<std::int64_t>(*d);
    }
    if (const ValueId* v = as_value(a)) return values_.scalar(*v);
    return std::nullopt;
  }

  const Program& program_;
  NodeId node_;
  const KernelArguments& values_;
  std::size_t element_;
  bool elementwise_;  ///< list arguments stand for their element `element_`
  std::unordered_map<std::string, const Argument*> arguments_;
};

std::optional<std::size_t> dimension(std::int64_t d, std::size_t rank) {
  if (d < 0) d += static_cast<std::int64_t>(std::max<std::size_t>(rank, 1));
  if (d < 0 || d >= static_cast<std::int64_t>(std::max<std::size_t>(rank, 1))) return std::nullopt;
  return static_cast<std::size_t>(d);
}

template <typename F>
Result map(const std::optional<Elements>& a, F f) {
  if (!a) return std::nullopt;
  Elements r = *a;
  for (std::int64_t& x : r.cells) x = f(x);
  return r;
}

int category(DType t) { return t == DType::b8 ? 0 : is_floating(t) ? 2 : 1; }

/// Type promotion as far as it changes integers: a tensor without dimensions does not widen one of its category that has some.
void demote(Elements& a, const Elements& b) {
  const bool narrows = a.sizes.empty() && !b.sizes.empty() && b.dtype != DType::unknown && category(a.dtype) <= category(b.dtype);
  if (!narrows || category(b.dtype) == 0) return;
  for (std::int64_t& cell : a.cells) cell = wrap(cell, b.dtype);
}

/// The dtype that two operands are computed in, whatever the dtype of the result: of the higher category, and there of the tensor
/// that has dimensions, else the wider one. Numbers have no dtype of their own.
DType promoted(const Elements& a, const Elements& b) {
  if (a.dtype == DType::unknown || b.dtype == DType::unknown) {
    const DType known = a.dtype == DType::unknown ? b.dtype : a.dtype;
    return category(known) == 0 ? DType::i64 : known;
  }
  if (category(a.dtype) != category(b.dtype)) return category(a.dtype) > category(b.dtype) ? a.dtype : b.dtype;
  if (a.sizes.empty() != b.sizes.empty()) return a.sizes.empty() ? b.dtype : a.dtype;
  if ((a.dtype == DType::u8 && b.dtype == DType::i8) || (a.dtype == DType::i8 && b.dtype == DType::u8)) return DType::i16;
  return byte_size(a.dtype) >= byte_size(b.dtype) ? a.dtype : b.dtype;
}

template <typename F>
Result zip(std::optional<Elements> a, std::optional<Elements> b, F f) {
  if (!a || !b) return std::nullopt;
  const DType common = promoted(*a, *b);
  demote(*a, *b);
  demote(*b, *a);
  const auto sizes = broadcast_sizes(a->sizes, b->sizes);
  if (!sizes) return std::nullopt;
  Result r = expand(*a, *sizes);
  const Result other = expand(*b, *sizes);
  for (std::size_t i = 0; i < r->cells.size(); ++i) r->cells[i] = wrap(f(r->cells[i], other->cells[i]), common);
  return r;
}

template <typename F>
std::function<Result(const Call&)> binary(F f) {
  return [f](const Call& c) { return zip(c.tensor("self"), c.tensor("other"), f); };
}
template <typename F>
std::function<Result(const Call&)> unary(F f) {
  return [f](const Call& c) { return map(c.tensor("self"), f); };
}
template <typename F>
std::function<Result(const Call&)> with_alpha(F f) {
  return [f](const Call& c) -> Result {
    const auto alpha = c.integer("alpha", 1);
    if (!alpha) return std::nullopt;
    auto other = c.get("other") != nullptr ? c.tensor("other") : c.tensor("scalar");
    return zip(c.tensor("self"), other, [&](std::int64_t a, std::int64_t b) { return f(a, b, *alpha); });
  };
}

/// `self` seen as [outer, length of dim, inner].
struct Split {
  std::int64_t outer = 1, length = 1, inner = 1;
  Split(const Sizes64& sizes, std::size_t dim) {
    for (std::size_t d = 0; d < sizes.size(); ++d) (d < dim ? outer : d == dim ? length : inner) *= sizes[d];
  }
  std::size_t at(std::int64_t o, std::int64_t l, std::int64_t i) const {
    return static_cast<std::size_t>((o * length + l) * inner + i);
  }
};

Result cat(const std::vector<Elements>& given, std::int64_t dim) {
  std::vector<Elements> parts;
  for (const Elements& e : given) {
    if (e.sizes != Sizes64{0}) parts.push_back(e);  // an empty vector is skipped, whatever the others look like
  }
  if (parts.empty()) return given.empty() ? std::nullopt : Result(given[0]);
  const auto d = dimension(dim, parts[0].sizes.size());
  if (!d || parts[0].sizes.empty()) return std::nullopt;
  Elements r{parts[0].sizes, {}, DType::unknown};
  r.sizes[*d] = 0;
  for (const Elements& e : parts) {
    if (e.sizes.size() != r.sizes.size()) return std::nullopt;
    r.sizes[*d] += e.sizes[*d];
  }
  const std::int64_t outer = Split(r.sizes, *d).outer;
  for (std::int64_t o = 0; o < outer; ++o) {
    for (const Elements& e : parts) {
      const std::int64_t run = outer == 0 ? 0 : static_cast<std::int64_t>(e.cells.size()) / outer;
      r.cells.insert(r.cells.end(), e.cells.begin() + o * run, e.cells.begin() + (o + 1) * run);
    }
  }
  return r;
}

Result run_cat(const Call& c) {
  const auto dim = c.integer("dim", 0);
  return dim ? cat(c.tensors("tensors"), *dim) : std::nullopt;
}

Result run_stack(const Call& c) {
  std::vector<Elements> parts = c.tensors("tensors");
  const auto given = c.integer("dim", 0);
  if (!given || parts.empty()) return std::nullopt;
  const auto d = dimension(*given, parts[0].sizes.size() + 1);
  if (!d) return std::nullopt;
  for (Elements& e : parts) e.sizes.insert(e.sizes.begin() + static_cast<std::ptrdiff_t>(std::min(*d, e.sizes.size())), 1);
  return cat(parts, static_cast<std::int64_t>(*d));
}

Result run_where(const Call& c) {
  const auto condition = c.tensor("condition"), a = c.tensor("self"), b = c.tensor("other");
  if (!condition || !a || !b) return std::nullopt;
  const auto two = broadcast_sizes(a->sizes, b->sizes);
  const auto all = two ? broadcast_sizes(*two, condition->sizes) : std::nullopt;
  if (!all) return std::nullopt;
  Result r = expand(*a, *all);
  const Result other = expand(*b, *all), choose = expand(*condition, *all);
  for (std::size_t i = 0; i < r->cells.size(); ++i) r->cells[i] = choose->cells[i] ? r->cells[i] : other->cells[i];
  return r;
}

Result run_masked_fill(const Call& c) {
  const auto self = c.tensor("self"), mask = c.tensor("mask"), value = c.tensor("value");
  if (!self || !mask || !value) return std::nullopt;
  const auto sizes = broadcast_sizes(self->sizes, mask->sizes);
  if (!sizes) return std::nullopt;
  Result r = expand(*self, *sizes);
  const Result choose = expand(*mask, *sizes);
  for (std::size_t i = 0; i < r->cells.size(); ++i) r->cells[i] = choose->cells[i] ? value->cells[0] : r->cells[i];
  return r;
}

Result run_sum(const Call& c) {
  const auto self = c.tensor("self");
  const auto dims = c.integers("dim");
  const auto keep = c.integer("keepdim", 0);
  if (!self || !dims || !keep) return std::nullopt;
  std::vector<bool> gone(self->sizes.size(), dims->empty());
  for (const std::int64_t given : *dims) {
    const auto d = dimension(given, self->sizes.size());
    if (!d) return std::nullopt;
    if (*d < gone.size()) gone[*d] = true;
  }
  Elements r;
  Region to{0, self->sizes, Sizes64(self->sizes.size(), 0)};
  std::int64_t stride = 1;
  for (std::size_t d = self->sizes.size(); d-- > 0;) {
    if (!gone[d]) to.strides[d] = stride, stride *= self->sizes[d];
  }
  for (std::size_t d = 0; d < gone.size(); ++d) {
    if (!gone[d])
      r.sizes.push_back(self->sizes[d]);
    else if (*keep)
      r.sizes.push_back(1);
  }
  r.cells.assign(static_cast<std::size_t>(count_of(r.sizes)), 0);
  const std::vector<std::uint32_t> cells = list_cells(to);
  for (std::size_t i = 0; i < cells.size(); ++i) r.cells[cells[i]] = plus(r.cells[cells[i]], self->cells[i]);
  return r;
}

Result run_cumsum(const Call& c) {
  Result r = c.tensor("self");
  const auto given = c.integer("dim", 0);
  const auto d = r && given ? dimension(*given, r->sizes.size()) : std::nullopt;
  if (!d) return std::nullopt;
  const Split s(r->sizes, *d);
  for (std::int64_t o = 0; o < s.outer; ++o) {
    for (std::int64_t l = 1; l < s.length; ++l) {
      for (std::int64_t i = 0; i < s.inner; ++i)
        r->cells[s.at(o, l, i)] = plus(r->cells[s.at(o, l, i)], r->cells[s.at(o, l - 1, i)]);
    }
  }
  return r;
}

Result run_index_select(const Call& c) {
  const auto self = c.tensor("self"), index = c.tensor("index");
  const auto given = c.integer("dim", 0);
  const auto d = self && index && given ? dimension(*given, self->sizes.size()) : std::nullopt;
  if (!d || self->sizes.empty()) return std::nullopt;
  const Split s(self->sizes, *d);
  Elements r{self->sizes, {}, DType::unknown};
  r.sizes[*d] = static_cast<std::int64_t>(index->cells.size());
  for (std::int64_t o = 0; o < s.outer; ++o) {
    for (const std::int64_t l : index->cells) {
      if (l < 0 || l >= s.length) return std::nullopt;
      for (std::int64_t i = 0; i < s.inner; ++i) r.cells.push_back(self->cells[s.at(o, l, i)]);
    }
  }
  return r;
}

/// The part of self that slice_scatter and select_scatter overwrite, as a region over a contiguous self.
std::optional<Region> scattered_part(const Call& c, const Sizes64& sizes, bool select) {
  const auto given = c.integer("dim", 0);
  const auto d = given ? dimension(*given, sizes.size()) : std::nullopt;
  if (!d || sizes.empty()) return std::nullopt;
  Region r = Region::contiguous(sizes);
  const std::int64_t length = sizes[*d];
  const auto bound = [&](std::int64_t x) { return std::clamp<std::int64_t>(x < 0 ? x + length : x, 0, length); };
  if (select) {
    const auto index = c.integer("index", 0);
    if (!index || *index < -length || *index >= length) return std::nullopt;
    r.offset = r.strides[*d] * (*index < 0 ? *index + length : *index);
    r.sizes.erase(r.sizes.begin() + static_cast<std::ptrdiff_t>(*d));
    r.strides.erase(r.strides.begin() + static_cast<std::ptrdiff_t>(*d));
    return r;
  }
  const auto start = c.integer("start", 0), end = c.integer("end", length), step = c.integer("step", 1);
  if (!start || !end || !step || *step < 1) return std::nullopt;
  const std::int64_t from = bound(*start), to = std::max(bound(*end), from);
  r.offset = r.strides[*d] * from;
  r.sizes[*d] = (to - from + *step - 1) / *step;
  r.strides[*d] *= *step;
  return r;
}

Result run_scatter(const Call& c, bool select) {
  Result r = c.tensor("self");
  const auto src = c.tensor("src");
  const auto part = r && src ? scattered_part(c, r->sizes, select) : std::nullopt;
  const Result values = part ? expand(*src, part->sizes) : std::nullopt;
  if (!values) return std::nullopt;
  const std::vector<std::uint32_t> cells = list_cells(*part);
  for (std::size_t i = 0; i < cells.size(); ++i) r->cells[cells[i]] = values->cells[i];
  return r;
}

/// Advanced indexing with index tensors in a row of dimensions and None elsewhere: the linear indices that it picks from a
/// contiguous self, and the sizes of what it picks. nullopt for booleans and for index tensors with a None between them.
struct Picked {
  Sizes64 sizes;
  std::vector<std::size_t> cells;
};
std::optional<Picked> pick(const Call& c, const Elements& self, const KernelArguments& values) {
  const Argument* a = c.get("indices");
  const ListArgument* list = a == nullptr ? nullptr : as_list(*a);
  if (list == nullptr || list->items.size() > self.sizes.size()) return std::nullopt;
  std::vector<const Elements*> index(self.sizes.size(), nullptr);
  std::optional<std::size_t> first, last;
  Sizes64 shape;
  for (std::size_t d = 0; d < list->items.size(); ++d) {
    if (is_none(list->items[d])) continue;
    const ValueId* v = as_value(list->items[d]);
    index[d] = v == nullptr ? nullptr : values.tensor(*v);
    if (index[d] == nullptr || index[d]->dtype == DType::b8 || index[d]->dtype == DType::u8) return std::nullopt;
    if (last && *last + 1 != d) return std::nullopt;
    if (!first) first = d;
    last = d;
    const auto merged = broadcast_sizes(shape, index[d]->sizes);
    if (!merged) return std::nullopt;
    shape = *merged;
  }
  if (!first) return std::nullopt;
  const Sizes64 strides = contiguous_strides(self.sizes);
  Sizes64 before(self.sizes.begin(), self.sizes.begin() + static_cast<std::ptrdiff_t>(*first)),
      after(self.sizes.begin() + static_cast<std::ptrdiff_t>(*last) + 1, self.sizes.end());
  const auto base = [&](const Sizes64& sizes, std::size_t from) {
    return list_cells({0, sizes,
                       Sizes64(strides.begin() + static_cast<std::ptrdiff_t>(from),
                               strides.begin() + static_cast<std::ptrdiff_t>(from + sizes.size()))});
  };
  std::vector<std::size_t> middle(static_cast<std::size_t>(count_of(shape)), 0);
  for (std::size_t d = *first; d <= *last; ++d) {
    const Elements full = *expand(*index[d], shape);
    for (std::size_t i = 0; i < middle.size(); ++i) {
      std::int64_t at = full.cells[i];
      if (at < -self.sizes[d] || at >= self.sizes[d]) return std::nullopt;
      if (at < 0) at += self.sizes[d];
      middle[i] += static_cast<std::size_t>(at * strides[d]);
    }
  }
  Picked p;
  for (const Sizes64* part : {&before, &shape, &after}) p.sizes.insert(p.sizes.end(), part->begin(), part->end());
  for (const std::uint32_t x : base(before, 0)) {
    for (const std::size_t y : middle) {
      for (const std::uint32_t z : base(after, *last + 1)) p.cells.push_back(x + y + z);
    }
  }
  return p;
}

Result run_index(const Call& c, const KernelArguments& values) {
  const auto self = c.tensor("self");
  const auto picked = self ? pick(c, *self, values) : std::nullopt;
  if (!picked) return std::nullopt;
  Elements r{picked->sizes, {}, DType::unknown};
  for (const std::size_t i : picked->cells) r.cells.push_back(self->cells[i]);
  return r;
}

Result run_index_put(const Call& c, const KernelArguments& values) {
  Result self = c.tensor("self");
  const auto picked = self ? pick(c, *self, values) : std::nullopt;
  const auto given = c.tensor("values");
  const auto accumulate = c.integer("accumulate", 0);
  const Result source = picked && given ? expand(*given, picked->sizes) : std::nullopt;
  if (!source || !accumulate) return std::nullopt;
  for (std::size_t i = 0; i < picked->cells.size(); ++i) {
    std::int64_t& cell = self->cells[picked->cells[i]];
    cell = *accumulate ? plus(cell, source->cells[i]) : source->cells[i];
  }
  return self;
}

Result run_full(const Call& c, const char* value_name, std::int64_t otherwise) {
  const auto sizes = c.sizes("size");
  const auto value = *value_name ? c.integer(value_name, otherwise) : otherwise;
  return sizes && value ? Result(filled(*sizes, *value)) : std::nullopt;
}

/// zeros_like and its kin: the sizes come from the metadata of the node itself, so that self need not be read.
Result run_like(const Call& c, const char* value_name, std::int64_t otherwise) {
  const TensorMeta* meta = tensor_meta(c.program().graph.node(c.node()).meta);
  const auto value = *value_name ? c.integer(value_name, otherwise) : otherwise;
  if (meta == nullptr || !value) return std::nullopt;
  Sizes64 sizes;
  for (const SymInt& s : meta->sizes) {
    if (!s.is_number()) return std::nullopt;
    sizes.push_back(s.number());
  }
  return count_of(sizes) < kMostElements ? Result(filled(sizes, *value)) : std::nullopt;
}

Result run_arange(const Call& c) {
  const auto start = c.integer("start", 0), end = c.integer("end", 0), step = c.integer("step", 1);
  if (!start || !end || !step || *step <= 0 || *end - *start > kMostElements) return std::nullopt;
  Elements r;
  for (std::int64_t x = *start; x < *end; x += *step) r.cells.push_back(x);
  r.sizes = {static_cast<std::int64_t>(r.cells.size())};
  return r;
}

Result run_mm(const Call& c) {
  const auto a = c.tensor("self"), b = c.tensor("mat2");
  if (!a || !b || a->sizes.size() != 2 || b->sizes.size() != 2 || a->sizes[1] != b->sizes[0]) return std::nullopt;
  const std::int64_t n = a->sizes[0], k = a->sizes[1], m = b->sizes[1];
  Elements r = filled({n, m}, 0);
  for (std::int64_t i = 0; i < n; ++i) {
    for (std::int64_t j = 0; j < m; ++j) {
      for (std::int64_t x = 0; x < k; ++x) {
        std::int64_t& cell = r.cells[static_cast<std::size_t>(i * m + j)];
        cell = plus(cell, times(a->cells[static_cast<std::size_t>(i * k + x)], b->cells[static_cast<std::size_t>(x * m + j)]));
      }
    }
  }
  return r;
}

Result run_flip(const Call& c) {
  Result r = c.tensor("self");
  const auto dims = c.integers("dims");
  if (!r || !dims) return std::nullopt;
  for (const std::int64_t given : *dims) {
    const auto d = dimension(given, r->sizes.size());
    if (!d) return std::nullopt;
    const Split s(r->sizes, *d);
    const std::vector<std::int64_t> old = r->cells;
    for (std::int64_t o = 0; o < s.outer; ++o) {
      for (std::int64_t l = 0; l < s.length; ++l) {
        for (std::int64_t i = 0; i < s.inner; ++i) r->cells[s.at(o, l, i)] = old[s.at(o, s.length - 1 - l, i)];
      }
    }
  }
  return r;
}

Result run_copy(const Call& c) {
  const auto self = c.tensor("self"), src = c.tensor("src");
  if (!src) return std::nullopt;
  return self ? expand(*src, self->sizes) : src;
}

Result run_clamp(const Call& c) {
  const auto low = c.integer("min", std::numeric_limits<std::int64_t>::min()),
             high = c.integer("max", std::numeric_limits<std::int64_t>::max());
  if (!low || !high) return std::nullopt;
  return map(c.tensor("self"), [&](std::int64_t x) { return std::min(std::max(x, *low), *high); });
}

Result run_fill(const Call& c) {
  const auto value = c.tensor("value");
  const Result like = run_like(c, "", 0);
  if (!value || value->cells.size() != 1 || !like) return std::nullopt;
  return map(like, [&](std::int64_t) { return value->cells[0]; });
}

/// View ops that copy: which element of self each element of the result is, by the geometry of the view over a contiguous self.
Result run_view(const Call& c) {
  const auto self = c.tensor("self");
  if (!self) return std::nullopt;
  const auto region = view_region(c.program(), c.node(), Region::contiguous(self->sizes), static_cast<std::int64_t>(c.element()));
  if (!region || region->end() > static_cast<std::int64_t>(self->cells.size())) return std::nullopt;
  Elements r{region->sizes, {}, self->dtype};
  for (const std::uint32_t i : list_cells(*region)) r.cells.push_back(self->cells[i]);
  return r;
}

using Kernel = std::function<Result(const Call&, const KernelArguments&)>;

/// Kernels by the name of the functional op.
const std::unordered_map<std::string, Kernel>& table() {
  using I = std::int64_t;
  static const auto* kTable = [] {
    auto* t = new std::unordered_map<std::string, Kernel>;
    const auto add = [&](const char* name, std::function<Result(const Call&)> f) {
      t->emplace(name, [f = std::move(f)](const Call& c, const KernelArguments&) { return f(c); });
    };
    add("add", with_alpha([](I a, I b, I alpha) { return plus(a, times(alpha, b)); }));
    add("sub", with_alpha([](I a, I b, I alpha) { return minus(a, times(alpha, b)); }));
    add("rsub", with_alpha([](I a, I b, I alpha) { return minus(b, times(alpha, a)); }));
    add("mul", [](const Call& c) {
      return zip(c.tensor("self"), c.get("other") != nullptr ? c.tensor("other") : c.tensor("scalar"), times);
    });
    add("neg", unary([](I a) { return minus(0, a); }));
    add("abs", unary([](I a) { return a < 0 ? minus(0, a) : a; }));
    add("sign", unary([](I a) { return I{(a > 0) - (a < 0)}; }));
    add("relu", unary([](I a) { return std::max<I>(a, 0); }));
    add("square", unary([](I a) { return times(a, a); }));
    add("logical_not", unary([](I a) { return I{a == 0}; }));
    add("maximum", binary([](I a, I b) { return std::max(a, b); }));
    add("minimum", binary([](I a, I b) { return std::min(a, b); }));
    add("eq", binary([](I a, I b) { return I{a == b}; }));
    add("ne", binary([](I a, I b) { return I{a != b}; }));
    add("lt", binary([](I a, I b) { return I{a < b}; }));
    add("le", binary([](I a, I b) { return I{a <= b}; }));
    add("gt", binary([](I a, I b) { return I{a > b}; }));
    add("ge", binary([](I a, I b) { return I{a >= b}; }));
    add("logical_and", binary([](I a, I b) { return I{a != 0 && b != 0}; }));
    add("logical_or", binary([](I a, I b) { return I{a != 0 || b != 0}; }));
    add("bitwise_and", binary([](I a, I b) { return a & b; }));
    add("bitwise_or", binary([](I a, I b) { return a | b; }));
    add("bitwise_xor", binary([](I a, I b) { return a ^ b; }));
    add("where", run_where);
    add("masked_fill", run_masked_fill);
    add("clamp", run_clamp);
    add("cat", run_cat);
    add("stack", run_stack);
    add("sum", run_sum);
    add("cumsum", run_cumsum);
    add("index_select", run_index_select);
    add("slice_scatter", [](const Call& c) { return run_scatter(c, false); });
    add("select_scatter", [](const Call& c) { return run_scatter(c, true); });
    add("mm", run_mm);
    add("flip", run_flip);
    add("copy", run_copy);
    add("zeros", [](const Call& c) { return run_full(c, "", 0); });
    add("ones", [](const Call& c) { return run_full(c, "", 1); });
    add("full", [](const Call& c) { return run_full(c, "fill_value", 0); });
    add("zeros_like", [](const Call& c) { return run_like(c, "", 0); });
    add("ones_like", [](const Call& c) { return run_like(c, "", 1); });
    add("full_like", [](const Call& c) { return run_like(c, "fill_value", 0); });
    add("new_zeros", [](const Call& c) { return run_full(c, "", 0); });
    add("new_ones", [](const Call& c) { return run_full(c, "", 1); });
    add("new_full", [](const Call& c) { return run_full(c, "fill_value", 0); });
    add("scalar_tensor", [](const Call& c) { return c.tensor("s"); });
    add("arange", run_arange);
    add("fill", run_fill);
    add("zero", [](const Call& c) { return run_like(c, "", 0); });
    for (const char* name : {"clone", "_to_copy", "detach_copy", "alias_copy", "lift_fresh_copy", "_clone_dim_order",
                             "_to_dim_order_copy", "to", "contiguous"}) {
      add(name, [](const Call& c) { return c.tensor("self"); });
    }
    for (const char* name : {"view_copy", "reshape", "slice_copy", "select_copy", "permute_copy", "transpose_copy", "t_copy",
                             "expand_copy", "unsqueeze_copy", "squeeze_copy", "as_strided_copy", "diagonal_copy", "unfold_copy",
                             "_reshape_copy", "flatten", "_unsafe_view", "split_copy", "split_with_sizes_copy", "unbind_copy"}) {
      add(name, run_view);
    }
    t->emplace("index", run_index);
    t->emplace("index_put", run_index_put);
    t->emplace("_unsafe_index_put", run_index_put);
    t->emplace("_index_put_impl", run_index_put);
    return t;
  }();
  return *kTable;
}

/// "add_" and "_foreach_add_" are kernels of "add".
std::string functional_name(const Target& t) {
  std::string name = t.name;
  if (name.ends_with('_') && !name.ends_with("__")) name.pop_back();
  if (name.starts_with("_foreach_")) name.erase(0, 9);
  return name;
}

bool is_known(const Target& t) {
  if (!t.is_op() || (t.ns != "aten" && t.ns != "dim_order_ops")) return false;
  if (t.name == "view_copy" && t.overload == "dtype") return false;
  return table().contains(functional_name(t));
}

Result finish(Result r, DType dtype) {
  if (!r) return r;
  for (std::int64_t& cell : r->cells) cell = wrap(cell, dtype);
  r->dtype = dtype;
  return r;
}

}  // namespace

bool has_kernel(const Target& t) { return is_known(t); }

Result run_kernel(const Program& program, NodeId node, const KernelArguments& values, std::size_t element, DType result) {
  const Target& target = program.target(node);
  if (!is_known(target)) return std::nullopt;
  const Call call(program, node, values, element, target.name.starts_with("_foreach_"));
  return finish(table().at(functional_name(target))(call, values), result);
}

std::int64_t wrap(std::int64_t x, DType dtype) {
  switch (dtype) {
    case DType::u8:
      return static_cast<std::uint8_t>(x);
    case DType::i8:
      return static_cast<std::int8_t>(x);
    case DType::i16:
      return static_cast<std::int16_t>(x);
    case DType::u16:
      return static_cast<std::uint16_t>(x);
    case DType::i32:
      return static_cast<std::int32_t>(x);
    case DType::u32:
      return static_cast<std::uint32_t>(x);
    case DType::b8:
      return x != 0;
    case DType::i64:
    case DType::u64:
    case DType::unknown:
    case DType::f16:
    case DType::f32:
    case DType::f64:
    case DType::c32:
    case DType::c64:
    case DType::c128:
    case DType::bf16:
    case DType::f8e4m3fn:
    case DType::f8e5m2:
    case DType::f8e4m3fnuz:
    case DType::f8e5m2fnuz:
    case DType::f8e8m0fnu:
    case DType::bits16:
      return x;
  }
  return x;
}

}  // namespace writeback::ref
