#include "proofs/encoding.h"

#include <fmt/format.h>

#include <bit>

namespace writeback::proofs {
namespace {

bool is_copy_point(std::size_t point) { return point % kPoints % 2 == 1; }

}  // namespace

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
    : output_first(logic.variable("output first")),
      shared(logic.variable("shared")),
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
  run_as_written();
  run_placed();
  require_accepted();
  require_no_lowering_hazard();
}

// ---- variables ----------------------------------------------------------------------------------------------------------------

void Encoding::declare() {
  for (std::size_t n = 0; n < count_; ++n) {
    const std::string p = fmt::format("n{}.", n);
    const auto bit = [&](const char* name) { return logic_.variable(p + name); };
    node.push_back({logic_.variables(p + "kind", kKinds), logic_.variables(p + "a", kPlaceholders + n),
                    logic_.variables(p + "b", kPlaceholders + n), bit("reads a"), bit("reads b"), bit("half"), bit("flip"),
                    bit("writes a"), bit("writes b"), bit("result a"), bit("result b"), bit("aliases"), bit("lowered"),
                    bit("rebased")});
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
  const Bool through = r < kCopies ? copy[r].has_temporary : output_first;
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
  }
  for (std::size_t r = 0; r < kReaders; ++r)
    require(r < kCopies ? logic_.exactly_one(reader[r].value) : logic_.at_most_one(reader[r].value));
  // A view_copy that is a user output stays a copy.
  for (std::size_t n = 0; n < count_; ++n)
    require(logic_.no(logic_.all({node[n].is(Kind::view_copy), node[n].lowered, reader[kCopies].value[kPlaceholders + n]})));
  // Copies stand at points of their own, temporaries before their copies.
  std::vector<Bool> apart;
  for (std::size_t p = 0; p < points(); ++p)
    if (is_copy_point(p))
      require(logic_.no(logic_.all({at(done[0], p), at(done[1], p), logic_.no(copy[0].dropped), logic_.no(copy[1].dropped)})));
  for (std::size_t k = 0; k < kCopies; ++k) require(logic_.implies(copy[k].has_temporary, before(read[k], done[k])));
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
  return logic_.all(
      {select(a.storage, b.storage), logic_.no(logic_.differ(a.half, b.half)), logic_.no(logic_.differ(a.first, b.first))});
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
    placed_.push_back(result(n, placed_, select(x.lowered, through(root, n), copied)));
    root_.push_back(select(x.is(Kind::view_copy), root, placed_.back()));
    const Bool a = select(x.a, by_lowering_), b = select(x.b, by_lowering_);
    const Bool of_a = logic_.any({x.is(Kind::view), x.is(Kind::in_place), logic_.both(x.is(Kind::may_alias), x.aliases),
                                  logic_.both(x.is(Kind::opaque), x.result_a)});
    by_lowering_.push_back(logic_.any(
        {logic_.both(of_a, a), logic_.all({x.is(Kind::opaque), x.result_b, b}), logic_.both(x.is(Kind::view_copy), x.lowered)}));
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

// ---- the two runs -------------------------------------------------------------------------------------------------------------

/// What a node (or the world, for a placeholder) puts into the cells of one of its results.
Bool Encoding::name(std::size_t index, std::size_t field, std::size_t element) const {
  return logic_.variable(fmt::format("content {}.{}.{}", index, field, element));
}

/// What a node puts there that has read something else.
Bool Encoding::poison(std::size_t index, std::size_t element) const {
  return logic_.variable(fmt::format("poison {}.{}", index, element));
}

Encoding::Memory Encoding::initial() const {
  Memory memory(values(), {logic_.constant(false), logic_.constant(false)});
  for (std::size_t s = 0; s < kPlaceholders; ++s)
    for (std::size_t c = 0; c < 2; ++c) memory[s][c] = name(s, 0, c);
  return memory;
}

/// The two elements of a tensor (one cell is broadcast).
Encoding::Pair Encoding::load(const Memory& memory, const Tensor& t) const {
  std::vector<Bool> cells[2];
  for (const Pair& storage : memory)
    for (std::size_t c = 0; c < 2; ++c) cells[c].push_back(storage[c]);
  const Bool first = select(t.storage, cells[0]), second = select(t.storage, cells[1]);
  return {logic_.choose(cell_of(t, 0), second, first), logic_.choose(cell_of(t, 1), second, first)};
}

void Encoding::store(Memory& memory, const Tensor& t, const Pair& elements, const Bool& enabled, std::size_t storages) const {
  for (std::size_t s = 0; s < storages; ++s)
    for (std::size_t c = 0; c < 2; ++c) {
      const Bool is_second = c == 0 ? t.first : logic_.no(t.first);
      memory[s][c] =
          logic_.choose(logic_.both(enabled, covers(t, s, c)), logic_.choose(is_second, elements[1], elements[0]), memory[s][c]);
    }
}

Bool Encoding::loads_differ(const Memory& a, const Tensor& in_a, const Memory& b, const Tensor& in_b) const {
  const Pair x = load(a, in_a), y = load(b, in_b);
  return logic_.either(logic_.differ(x[0], y[0]), logic_.differ(x[1], y[1]));
}

/// What a node writes. `copied` are the elements that it holds if it `copies`; if not `right` it writes poison.
void Encoding::step(Memory& memory, std::size_t n, const std::vector<Tensor>& tensors, const Pair& copied, const Bool& copies,
                    const Bool& right) const {
  const SymbolicNode& x = node[n];
  const std::size_t home = kPlaceholders + n;
  const auto named = [&](std::size_t field) {
    const auto content = [&](std::size_t e) { return logic_.choose(right, name(home, field, e), poison(home, e)); };
    return Pair{content(0), content(1)};
  };
  store(memory, select(x.a, tensors), named(0), logic_.either(x.is(Kind::in_place), logic_.both(x.is(Kind::opaque), x.writes_a)),
        home);
  store(memory, select(x.b, tensors), named(1), logic_.both(x.is(Kind::opaque), x.writes_b), home);
  const Pair fresh = named(2);
  for (std::size_t c = 0; c < 2; ++c) memory[home][c] = logic_.choose(copies, copied[c], fresh[c]);
}

void Encoding::run_as_written() {
  memory_.push_back(initial());
  for (std::size_t n = 0; n < count_; ++n) {
    const SymbolicNode& x = node[n];
    Memory next = memory_.back();
    const Bool copies = logic_.either(x.is(Kind::view_copy), logic_.both(x.is(Kind::may_alias), logic_.no(x.aliases)));
    step(next, n, written_, load(next, select(x.a, written_)), copies, logic_.constant(true));
    memory_.push_back(std::move(next));
  }
}

/// What the readers read: their value at the end of the run as written.
Encoding::Pair Encoding::meant(std::size_t r) const { return load(memory_.back(), select(reader[r].value, written_)); }

/// Reads and copies of one slot. A reader that reads something else is a claim of its own; a copy then stores poison or, where
/// the claims are assumed one after the other, what is meant.
void Encoding::run_slot(Memory& memory, std::size_t slot) {
  std::vector<std::vector<Bool>> wrong(kReaders);
  for (std::size_t p = kPoints * slot; p < kPoints * (slot + 1); ++p) {
    for (std::size_t r = 0; r < kReaders; ++r) {
      const Pair now = load(memory, select(reader[r].value, placed_));
      const Bool here = at(reader_moment(r), p);
      for (std::size_t e = 0; e < 2; ++e) {
        wrong[r].push_back(logic_.both(here, logic_.differ(now[e], read_[r][e])));
        if (writes_ == Writes::faithful) read_[r][e] = logic_.choose(here, now[e], read_[r][e]);
      }
    }
    if (!is_copy_point(p)) continue;
    for (std::size_t k = 0; k < kCopies; ++k)
      store(memory, target_[k], read_[k], logic_.both(at(done[k], p), logic_.no(copy[k].dropped)), 2);
  }
  for (std::size_t r = 0; r < kReaders; ++r)
    claim(fmt::format("slot {}, reader {}", slot, r), logic_.both(needed(r), logic_.any(wrong[r])));
}

/// The reader reads something at all: a dropped copy does not, nor an output that is not there.
Bool Encoding::needed(std::size_t r) const { return r < kCopies ? logic_.no(copy[r].dropped) : logic_.any(reader[r].value); }

/// Some live node reads the cell from slot n on, or a reader that has not read yet does.
Bool Encoding::wanted(std::size_t storage, std::size_t cell, std::size_t slot) const {
  std::vector<Bool> why;
  for (std::size_t m = slot; m < count_; ++m) {
    why.push_back(logic_.all({live_[m], reads_a(m), covers(select(node[m].a, written_), storage, cell)}));
    why.push_back(logic_.all({live_[m], reads_b(m), covers(select(node[m].b, written_), storage, cell)}));
  }
  for (std::size_t r = 0; r < kReaders; ++r) {
    const Bool has_read = slot == 0 ? logic_.constant(false) : before_node(reader_moment(r), slot - 1);
    why.push_back(logic_.all({needed(r), logic_.no(has_read), covers(select(reader[r].value, written_), storage, cell)}));
  }
  return logic_.any(why);
}

/// What a cell of the run as written is in the placed run: the storage of a lowered view_copy lies in its root's.
Bool Encoding::counterpart(const Memory& memory, std::size_t storage, std::size_t cell) const {
  if (storage < kPlaceholders) return memory[storage][cell];
  const SymbolicNode& owner = node[storage - kPlaceholders];
  return logic_.choose(logic_.both(owner.is(Kind::view_copy), owner.lowered), load(memory, placed_[storage])[cell],
                       memory[storage][cell]);
}

/// The invariant of the placed run: every cell that is still wanted holds what it holds in the run as written.
void Encoding::claim_invariant(const Memory& memory, std::size_t slot) {
  std::vector<Bool> broken;
  for (std::size_t s = 0; s < kPlaceholders + slot; ++s)
    for (std::size_t c = 0; c < 2; ++c)
      broken.push_back(logic_.both(wanted(s, c, slot), logic_.differ(memory_[slot][s][c], counterpart(memory, s, c))));
  claim(fmt::format("cells before slot {}", slot), logic_.any(broken));
}

/// What a reader has read is not written any more.
void Encoding::claim_final(std::size_t n) {
  std::vector<Bool> broken;
  for (std::size_t r = 0; r < kReaders; ++r) {
    const Tensor value = select(reader[r].value, written_);
    broken.push_back(
        logic_.all({needed(r), before_node(reader_moment(r), n), loads_differ(memory_[n], value, memory_[n + 1], value)}));
  }
  claim(fmt::format("values final before node {}", n), logic_.any(broken));
}

void Encoding::run_node(Memory& memory, std::size_t n) {
  const SymbolicNode& x = node[n];
  const Tensor source = select(logic_.both(x.is(Kind::view_copy), x.rebased), select(x.a, root_), select(x.a, placed_));
  const Bool copies = logic_.either(logic_.both(x.is(Kind::view_copy), logic_.no(x.lowered)),
                                    logic_.both(x.is(Kind::may_alias), logic_.no(x.aliases)));
  const Bool wrong_a = loads_differ(memory_[n], select(x.a, written_), memory, source);
  const Bool wrong_b = loads_differ(memory_[n], select(x.b, written_), memory, select(x.b, placed_));
  const Bool wrong = logic_.either(logic_.all({reads_a(n), logic_.no(copies), logic_.no(x.is(Kind::view_copy)), wrong_a}),
                                   logic_.both(reads_b(n), wrong_b));
  claim(fmt::format("node {}", n), logic_.both(live_[n], logic_.either(wrong, logic_.both(copies, wrong_a))));
  step(memory, n, placed_, load(memory, source), copies, writes_ == Writes::assumed ? live_[n] : logic_.no(wrong));
}

void Encoding::run_placed() {
  for (std::size_t r = 0; r < kReaders; ++r) read_.push_back(meant(r));
  const std::vector<Pair> right = read_;
  for (std::size_t n = count_; n-- > 0;) claim_final(n);
  Memory memory = initial();
  for (std::size_t n = 0; n < count_; ++n) {
    run_slot(memory, n);
    run_node(memory, n);
    claim_invariant(memory, n + 1);
  }
  run_slot(memory, count_);

  // The end as it is meant: all values are read, then the targets are written in output order.
  Memory end = memory_.back();
  for (std::size_t k = 0; k < kCopies; ++k) store(end, target_[k], right[k], logic_.constant(true), 2);
  std::vector<Bool> bad;
  for (std::size_t s = 0; s < kPlaceholders; ++s)
    for (std::size_t c = 0; c < 2; ++c) bad.push_back(logic_.differ(end[s][c], memory[s][c]));
  const Pair output = load(memory, select(reader[kCopies].value, placed_));
  for (std::size_t e = 0; e < 2; ++e)
    bad.push_back(logic_.all({needed(kCopies), logic_.no(output_first), logic_.differ(right[kCopies][e], output[e])}));
  for (std::size_t k = 0; k < kCopies; ++k) bad.push_back(is_trap(k));
  claim("end", logic_.any(bad));
}

/// A copy whose source overlaps its target without being it.
Bool Encoding::is_trap(std::size_t k) const {
  const Tensor value = select(reader[k].value, placed_);
  std::vector<Bool> overlap;
  for (std::size_t s = 0; s < 2; ++s)
    for (std::size_t c = 0; c < 2; ++c) overlap.push_back(logic_.both(covers(value, s, c), covers(target_[k], s, c)));
  return logic_.all(
      {logic_.no(copy[k].dropped), logic_.no(copy[k].has_temporary), logic_.any(overlap), logic_.no(same(value, target_[k]))});
}

// ---- accept -------------------------------------------------------------------------------------------------------------------

Entry Encoding::entry(const Tensor& t, const std::vector<Bool>& storage, const Bool& enabled) const {
  Entry e{{}, storage, t.chain};
  for (std::size_t s = 0; s < values(); ++s)
    for (std::size_t c = 0; c < 2; ++c) e.cells.push_back(logic_.both(enabled, covers(t, s, c)));
  return e;
}

Encoding::Cells Encoding::cells(const std::vector<Bool>& value, const Bool& enabled) const {
  const Tensor written = select(value, written_);
  return {{entry(written, written.storage, enabled)},
          {entry(select(value, placed_), written.storage, logic_.both(enabled, select(value, by_lowering_)))}};
}

Bool Encoding::reads_a(std::size_t n) const {
  const SymbolicNode& x = node[n];
  return logic_.any({logic_.both(logic_.either(x.is(Kind::fresh), x.is(Kind::in_place)), x.reads_a), x.is(Kind::opaque),
                     x.is(Kind::view_copy), logic_.both(x.is(Kind::may_alias), logic_.no(x.aliases))});
}

Bool Encoding::reads_b(std::size_t n) const {
  const SymbolicNode& x = node[n];
  return logic_.either(x.is(Kind::opaque), logic_.both(logic_.either(x.is(Kind::fresh), x.is(Kind::in_place)), x.reads_b));
}

/// A view_copy of a view_copy may read the root of the chain.
Entry Encoding::rebased(std::size_t n) const {
  return entry(select(node[n].a, root_), select(node[n].a, written_).storage, node[n].is(Kind::view_copy));
}

Encoding::NodeCells Encoding::node_cells(std::size_t n) const {
  const SymbolicNode& x = node[n];
  const Bool writes_a = logic_.either(x.is(Kind::in_place), logic_.both(x.is(Kind::opaque), x.writes_a));
  const Bool writes_b = logic_.both(x.is(Kind::opaque), x.writes_b);
  NodeCells all{live_[n], cells(x.a, reads_a(n)), cells(x.a, writes_a)};
  const auto add = [](Cells& to, const Cells& more) {
    to.plain.insert(to.plain.end(), more.plain.begin(), more.plain.end());
    to.lowered.insert(to.lowered.end(), more.lowered.begin(), more.lowered.end());
  };
  add(all.reads, cells(x.b, reads_b(n)));
  add(all.writes, cells(x.b, writes_b));
  all.reads.lowered.push_back(rebased(n));
  return all;
}

/// The storage in which the value lies as written is there before node n.
Bool Encoding::born_before(const std::vector<Bool>& value, std::size_t n) const {
  const std::vector<Bool> storage = select(value, written_).storage;
  return logic_.any({storage.begin(), storage.begin() + static_cast<std::ptrdiff_t>(kPlaceholders + n)});
}

void Encoding::require_readers_accepted(std::size_t r) {
  const Bool yes = logic_.constant(true), parallel = logic_.constant(false);
  const bool is_output = r == kCopies;
  const Bool reads = needed(r);
  const Cells value = cells(reader[r].value, yes);
  const Moment moment = reader_moment(r);
  for (std::size_t n = 0; n < count_; ++n) {
    const Bool after = impl::read_after_node(domain_, value, touched_[n], reader[r].value[kPlaceholders + n]);
    const Bool before = impl::read_before_node(domain_, value, touched_[n], born_before(reader[r].value, n));
    require(logic_.implies(logic_.both(reads, after), logic_.no(before_node(moment, n))));
    require(logic_.implies(logic_.both(reads, before), before_node(moment, n)));
  }
  for (std::size_t k = 0; k < kCopies; ++k) {
    if (k == r) continue;
    const Bool conflict = is_output ? impl::output_before_write(domain_, value, cells_of_target(k), parallel)
                                    : impl::read_before_write(domain_, value, cells_of_target(k), logic_.constant(r < k), parallel);
    require(logic_.implies(logic_.all({reads, logic_.no(copy[k].dropped), conflict}), before(moment, done[k])));
  }
}

void Encoding::require_copy_accepted(std::size_t k) {
  const Bool yes = logic_.constant(true);
  const Bool kept = logic_.no(copy[k].dropped);
  const BoundedDomain::Set target = cells_of_target(k);
  const Tensor written = select(reader[k].value, written_), placed = select(reader[k].value, placed_);
  const Cells value = cells(reader[k].value, yes);
  const Bool is_written = same(written, target_[k]), is_placed = same(placed, target_[k]);
  for (std::size_t n = 0; n < count_; ++n) {
    // Where the value is the target by a choice, what is reached through the same choice is the value itself: nothing changes.
    NodeCells touched = unless(touched_[n], is_written, written.chain);
    touched = unless(touched, logic_.both(is_placed, logic_.no(is_written)), placed.chain);
    require(
        logic_.implies(logic_.both(kept, impl::write_after_node(domain_, target, touched)), logic_.no(before_node(done[k], n))));
    require(logic_.no(
        logic_.both(copy[k].dropped, impl::must_be_copied_before(domain_, value, touched_[n], born_before(reader[k].value, n)))));
  }
  require(logic_.implies(copy[k].dropped, logic_.no(impl::must_be_copied(domain_, logic_.both(is_written, is_placed)))));
  const Cells beside{{entry(written, written.storage, logic_.no(is_written))},
                     {entry(placed, written.storage, logic_.both(select(reader[k].value, by_lowering_), logic_.no(is_placed)))}};
  require(logic_.implies(logic_.both(kept, impl::must_use_temporary(domain_, beside, target)), copy[k].has_temporary));
}

/// What a node touches, without its reads of tensors that lie where they do through all choices of a chain (of one at least).
Encoding::NodeCells Encoding::unless(NodeCells touched, const Bool& condition, const std::vector<Bool>& chain) const {
  const Bool limited = logic_.both(condition, logic_.any(chain));
  for (BoundedDomain::Set* set : {&touched.reads.plain, &touched.reads.lowered})
    for (Entry& e : *set) {
      std::vector<Bool> same_way{limited};
      for (std::size_t m = 0; m < count_; ++m) same_way.push_back(logic_.implies(chain[m], e.chain[m]));
      for (Bool& cell : e.cells) cell = logic_.both(logic_.no(logic_.all(same_way)), cell);
    }
  return touched;
}

void Encoding::require_accepted() {
  for (std::size_t n = 0; n < count_; ++n) touched_.push_back(node_cells(n));
  for (std::size_t r = 0; r < kReaders; ++r) require_readers_accepted(r);
  for (std::size_t k = 0; k < kCopies; ++k) require_copy_accepted(k);
  const BoundedDomain::Set first = cells_of_target(0), second = cells_of_target(1);
  const Bool first_kept = logic_.no(copy[0].dropped), second_kept = logic_.no(copy[1].dropped);
  require(logic_.implies(logic_.all({first_kept, second_kept, impl::write_before_write(domain_, first, second)}),
                         before(done[0], done[1])));
  require(logic_.no(logic_.all({first_kept, copy[1].dropped, impl::must_be_copied_after(domain_, second, first)})));
}

void Encoding::require_no_lowering_hazard() {
  for (std::size_t w = 0; w < count_; ++w) {
    for (std::size_t n = w + 1; n < count_; ++n) {
      const std::vector<Bool>&a = node[n].a, &b = node[n].b;
      Cells read_a = cells(a, reads_a(n));
      read_a.lowered.push_back(rebased(n));
      require(logic_.no(impl::node_sees_lowering(domain_, live_[n], read_a, touched_[w], born_before(a, w))));
      require(logic_.no(impl::node_sees_lowering(domain_, live_[n], cells(b, reads_b(n)), touched_[w], born_before(b, w))));
      const Bool link = logic_.both(live_[n], node[n].is(Kind::view_copy));
      Cells chain = cells(a, is_view_copy(a));
      chain.lowered.push_back(rebased(n));
      require(logic_.no(impl::rebased_read(domain_, logic_.both(link, is_view_copy(a)), chain, touched_[w], born_before(a, w))));
    }
    for (std::size_t s = 0; s < kPlaceholders; ++s)
      require(logic_.no(impl::input_sees_lowering(domain_, {untouched(s)}, touched_[w])));
  }
}

/// The cells of a placeholder's storage that no copy writes.
Entry Encoding::untouched(std::size_t storage) const {
  Entry e{std::vector<Bool>(2 * values(), logic_.constant(false)), std::vector<Bool>(values(), logic_.constant(false)),
          std::vector<Bool>(count_, logic_.constant(false))};
  e.storage[storage] = logic_.constant(true);
  for (std::size_t c = 0; c < 2; ++c)
    e.cells[2 * storage + c] = logic_.no(logic_.either(covers(target_[0], storage, c), covers(target_[1], storage, c)));
  return e;
}

BoundedDomain::Set Encoding::cells_of_target(std::size_t k) const {
  return {entry(target_[k], target_[k].storage, logic_.constant(true))};
}

Bool Encoding::is_view_copy(const std::vector<Bool>& value) const {
  std::vector<Bool> terms;
  for (std::size_t v = kPlaceholders; v < value.size(); ++v)
    terms.push_back(logic_.both(value[v], node[v - kPlaceholders].is(Kind::view_copy)));
  return logic_.any(terms);
}

}  // namespace writeback::proofs
