#include "proofs/encoding.h"

#include <fmt/format.h>

#include <bit>

namespace writeback::proofs {

Bool BoundedDomain::meet(const Set& a, const Set& b) const {
  std::vector<Bool> common;
  for (const Entry& x : a)
    for (const Entry& y : b)
      for (std::size_t c = 0; c < x.cells.size(); ++c) common.push_back(logic.both(x.cells[c], y.cells[c]));
  return logic.any(common);
}

Bool BoundedDomain::meet_anew(const Set& a, const Set& b) const {
  std::vector<Bool> common;
  for (const Entry& x : a)
    for (const Entry& y : b) {
      std::vector<Bool> together;
      for (std::size_t s = 0; s < x.storage.size(); ++s) together.push_back(logic.both(x.storage[s], y.storage[s]));
      const Bool anew = logic.no(logic.any(together));
      for (std::size_t c = 0; c < x.cells.size(); ++c) common.push_back(logic.both(anew, logic.both(x.cells[c], y.cells[c])));
    }
  return logic.any(common);
}

Encoding::Encoding(const Logic& logic, std::size_t nodes, Writes writes, std::optional<impl::Clause> dropped)
    : shared(logic.variable("shared")),
      b_half(logic.variable("b half")),
      b_first(logic.variable("b first")),
      logic_(logic),
      count_(nodes),
      writes_(writes),
      domain_{logic, dropped} {
  declare();
  require_well_formed();
  lay_out();
  find_live();
  read_ = meant_;
  for (std::size_t n = 0; n < count_; ++n) touched_.push_back(node_cells(n));
  at_node_.resize(count_);
  require_accepted();
  require_no_lowering_hazard();
  if (writes == Writes::faithful) {
    run_whole();
    for (const std::vector<Bool>& more : at_node_) assumptions_.insert(assumptions_.end(), more.begin(), more.end());
  } else {
    run_by_steps();
  }
}

// ---- variables ----------------------------------------------------------------------------------------------------------------

void Encoding::declare() {
  for (std::size_t n = 0; n < count_; ++n) {
    const std::string p = fmt::format("n{}.", n);
    const auto bit = [&](const char* name) { return logic_.variable(p + name); };
    node.push_back({logic_.variables(p + "kind", kKinds), logic_.variables(p + "a", kPlaceholders + n),
                    logic_.variables(p + "b", kPlaceholders + n), bit("reads a"), bit("reads b"), bit("half"), bit("flip"),
                    bit("writes a"), bit("writes b"), bit("result a"), bit("result b"), bit("aliases"), bit("lowered"),
                    bit("rebased"), bit("shares")});
  }
  for (std::size_t k = 0; k < kCopies; ++k) {
    const std::string p = fmt::format("copy{}.", k);
    copy.push_back({logic_.variable(p + "target b"), logic_.variable(p + "dropped"), logic_.variable(p + "temporary")});
    done.push_back(moment(p + "done", true));
  }
  for (std::size_t r = 0; r < kReaders; ++r) {
    const std::string p = fmt::format("reader{}.", r);
    reader.push_back({logic_.variables(p + "value", values())});
    read.push_back(moment(p + "read", false));
    meant_.push_back({logic_.variable(p + "meant.0"), logic_.variable(p + "meant.1")});
    if (r >= kCopies) output_first.push_back(logic_.variable(p + "first"));
  }
}

Moment Encoding::moment(const std::string& name, bool is_copy) {
  Moment m;
  for (std::size_t p = 0; p < points(); ++p) {
    const bool possible = is_copy_point(p) == is_copy;
    m.push_back(possible ? logic_.variable(fmt::format("{}.{}", name, p)) : p == 0 ? logic_.constant(false) : m.back());
    if (p > 0) require(logic_.implies(m[p - 1], m[p]));
  }
  require(m.back());
  return m;
}

Bool Encoding::before(const Moment& first, const Moment& second) const {
  std::vector<Bool> each;
  for (std::size_t p = 0; p < points(); ++p)
    each.push_back(logic_.implies(second[p], p == 0 ? logic_.constant(false) : first[p - 1]));
  return logic_.all(each);
}

Bool Encoding::at(const Moment& m, std::size_t point) const {
  return point == 0 ? m[0] : logic_.both(m[point], logic_.no(m[point - 1]));
}

/// When the value of a reader is read. An output that is not read first is read after everything.
Moment Encoding::reader_moment(std::size_t r) const {
  const Bool through = r < kCopies ? copy[r].has_temporary : output_first[r - kCopies];
  Moment m;
  for (std::size_t p = 0; p < points(); ++p)
    m.push_back(logic_.choose(through, read[r][p], r < kCopies ? done[r][p] : logic_.constant(false)));
  return m;
}

// ---- what a program is --------------------------------------------------------------------------------------------------------

void Encoding::require_well_formed() {
  for (const SymbolicNode& n : node) {
    require(logic_.exactly_one(n.kind));
    require(logic_.exactly_one(n.a));
    require(logic_.exactly_one(n.b));
    require(logic_.either(logic_.no(n.result_a), logic_.no(n.result_b)));
    require_canonical(n);
  }
  for (std::size_t r = 0; r < kReaders; ++r)
    require(r < kCopies ? logic_.exactly_one(reader[r].value) : logic_.at_most_one(reader[r].value));
  // User outputs are alike: of programs that differ in their order only, one. One that is not there is the last.
  for (std::size_t r = kCopies + 1; r < kReaders; ++r)
    for (std::size_t v = 0; v < values(); ++v)
      require(logic_.implies(reader[r].value[v], logic_.any({reader[r - 1].value.begin(),
                                                             reader[r - 1].value.begin() + static_cast<std::ptrdiff_t>(v) + 1})));
  // A view_copy that is a user output stays a copy, unless the output is read first.
  for (std::size_t n = 0; n < count_; ++n)
    for (std::size_t r = kCopies; r < kReaders; ++r)
      require(logic_.no(logic_.all({node[n].is(Kind::view_copy), node[n].lowered, reader[r].value[kPlaceholders + n],
                                    logic_.no(output_first[r - kCopies])})));
  // Copies stand at points of their own, temporaries before their copies.
  for (std::size_t p = 0; p < points(); ++p)
    if (is_copy_point(p))
      require(logic_.no(logic_.all({at(done[0], p), at(done[1], p), logic_.no(copy[0].dropped), logic_.no(copy[1].dropped)})));
  for (std::size_t k = 0; k < kCopies; ++k) {
    require(logic_.implies(copy[k].has_temporary, before(read[k], done[k])));
    require(logic_.either(logic_.no(copy[k].dropped), logic_.no(copy[k].has_temporary)));
  }
}

/// Of programs that differ in nothing but what a node does not use, one.
void Encoding::require_canonical(const SymbolicNode& n) {
  const auto only = [&](const Bool& bit, std::initializer_list<Kind> kinds) {
    std::vector<Bool> some;
    for (const Kind k : kinds) some.push_back(n.is(k));
    require(logic_.implies(bit, logic_.any(some)));
  };
  for (const Bool* bit : {&n.writes_a, &n.writes_b, &n.result_a, &n.result_b}) only(*bit, {Kind::opaque});
  for (const Bool* bit : {&n.lowered, &n.rebased}) only(*bit, {Kind::view_copy});
  for (const Bool* bit : {&n.reads_a, &n.reads_b}) only(*bit, {Kind::fresh, Kind::in_place});
  only(n.aliases, {Kind::may_alias});
  only(n.shares, {Kind::fresh});
  require(logic_.implies(n.shares, n.reads_a));
  only(n.half, {Kind::fresh, Kind::view, Kind::opaque});
  only(n.flip, {Kind::view, Kind::opaque});
  require(logic_.implies(n.is(Kind::fresh), logic_.implies(n.reads_b, n.reads_a)));
  require(logic_.any({n.b[0], n.reads_b, n.is(Kind::opaque)}));
  require(logic_.any({n.a[0], n.reads_a, logic_.no(n.is(Kind::fresh))}));
}

// ---- where tensors lie --------------------------------------------------------------------------------------------------------

Tensor Encoding::own(std::size_t storage, const Bool& half) const {
  Tensor t{std::vector<Bool>(values(), logic_.constant(false)), half, logic_.constant(false),
           std::vector<Bool>(count_, logic_.constant(false))};
  t.storage[storage] = logic_.constant(true);
  return t;
}

Bool Encoding::select(const std::vector<Bool>& which, const std::vector<Bool>& from) const {
  std::vector<Bool> terms;
  for (std::size_t i = 0; i < which.size() && i < from.size(); ++i) terms.push_back(logic_.both(which[i], from[i]));
  return logic_.any(terms);
}

Tensor Encoding::select(const std::vector<Bool>& which, const std::vector<Tensor>& from) const {
  std::vector<Bool> half, first, in;
  for (const Tensor& t : from) {
    half.push_back(t.half);
    first.push_back(t.first);
  }
  Tensor result{{}, select(which, half), select(which, first), {}};
  for (std::size_t m = 0; m < count_; ++m) {
    in.clear();
    for (const Tensor& t : from) in.push_back(t.chain[m]);
    result.chain.push_back(select(which, in));
  }
  for (std::size_t s = 0; s < values(); ++s) {
    in.clear();
    for (const Tensor& t : from) in.push_back(t.storage[s]);
    result.storage.push_back(select(which, in));
  }
  return result;
}

Tensor Encoding::select(const Bool& condition, const Tensor& yes, const Tensor& otherwise) const {
  Tensor result{{}, logic_.choose(condition, yes.half, otherwise.half), logic_.choose(condition, yes.first, otherwise.first), {}};
  for (std::size_t m = 0; m < count_; ++m) result.chain.push_back(logic_.choose(condition, yes.chain[m], otherwise.chain[m]));
  for (std::size_t s = 0; s < values(); ++s)
    result.storage.push_back(logic_.choose(condition, yes.storage[s], otherwise.storage[s]));
  return result;
}

Bool Encoding::cell_of(const Tensor& t, std::size_t element) const {
  return element == 0 ? t.first : logic_.choose(t.half, t.first, logic_.no(t.first));
}

Tensor Encoding::view(const Tensor& base, const Bool& half, const Bool& flip) const {
  return {base.storage, logic_.either(base.half, half), logic_.choose(flip, cell_of(base, 1), base.first), base.chain};
}

Bool Encoding::covers(const Tensor& t, std::size_t storage, std::size_t cell) const {
  const Bool is_first = cell == 1 ? t.first : logic_.no(t.first);
  return logic_.both(t.storage[storage], logic_.either(logic_.no(t.half), is_first));
}

Bool Encoding::same(const Tensor& a, const Tensor& b) const {
  return logic_.all({select(a.storage, b.storage), logic_.same(a.half, b.half), logic_.same(a.first, b.first)});
}

/// The same tensor, for the choice of node n.
Tensor Encoding::through(Tensor t, std::size_t n) const {
  t.chain[n] = logic_.constant(true);
  return t;
}

/// The tensor of a node's result. `copied` is what a view_copy has.
Tensor Encoding::result(std::size_t n, const std::vector<Tensor>& tensors, const Tensor& copied) const {
  const SymbolicNode& x = node[n];
  const std::size_t home = kPlaceholders + n;
  const Tensor a = select(x.a, tensors), b = select(x.b, tensors);
  const Bool copies = logic_.both(x.is(Kind::may_alias), logic_.no(x.aliases));
  Tensor t = own(home, x.half);  // fresh, and opaque where it is fresh
  t = select(x.is(Kind::view), view(a, x.half, x.flip), t);
  t = select(logic_.both(x.is(Kind::opaque), x.result_a), view(a, x.half, x.flip), t);
  t = select(logic_.both(x.is(Kind::opaque), x.result_b), view(b, x.half, x.flip), t);
  t = select(x.is(Kind::in_place), a, t);
  t = select(logic_.both(x.is(Kind::may_alias), x.aliases), through(a, n), t);
  t = select(copies, own(home, a.half), t);
  return select(x.is(Kind::view_copy), copied, t);
}

/// The result of a node that shares its allocation: where the base begins, by its own geometry.
Tensor Encoding::shared_with(const Tensor& base) const {
  return {base.storage, base.half, logic_.both(base.half, base.first), base.chain};
}

void Encoding::lay_out() {
  const Bool no = logic_.constant(false);
  Tensor b{std::vector<Bool>(values(), no), b_half, b_first, std::vector<Bool>(count_, no)};
  b.storage[0] = shared;
  b.storage[1] = logic_.no(shared);
  written_ = {own(0, no), b, own(2, no)};
  require(logic_.either(shared, logic_.no(b_first)));  // alone in its storage, b starts at cell 0
  placed_ = root_ = written_;
  by_lowering_.assign(kPlaceholders, no);
  for (std::size_t n = 0; n < count_; ++n) {
    const SymbolicNode& x = node[n];
    const Tensor copied = own(kPlaceholders + n, select(x.a, written_).half);
    const Tensor root = select(x.a, root_);
    written_.push_back(result(n, written_, copied));
    const Tensor operand = select(x.a, placed_);
    require(logic_.implies(x.shares, logic_.same(x.half, operand.half)));
    placed_.push_back(
        select(x.shares, through(shared_with(operand), n), result(n, placed_, select(x.lowered, through(root, n), copied))));
    root_.push_back(select(x.is(Kind::view_copy), root, placed_.back()));
    const Bool a = select(x.a, by_lowering_), b = select(x.b, by_lowering_);
    const Bool of_a = logic_.any({x.is(Kind::view), x.is(Kind::in_place), logic_.both(x.is(Kind::may_alias), x.aliases),
                                  logic_.both(x.is(Kind::opaque), x.result_a)});
    by_lowering_.push_back(
        logic_.any({logic_.both(of_a, a), logic_.all({x.is(Kind::opaque), x.result_b, b}), x.lowered, x.shares}));
  }
  for (const SymbolicCopy& c : copy) {
    target_.push_back(select(c.target_b, b, written_[0]));
    // copy_ broadcasts one cell to two, not two to one.
    require(logic_.implies(target_.back().half, select(reader[target_.size() - 1].value, written_).half));
  }
}

void Encoding::find_live() {
  live_.assign(count_, logic_.constant(false));
  for (std::size_t n = count_; n-- > 0;) {
    std::vector<Bool> why{node[n].is(Kind::in_place), node[n].is(Kind::opaque)};
    for (const SymbolicReader& r : reader) why.push_back(r.value[kPlaceholders + n]);
    for (std::size_t m = n + 1; m < count_; ++m) {
      const SymbolicNode& x = node[m];
      const Bool uses_a = logic_.any({logic_.no(x.is(Kind::fresh)), x.reads_a});
      const Bool uses_b =
          logic_.either(x.is(Kind::opaque), logic_.both(logic_.either(x.is(Kind::fresh), x.is(Kind::in_place)), x.reads_b));
      why.push_back(logic_.both(
          live_[m], logic_.either(logic_.both(uses_a, x.a[kPlaceholders + n]), logic_.both(uses_b, x.b[kPlaceholders + n]))));
    }
    live_[n] = logic_.any(why);
  }
}

}  // namespace writeback::proofs
