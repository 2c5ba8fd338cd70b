// The kinds of node that the generator makes: one row each, and the questions that its arguments ask. Where a row asks less than
// the op allows (one dimension, two steps), the cells that can overlap are the same.
#include <algorithm>
#include <stdexcept>

#include "fuzz/builder.h"
#include "ref/graph/view_geometry_ops.h"

namespace writeback::fuzz {
namespace {

constexpr std::int64_t kMostCells = 8;

bool any(const Tensor&) { return true; }
bool has_dimension(const Tensor& t) { return !t.sizes().empty(); }
bool is_matrix(const Tensor& t) { return t.sizes().size() == 2; }
bool viewable(const Tensor& t) { return t.plain && geometry::is_contiguous(t.region); }
bool writable(const Tensor& t) { return is_writable(t); }

/// What PyTorch's type promotion makes of the two types that there are.
DType promoted(DType a, DType b) { return a == DType::f32 ? a : b; }

/// Element-wise results take their operands' strides: the layout can be foreseen where those are contiguous.
bool lays_out_plainly(const Tensor& t) { return viewable(t); }

std::vector<Shape> shapes_of(std::int64_t cells) {
  if (cells == 1) return {{1}, {}, {1, 1}};
  std::vector<Shape> shapes{{cells}};
  if (cells % 2 == 0) shapes.push_back({2, cells / 2});
  if (cells % 2 == 0 && cells > 4) shapes.push_back({cells / 2, 2});
  if (cells == 2) shapes.push_back({2, 1});
  return shapes;
}

// --- Fresh results ---

bool full(Builder& b) {
  const Shape sizes = b.shape({{4}, {2, 2}, {2}, {}});
  b.constant(1.0);
  b.result(b.fresh(DType::f32, sizes));
  return true;
}

bool index_range(Builder& b) {
  b.constant(std::int64_t{2});
  Tensor t = b.fresh(DType::i64, {2});
  t.frozen = true;
  b.result(t);
  return true;
}

bool unary(Builder& b) {
  const Tensor* x = b.operand(any);
  if (x == nullptr) return false;
  b.elementwise();
  b.result(b.fresh(x->dtype, x->sizes(), lays_out_plainly(*x)));
  return true;
}

bool with_number(Builder& b) {
  const Tensor* x = b.operand(any);
  if (x == nullptr) return false;
  b.constant(std::int64_t{2});
  b.elementwise();
  b.result(b.fresh(x->dtype, x->sizes(), lays_out_plainly(*x)));
  return true;
}

bool binary(Builder& b) {
  const Tensor* first = b.operand(any);
  if (first == nullptr) return false;
  const Tensor& x = *first;
  const Tensor* y = b.operand([&](const Tensor& t) { return broadcast(x.sizes(), t.sizes()).has_value(); });
  if (y == nullptr) return false;
  Shape sizes = *broadcast(x.sizes(), y->sizes());
  b.elementwise();
  b.result(b.fresh(promoted(x.dtype, y->dtype), std::move(sizes), lays_out_plainly(x) && lays_out_plainly(*y)));
  return true;
}

bool sum(Builder& b) {
  const Tensor* x = b.operand(any);
  if (x == nullptr) return false;
  b.result(b.fresh(x->dtype, {}));
  return true;
}

bool cast(Builder& b) {
  const Tensor* x = b.operand(any);
  if (x == nullptr) return false;
  const DType to = x->dtype == DType::f32 ? DType::i64 : DType::f32;
  b.constant_keyword("dtype", Symbol{Symbol::Kind::dtype, std::string(python_name(to))});
  b.result(b.fresh(to, x->sizes(), lays_out_plainly(*x)));
  return true;
}

bool filled_like(Builder& b) {
  const Tensor* x = b.operand(any);
  if (x == nullptr) return false;
  b.result(b.fresh(x->dtype, x->sizes(), lays_out_plainly(*x)));
  return true;
}

bool cat(Builder& b) {
  const auto fits = [&](const Tensor& t) {
    std::int64_t cells = t.region.numel();
    for (const Tensor* item : b.items()) cells += item->region.numel();
    return t.sizes().size() == 1 && cells <= kMostCells;
  };
  if (!b.list(1, 3, fits)) return false;
  std::int64_t cells = 0;
  DType dtype = b.items().front()->dtype;
  for (const Tensor* item : b.items()) cells += item->region.numel(), dtype = promoted(dtype, item->dtype);
  b.result(b.fresh(dtype, {cells}));
  return true;
}

bool stack(Builder& b) {
  const auto fits = [&](const Tensor& t) {
    if (b.items().empty()) return t.region.numel() <= 4 && t.sizes().size() <= 1;
    return b.items().front()->sizes() == t.sizes();
  };
  if (!b.list(2, 2, fits)) return false;
  Shape sizes = b.items().front()->sizes();
  sizes.insert(sizes.begin(), 2);
  b.result(b.fresh(promoted(b.items()[0]->dtype, b.items()[1]->dtype), std::move(sizes)));
  return true;
}

// --- Views ---

bool reshaped(Builder& b, Tensor (*make)(Builder&, const Tensor&, Region)) {
  const Tensor* found = b.operand(viewable);
  if (found == nullptr) return false;
  const Tensor& x = *found;
  const Shape sizes = b.shape(shapes_of(x.region.numel()));
  b.result(make(b, x, Region::contiguous(sizes, x.region.offset)));
  return true;
}

bool view(Builder& b) {
  return reshaped(b, [](Builder& builder, const Tensor& x, Region r) { return builder.view_of(x, std::move(r)); });
}

/// A later pass re-bases a chain of these on its root, so chains are drawn on purpose. It never meets a root that was rebound
/// in between: its programs are functional.
bool view_copy(Builder& b) {
  const Tensor* x = b.operand_preferring([](const Tensor& t) { return t.link; }, 3, viewable);
  if (x == nullptr) return false;
  Tensor made = b.fresh(x->dtype, b.shape(shapes_of(x->region.numel())));
  made.link = true;
  b.result(std::move(made));
  b.pin(*x);
  return true;
}

bool reshape(Builder& b) {
  return reshaped(b, [](Builder& builder, const Tensor& x, Region r) { return builder.may_view(x, std::move(r)); });
}

bool same_view(Builder& b) {
  const Tensor* x = b.operand(any);
  if (x == nullptr) return false;
  b.result(b.view_of(*x, x->region));
  return true;
}

bool contiguous(Builder& b) {
  const Tensor* x = b.operand(viewable);
  if (x == nullptr) return false;
  Tensor made = b.may_view(*x, x->region);
  made.pinned = true;  // torch returns the operand itself, where it copies nothing
  b.result(std::move(made));
  b.pin(*x);
  return true;
}

bool transposed(Builder& b, bool copies) {
  const Tensor* x = b.operand(is_matrix);
  if (x == nullptr) return false;
  Region region = x->region;
  std::swap(region.sizes[0], region.sizes[1]);
  std::swap(region.strides[0], region.strides[1]);
  b.result(copies ? b.fresh(x->dtype, region.sizes) : b.view_of(*x, region));
  b.constant(std::int64_t{0});
  b.constant(std::int64_t{1});
  return true;
}
bool transpose(Builder& b) { return transposed(b, false); }
bool transpose_copy(Builder& b) { return transposed(b, true); }

bool select(Builder& b) {
  const Tensor* found = b.operand([](const Tensor& t) { return has_dimension(t) && t.sizes()[0] > 0; });
  if (found == nullptr) return false;
  const Tensor& x = *found;
  b.constant(std::int64_t{0});
  const std::int64_t index = b.integer(0, x.sizes()[0] - 1);
  Region region{x.region.offset + index * x.region.strides[0],
                {x.sizes().begin() + 1, x.sizes().end()},
                {x.region.strides.begin() + 1, x.region.strides.end()}};
  b.result(b.view_of(x, std::move(region)));
  return true;
}

bool sliced(Builder& b, bool copies) {
  const Tensor* found = b.operand([](const Tensor& t) { return has_dimension(t) && t.sizes()[0] > 1; });
  if (found == nullptr) return false;
  const Tensor& x = *found;
  const std::int64_t size = x.sizes()[0];
  b.constant(std::int64_t{0});
  const std::int64_t start = b.integer(0, size - 1);
  const std::int64_t end = b.integer(start + 1, size);
  const std::int64_t step = b.integer(1, 2);
  Region region = x.region;
  region.offset += start * region.strides[0];
  region.sizes[0] = (end - start + step - 1) / step;
  region.strides[0] *= step;
  b.result(copies ? b.fresh(x.dtype, region.sizes) : b.view_of(x, std::move(region)));
  return true;
}
bool slice(Builder& b) { return sliced(b, false); }
bool slice_copy(Builder& b) { return sliced(b, true); }

bool unsqueeze(Builder& b) {
  const Tensor* found = b.operand([](const Tensor& t) { return t.sizes().size() < 2; });
  if (found == nullptr) return false;
  Region region = found->region;
  region.strides.insert(region.strides.begin(), region.sizes.empty() ? 1 : region.sizes[0] * region.strides[0]);
  region.sizes.insert(region.sizes.begin(), 1);
  b.result(b.view_of(*found, std::move(region)));
  b.constant(std::int64_t{0});
  return true;
}

bool expand(Builder& b) {
  const Tensor* found = b.operand([](const Tensor& t) { return t.sizes().size() < 2 && t.region.numel() <= 4; });
  if (found == nullptr) return false;
  const Tensor& x = *found;
  Shape sizes = x.sizes();
  sizes.insert(sizes.begin(), 2);
  b.shape({sizes});
  Region region = x.region;
  region.sizes = sizes;
  region.strides.insert(region.strides.begin(), 0);
  b.result(b.view_of(x, std::move(region)));
  return true;
}

bool diagonal(Builder& b) {
  const Tensor* x = b.operand([](const Tensor& t) { return is_matrix(t) && t.sizes()[0] == t.sizes()[1]; });
  if (x == nullptr) return false;
  b.result(b.view_of(*x, {x->region.offset, {x->sizes()[0]}, {x->region.strides[0] + x->region.strides[1]}}));
  return true;
}

/// Regions that start anywhere in the base's storage, whatever the base's own strides: overlapping ones of the same base above all.
bool as_strided(Builder& b) {
  const Tensor* found =
      b.operand_preferring([](const Tensor& t) { return !viewable(t); }, 2,
                           [](const Tensor& t) { return t.plain && t.exact && t.region.offset == 0 && t.region.end() >= 4; });
  if (found == nullptr) return false;
  const Tensor& x = *found;
  const Shape sizes = b.shape({{2}, {3}, {2, 2}});
  const Shape strides = b.shape(sizes.size() == 1 ? std::vector<Shape>{{1}} : std::vector<Shape>{{1, 2}, {2, 1}, {1, 1}});
  const Region at_zero{0, sizes, strides};
  const std::int64_t offset = b.integer(0, 4 - at_zero.end());
  Tensor view = b.view_of(x, {offset, sizes, strides});
  b.restride(x);
  b.result(std::move(view));
  return true;
}

bool unfold(Builder& b) {
  const Tensor* found = b.operand([](const Tensor& t) { return t.sizes().size() == 1 && t.sizes()[0] >= 3; });
  if (found == nullptr) return false;
  const Tensor& x = *found;
  const std::int64_t windows = x.sizes()[0] - 1;
  if (windows * 2 > kMostCells) return false;
  for (const std::int64_t constant : {0, 2, 1}) b.constant(constant);
  const std::int64_t stride = x.region.strides[0];
  b.result(b.view_of(x, {x.region.offset, {windows, 2}, {stride, stride}}));
  return true;
}

// --- In-place metadata ops: the operand itself gets another geometry ---

bool rebindable(const Tensor& t) { return !t.pinned && t.exact; }

bool rebound_transpose(Builder& b, bool with_dimensions) {
  const Tensor* x = b.operand([](const Tensor& t) { return rebindable(t) && is_matrix(t); });
  if (x == nullptr) return false;
  Region region = x->region;
  std::swap(region.sizes[0], region.sizes[1]);
  std::swap(region.strides[0], region.strides[1]);
  for (const std::int64_t dimension : {0, 1}) {
    if (with_dimensions) b.constant(dimension);
  }
  b.rebound(*x, region);
  return true;
}
bool rebound_t(Builder& b) { return rebound_transpose(b, false); }
bool rebound_transpose_of_dimensions(Builder& b) { return rebound_transpose(b, true); }

bool rebound_unsqueeze(Builder& b) {
  const Tensor* x = b.operand([](const Tensor& t) { return rebindable(t) && t.sizes().size() < 2; });
  if (x == nullptr) return false;
  Region region = x->region;
  region.strides.insert(region.strides.begin(), region.sizes.empty() ? 1 : region.sizes[0] * region.strides[0]);
  region.sizes.insert(region.sizes.begin(), 1);
  b.constant(std::int64_t{0});
  b.rebound(*x, region);
  return true;
}

bool rebound_squeeze(Builder& b) {
  const Tensor* x = b.operand([](const Tensor& t) { return rebindable(t) && has_dimension(t) && t.sizes()[0] == 1; });
  if (x == nullptr) return false;
  Region region = x->region;
  region.sizes.erase(region.sizes.begin());
  region.strides.erase(region.strides.begin());
  b.constant(std::int64_t{0});
  b.rebound(*x, region);
  return true;
}

/// PyTorch refuses it on views.
bool rebound_detach(Builder& b) {
  const Tensor* x = b.operand([](const Tensor& t) { return rebindable(t) && !t.view; });
  if (x == nullptr) return false;
  b.rebound(*x, x->region);
  return true;
}

// --- A higher-order op ---

/// Two branches over the same operands; the result is a tuple of one.
bool cond(Builder& b) {
  const auto one_cell = [](const Tensor& t) { return t.region.numel() == 1; };
  if (!b.has_tensor(one_cell)) return false;
  const auto [taken, other] = b.branches();
  b.operand(one_cell);
  b.constant(taken);
  b.constant(other);
  b.list(1, 2, [&](const Tensor& t) { return b.items().empty() || b.items().front()->dtype == t.dtype; }, true);
  b.body(true);
  b.body(false);
  const Tensor& a = *b.items().front();
  b.results({b.fresh(a.dtype, a.sizes(), lays_out_plainly(a))});
  return true;
}

// --- Several results ---

/// The halves or the rows of a tensor; `rows` drops the dimension.
bool parts(Builder& b, bool rows) {
  const Tensor* found =
      b.operand([&](const Tensor& t) { return has_dimension(t) && (rows ? t.sizes()[0] <= 4 : t.sizes()[0] % 2 == 0); });
  if (found == nullptr) return false;
  const Tensor& x = *found;
  const std::int64_t length = rows ? 1 : x.sizes()[0] / 2;
  if (!rows) b.constant(length);
  std::vector<Tensor> elements;
  for (std::int64_t start = 0; start < x.sizes()[0]; start += length) {
    Region region = x.region;
    region.offset += start * region.strides[0];
    region.sizes[0] = length;
    if (rows) region.sizes.erase(region.sizes.begin()), region.strides.erase(region.strides.begin());
    elements.push_back(b.view_of(x, std::move(region)));
  }
  b.results(std::move(elements));
  return true;
}
bool split(Builder& b) { return parts(b, false); }
bool unbind(Builder& b) { return parts(b, true); }

bool max_and_index(Builder& b) {
  const Tensor* found = b.operand(is_matrix);
  if (found == nullptr) return false;
  const Tensor& x = *found;
  b.constant(std::int64_t{0});
  const Shape sizes{x.sizes()[1]};
  b.results({b.fresh(x.dtype, sizes), b.fresh(DType::i64, sizes)});
  return true;
}

bool foreach_neg(Builder& b) {
  if (!b.list(1, 3, any)) return false;
  std::vector<Tensor> elements;
  for (const Tensor* item : b.items()) elements.push_back(b.fresh(item->dtype, item->sizes(), lays_out_plainly(*item)));
  b.results(std::move(elements));
  return true;
}

bool getitem(Builder& b) { return b.element_of_tuple(); }

// --- Writes ---

/// `self` takes what `other` broadcasts to; the result is self.
bool write(Builder& b, bool casts) {
  const Tensor* found = b.operand(writable);
  if (found == nullptr) return false;
  const Tensor& self = *found;
  const Tensor* other = b.operand([&](const Tensor& t) {
    return broadcasts_to(t.sizes(), self.sizes()) && apart(self, t) && (casts || promoted(self.dtype, t.dtype) == self.dtype);
  });
  if (other == nullptr) return false;
  b.result(self);
  return true;
}
bool in_place(Builder& b) { return write(b, false); }
bool copy(Builder& b) { return write(b, true); }

bool in_place_number(Builder& b) {
  const Tensor* self = b.operand(writable);
  if (self == nullptr) return false;
  b.result(*self);
  b.constant(std::int64_t{3});
  return true;
}

bool in_place_alone(Builder& b) {
  const Tensor* self = b.operand(writable);
  if (self == nullptr) return false;
  b.result(*self);
  return true;
}

bool foreach_in_place(Builder& b) {
  const auto fits = [&](const Tensor& t) {
    return is_writable(t) &&
           std::all_of(b.items().begin(), b.items().end(), [&](const Tensor* item) { return (item->storages & t.storages) == 0; });
  };
  if (!b.list(1, 3, fits)) return false;
  b.constant(std::int64_t{2});
  return true;
}

bool index_put_in_place(Builder& b) {
  const Tensor* found = b.operand([](const Tensor& t) { return is_writable(t) && has_dimension(t) && t.sizes()[0] >= 2; });
  if (found == nullptr) return false;
  const Tensor& self = *found;
  if (!b.list(1, 1, [](const Tensor& t) { return t.frozen && t.sizes() == Shape{2}; })) return false;
  Shape part = self.sizes();
  part[0] = 2;
  const Tensor* values = b.operand([&](const Tensor& t) {
    return t.dtype == self.dtype && broadcasts_to(t.sizes(), part) && (t.storages & self.storages) == 0;
  });
  if (values == nullptr) return false;
  b.result(self);
  return true;
}

bool index_put(Builder& b) {
  const Tensor* found = b.operand([](const Tensor& t) { return has_dimension(t) && t.sizes()[0] >= 2 && viewable(t); });
  if (found == nullptr) return false;
  const Tensor& self = *found;
  if (!b.list(1, 1, [](const Tensor& t) { return t.frozen && t.sizes() == Shape{2}; })) return false;
  Shape part = self.sizes();
  part[0] = 2;
  const Tensor* values = b.operand([&](const Tensor& t) { return t.dtype == self.dtype && broadcasts_to(t.sizes(), part); });
  if (values == nullptr) return false;
  b.result(b.fresh(self.dtype, self.sizes()));
  return true;
}

/// Whether an out= must be resized is told from the sizes in the program.
bool is_out(const Tensor& t) { return is_writable(t) && !t.stale; }

bool unary_out(Builder& b) {
  const Tensor* found = b.operand(any);
  if (found == nullptr) return false;
  const Tensor& x = *found;
  const Tensor* out =
      b.keyword("out", [&](const Tensor& t) { return is_out(t) && t.sizes() == x.sizes() && t.dtype == x.dtype && apart(t, x); });
  if (out == nullptr) return false;
  b.result(*out);
  return true;
}

bool binary_out(Builder& b) {
  const Tensor* first = b.operand(any);
  if (first == nullptr) return false;
  const Tensor& x = *first;
  const Tensor* second = b.operand([&](const Tensor& t) { return broadcast(x.sizes(), t.sizes()).has_value(); });
  if (second == nullptr) return false;
  const Tensor& y = *second;
  const Shape sizes = *broadcast(x.sizes(), y.sizes());
  const Tensor* out = b.keyword("out", [&](const Tensor& t) {
    return is_out(t) && t.sizes() == sizes && t.dtype == promoted(x.dtype, y.dtype) && apart(t, x) && apart(t, y);
  });
  if (out == nullptr) return false;
  b.result(*out);
  return true;
}

// --- Custom ops: opaque unless `--trust my` ---

bool custom_mix(Builder& b) {
  const Tensor* first = b.operand(writable);
  if (first == nullptr) return false;
  const Tensor& x = *first;
  const Tensor* second = b.operand([&](const Tensor& t) { return is_writable(t) && apart(x, t); });
  if (second == nullptr) return false;
  b.declare("my::mix(Tensor x, Tensor y) -> Tensor");
  b.result(b.trusts_custom_ops() ? b.fresh(x.dtype, x.sizes()) : b.opaque(x, x.storages | second->storages));
  return true;
}

bool custom_update(Builder& b) {
  const Tensor* first = b.operand(writable);
  if (first == nullptr) return false;
  const Tensor& x = *first;
  const Tensor* second = b.operand([&](const Tensor& t) { return is_writable(t) && apart(x, t); });
  if (second == nullptr) return false;
  b.declare("my::update(Tensor(a!) x, Tensor y) -> Tensor(a!)");
  b.result(b.trusts_custom_ops() ? x : b.opaque(x, x.storages | second->storages));
  return true;
}

bool custom_touch(Builder& b) {
  const Tensor* x = b.operand(writable);
  if (x == nullptr) return false;
  b.declare("my::touch(Tensor(a!) x) -> ()");
  return true;
}

Target aten(const char* name, const char* overload = "default") { return {Target::Kind::op, "aten", name, overload}; }
Target custom(const char* name) { return {Target::Kind::op, "my", name, "default"}; }

const std::vector<Form>& rows() {
  static const std::vector<Form> forms{
      {aten("neg"), 12, unary},
      {aten("abs"), 4, unary},
      {aten("clone"), 3, unary},
      {aten("add", "Tensor"), 18, binary},
      {aten("mul", "Tensor"), 6, binary},
      {aten("sub", "Tensor"), 4, binary},
      {aten("mul", "Scalar"), 6, with_number},
      {aten("sum"), 3, sum},
      {aten("_to_copy"), 4, cast},
      {aten("full"), 2, full},
      {aten("arange"), 2, index_range},
      {aten("zeros_like"), 3, filled_like},
      {aten("ones_like"), 2, filled_like},
      {aten("cat"), 4, cat},
      {aten("stack"), 3, stack},
      {aten("view"), 8, view},
      {aten("view_copy"), 18, view_copy},
      {aten("reshape"), 5, reshape},
      {aten("contiguous"), 3, contiguous},
      {aten("alias"), 2, same_view},
      {aten("detach"), 2, same_view},
      {aten("transpose", "int"), 6, transpose},
      {aten("transpose_copy", "int"), 2, transpose_copy},
      {aten("select", "int"), 7, select},
      {aten("slice", "Tensor"), 8, slice},
      {aten("slice_copy", "Tensor"), 3, slice_copy},
      {aten("unsqueeze"), 3, unsqueeze},
      {aten("expand"), 3, expand},
      {aten("diagonal"), 2, diagonal},
      {aten("as_strided"), 4, as_strided},
      {aten("unfold"), 2, unfold},
      {aten("t_"), 2, rebound_t},
      {aten("transpose_"), 2, rebound_transpose_of_dimensions},
      {aten("unsqueeze_"), 2, rebound_unsqueeze},
      {aten("squeeze_", "dim"), 1, rebound_squeeze},
      {aten("detach_"), 1, rebound_detach},
      {{Target::Kind::higher_order, "", "cond", ""}, 5, cond},
      {aten("split", "Tensor"), 4, split},
      {aten("unbind", "int"), 3, unbind},
      {aten("max", "dim"), 2, max_and_index},
      {aten("_foreach_neg"), 3, foreach_neg},
      {{Target::Kind::python, "", "operator.getitem", ""}, 14, getitem},
      {aten("add_", "Tensor"), 8, in_place},
      {aten("mul_", "Tensor"), 3, in_place},
      {aten("copy_"), 6, copy},
      {aten("mul_", "Scalar"), 5, in_place_number},
      {aten("fill_", "Scalar"), 3, in_place_number},
      {aten("zero_"), 3, in_place_alone},
      {aten("neg_"), 3, in_place_alone},
      {aten("_foreach_add_", "Scalar"), 4, foreach_in_place},
      {aten("index_put_"), 3, index_put_in_place},
      {aten("index_put"), 2, index_put},
      {aten("neg", "out"), 4, unary_out},
      {aten("add", "out"), 4, binary_out},
      {custom("mix"), 2, custom_mix},
      {custom("update"), 2, custom_update},
      {custom("touch"), 1, custom_touch},
  };
  return forms;
}

}  // namespace

std::span<const Form> forms() { return rows(); }

std::uint32_t form_index(std::string_view qualified_name) {
  for (std::uint32_t f = 0; f < forms().size(); ++f) {
    if (forms()[f].target.qualified_name() == qualified_name) return f;
  }
  throw std::out_of_range("no form " + std::string(qualified_name));
}

}  // namespace writeback::fuzz
