// The two runs of the symbolic program (encoding.h): as written, and placed and lowered. They go forward side by side, one slot and
// one node at a time.
#include <fmt/format.h>

#include "proofs/encoding.h"

namespace writeback::proofs {

// ---- what cells hold ----------------------------------------------------------------------------------------------------------

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

/// Memories of which nothing is known, with the storages that are there at that time.
Encoding::State Encoding::any_state(Time t) const {
  const auto any = [&](const char* run) {
    Memory memory(values(), {logic_.constant(false), logic_.constant(false)});
    for (std::size_t s = 0; s < kPlaceholders + t.node; ++s)
      for (std::size_t c = 0; c < 2; ++c)
        memory[s][c] = logic_.variable(fmt::format("{} {}{}.{}.{}", run, t.node, t.slot_is_over ? "+" : "", s, c));
    return memory;
  };
  return {any("written"), any("placed")};
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
    for (std::size_t c = 0; c < 2; ++c)
      memory[s][c] = logic_.choose(logic_.both(enabled, covers(t, s, c)), element_at(t, elements, c), memory[s][c]);
}

/// The element of a tensor at a cell that it covers.
Bool Encoding::element_at(const Tensor& t, const Pair& elements, std::size_t cell) const {
  return logic_.choose(cell == 0 ? t.first : logic_.no(t.first), elements[1], elements[0]);
}

Bool Encoding::differ(const Pair& x, const Pair& y) const {
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
  store(memory, tensors[home], fresh, x.shares, home);  // as written that is no other storage
}

void Encoding::step_as_written(Memory& memory, std::size_t n) const {
  const SymbolicNode& x = node[n];
  const Bool copies = logic_.either(x.is(Kind::view_copy), logic_.both(x.is(Kind::may_alias), logic_.no(x.aliases)));
  step(memory, n, written_, load(memory, select(x.a, written_)), copies, logic_.constant(true));
}

// ---- what holds between the two runs ------------------------------------------------------------------------------------------

/// The reader reads something at all: a dropped copy does not, nor an output that is not there.
Bool Encoding::needed(std::size_t r) const { return r < kCopies ? logic_.no(copy[r].dropped) : logic_.any(reader[r].value); }

Bool Encoding::over(const Moment& m, Time t) const {
  if (t.slot_is_over) return before_node(m, t.node);
  return t.node == 0 ? logic_.constant(false) : before_node(m, t.node - 1);
}

Bool Encoding::has_read(std::size_t r, Time t) const { return over(reader_moment(r), t); }

/// A kept copy has written the cell of a placeholder.
Bool Encoding::stores(std::size_t k, std::size_t storage, std::size_t cell, Time t) const {
  return logic_.all({logic_.no(copy[k].dropped), covers(target_[k], storage, cell), over(done[k], t)});
}

/// What a node will read as written, and what lies there in the placed run; for a view_copy also what its root holds, since it may
/// be re-based.
Bool Encoding::operands_differ(const State& state, std::size_t n, Time t) const {
  const SymbolicNode& x = node[n];
  const Tensor a = select(x.a, written_);
  const Bool computed = logic_.any({x.a.begin(), x.a.begin() + static_cast<std::ptrdiff_t>(kPlaceholders + t.node)});
  const Bool differs = logic_.any(
      {logic_.both(reads_a(n), tensors_differ(state, x.a, t)), logic_.both(reads_b(n), tensors_differ(state, x.b, t)),
       logic_.all({x.is(Kind::view_copy), computed, differ(load(state.written, a), load(state.placed, select(x.a, root_)))})});
  return logic_.both(live_[n], differs);
}

/// A value whose content is there holds something else in the placed run.
Bool Encoding::tensors_differ(const State& state, const std::vector<Bool>& value, Time t) const {
  return logic_.both(born_before(value, t.node),
                     differ(load(state.written, select(value, written_)), load(state.placed, select(value, placed_))));
}

/// What a reader has still to read.
Bool Encoding::reader_differs(const State& state, std::size_t r, Time t) const {
  return logic_.all({needed(r), logic_.no(has_read(r, t)), tensors_differ(state, reader[r].value, t)});
}

/// An input's cell that no copy writes ends as the nodes leave it.
Bool Encoding::inputs_differ(const State& state) const {
  std::vector<Bool> broken;
  for (std::size_t s = 0; s < kPlaceholders; ++s)
    for (std::size_t c = 0; c < 2; ++c) {
      std::vector<Bool> copied;
      for (std::size_t k = 0; k < kCopies; ++k) copied.push_back(logic_.both(logic_.no(copy[k].dropped), covers(target_[k], s, c)));
      broken.push_back(logic_.both(logic_.no(logic_.any(copied)), logic_.differ(state.written[s][c], state.placed[s][c])));
    }
  return logic_.any(broken);
}

/// A cell that a copy has written holds what the last one wrote.
Bool Encoding::targets_differ(const State& state, Time t) const {
  std::vector<Bool> broken;
  for (std::size_t s = 0; s < kPlaceholders; ++s)
    for (std::size_t c = 0; c < 2; ++c) {
      const Bool first = stores(0, s, c, t), second = stores(1, s, c, t);
      const Bool stored = logic_.choose(second, element_at(target_[1], meant_[1], c), element_at(target_[0], meant_[0], c));
      broken.push_back(logic_.both(logic_.either(first, second), logic_.differ(state.placed[s][c], stored)));
    }
  return logic_.any(broken);
}

/// A value that no lowering changes and that has been read stays as it was read, until a copy overwrites it; so two such values
/// that share a cell have it in common.
Bool Encoding::values_moved(const State& state, Time t) const {
  std::vector<Bool> broken;
  for (std::size_t s = 0; s < kPlaceholders; ++s)
    for (std::size_t c = 0; c < 2; ++c) {
      std::vector<Bool> read, element;
      for (std::size_t r = 0; r < kCopies; ++r) {
        const Tensor value = select(reader[r].value, placed_);
        read.push_back(logic_.all({needed(r), has_read(r, t), logic_.no(changed_by_lowering(r, t.node)), covers(value, s, c)}));
        element.push_back(element_at(value, meant_[r], c));
        broken.push_back(logic_.all({read[r], logic_.no(logic_.either(stores(0, s, c, t), stores(1, s, c, t))),
                                     logic_.differ(state.placed[s][c], element[r])}));
      }
      broken.push_back(logic_.all({read[0], read[1], logic_.differ(element[0], element[1])}));
    }
  return logic_.any(broken);
}

/// A value that has been read, at the end any, does not hold what its reader should read.
Bool Encoding::value_differs(const State& state, std::size_t r, Time t) const {
  const Bool final = t.node == count_ ? logic_.constant(true) : logic_.both(needed(r), has_read(r, t));
  return logic_.both(final, differ(load(state.written, select(reader[r].value, written_)), meant_[r]));
}

Bool Encoding::values_differ(const State& state, Time t) const {
  std::vector<Bool> broken;
  for (std::size_t r = 0; r < kReaders; ++r) broken.push_back(value_differs(state, r, t));
  return logic_.any(broken);
}

// ---- the steps ----------------------------------------------------------------------------------------------------------------

/// Reads and copies of one slot. A copy then stores what it has read or, where the claims are assumed one after the other, what it
/// should.
void Encoding::run_slot(State& state, std::size_t slot) {
  std::vector<std::vector<Bool>> wrong(kReaders);
  for (std::size_t p = kPoints * slot; p < kPoints * (slot + 1); ++p) {
    for (std::size_t r = 0; r < kReaders; ++r) {
      const Pair now = load(state.placed, select(reader[r].value, placed_));
      const Bool here = at(reader_moment(r), p);
      wrong[r].push_back(logic_.both(here, differ(now, meant_[r])));
      if (writes_ == Writes::faithful)
        for (std::size_t e = 0; e < 2; ++e) read_[r][e] = logic_.choose(here, now[e], read_[r][e]);
    }
    if (!is_copy_point(p)) continue;
    for (std::size_t k = 0; k < kCopies; ++k)
      store(state.placed, target_[k], read_[k], logic_.both(at(done[k], p), logic_.no(copy[k].dropped)), 2);
  }
  for (std::size_t r = 0; r < kReaders; ++r)
    claim(fmt::format("slot {}, reader {}", slot, r), logic_.both(needed(r), logic_.any(wrong[r])));
}

void Encoding::run_node(State& state, std::size_t n) {
  const SymbolicNode& x = node[n];
  const Tensor source = select(logic_.both(x.is(Kind::view_copy), x.rebased), select(x.a, root_), select(x.a, placed_));
  const Bool copies = logic_.either(logic_.both(x.is(Kind::view_copy), logic_.no(x.lowered)),
                                    logic_.both(x.is(Kind::may_alias), logic_.no(x.aliases)));
  const Bool wrong_a = differ(load(state.written, select(x.a, written_)), load(state.placed, source));
  const Bool wrong_b = differ(load(state.written, select(x.b, written_)), load(state.placed, select(x.b, placed_)));
  const Bool wrong = logic_.either(logic_.all({reads_a(n), logic_.no(copies), logic_.no(x.is(Kind::view_copy)), wrong_a}),
                                   logic_.both(reads_b(n), wrong_b));
  claim(fmt::format("node {}", n), logic_.both(live_[n], logic_.either(wrong, logic_.both(copies, wrong_a))));
  step(state.placed, n, placed_, load(state.placed, source), copies, writes_ == Writes::assumed ? live_[n] : logic_.no(wrong));
  step_as_written(state.written, n);
}

/// The end as it is meant: all values are read, then the targets are written in output order.
Bool Encoding::ends_differ(const State& state) const {
  Memory end = state.written;
  for (std::size_t k = 0; k < kCopies; ++k) store(end, target_[k], meant_[k], logic_.constant(true), 2);
  std::vector<Bool> bad;
  for (std::size_t s = 0; s < kPlaceholders; ++s) bad.push_back(differ(end[s], state.placed[s]));
  for (std::size_t r = kCopies; r < kReaders; ++r) {
    const Pair output = load(state.placed, select(reader[r].value, placed_));
    bad.push_back(logic_.all({needed(r), logic_.no(output_first[r - kCopies]), differ(meant_[r], output)}));
  }
  for (std::size_t k = 0; k < kCopies; ++k) bad.push_back(is_trap(k));
  return logic_.any(bad);
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

void Encoding::run_whole() {
  State state{initial(), initial()};
  for (std::size_t n = 0; n < count_; ++n) {
    run_slot(state, n);
    run_node(state, n);
  }
  run_slot(state, count_);
  require(logic_.no(values_differ(state, after_slot(count_))));
  claim("end", ends_differ(state));
}

/// A tensor lies in one storage, and in the placed run it lies where that storage lies.
void Encoding::establish_layout() {
  for (std::size_t v = kPlaceholders; v < values(); ++v) {
    const Tensor &written = written_[v], &placed = placed_[v];
    const auto end = static_cast<std::ptrdiff_t>(v) + 1;
    std::vector<Bool> facts{logic_.exactly_one({written.storage.begin(), written.storage.begin() + end}),
                            logic_.exactly_one({placed.storage.begin(), placed.storage.begin() + end}),
                            logic_.same(written.half, placed.half)};
    for (std::size_t s = 0; s < v; ++s) {
      const bool is_input = s < kPlaceholders;
      std::vector<Bool> moves_along;
      for (std::size_t t = 0; t <= v; ++t)
        moves_along.push_back(logic_.same(placed.storage[t], is_input ? logic_.constant(s == t) : placed_[s].storage[t]));
      moves_along.push_back(logic_.same(
          placed.first, is_input ? written.first : logic_.choose(written.first, cell_of(placed_[s], 1), cell_of(placed_[s], 0))));
      moves_along.push_back(logic_.same(by_lowering_[v], is_input ? logic_.constant(false) : by_lowering_[s]));
      facts.push_back(logic_.implies(written.storage[s], logic_.all(moves_along)));
    }
    establish(fmt::format("layout of node {}", v - kPlaceholders), logic_.all(facts));
  }
}

/// A value is computed before it is read.
void Encoding::establish_order() {
  for (std::size_t n = 0; n < count_; ++n) {
    std::vector<Bool> early;
    for (std::size_t r = 0; r < kReaders; ++r)
      early.push_back(logic_.all({needed(r), reader[r].value[kPlaceholders + n], before_node(reader_moment(r), n)}));
    give(at_node_[n]);
    establish(fmt::format("order of node {}", n), logic_.no(logic_.any(early)));
  }
}

/// One step at a time, a slot or a node, from any two memories that the invariant allows.
void Encoding::run_by_steps() {
  establish_layout();
  establish_order();
  // Backwards: a value that has been read is not written any more. Together: before node n it holds what it holds at the end.
  for (std::size_t n = count_; n-- > 0;)
    for (std::size_t r = 0; r < kReaders; ++r) {
      State state = any_state(after_slot(n));
      const Bool before = value_differs(state, r, after_slot(n));
      step_as_written(state.written, n);
      given_ = facts_;
      give({logic_.no(value_differs(state, r, after_slot(n + 1)))});
      give(at_node_[n]);
      claim(fmt::format("reader {}, value before node {}", r, n), before);
    }
  given_ = facts_;
  claim_invariant({initial(), initial()}, before_slot(0));
  for (std::size_t n = 0; n <= count_; ++n) {
    State state = any_state(before_slot(n));
    give_invariant(state, before_slot(n));
    give({logic_.no(values_differ(state, after_slot(n)))});
    run_slot(state, n);
    claim_invariant(state, after_slot(n));
    state = any_state(after_slot(n));
    give_invariant(state, after_slot(n));
    give({logic_.no(values_differ(state, after_slot(n)))});
    if (n == count_) {
      claim("end", ends_differ(state));
      break;
    }
    give(at_node_[n]);
    run_node(state, n);
    claim_invariant(state, before_slot(n + 1));
  }
}

/// What relates the two runs at any time.
std::vector<std::pair<std::string, Bool>> Encoding::invariant_broken(const State& state, Time t) const {
  std::vector<std::pair<std::string, Bool>> broken{
      {"inputs", inputs_differ(state)}, {"targets", targets_differ(state, t)}, {"values in place", values_moved(state, t)}};
  for (std::size_t n = t.node; n < count_; ++n)
    broken.emplace_back(fmt::format("operands of node {}", n), operands_differ(state, n, t));
  for (std::size_t r = 0; r < kReaders; ++r) broken.emplace_back(fmt::format("value of reader {}", r), reader_differs(state, r, t));
  return broken;
}

void Encoding::give(const std::vector<Bool>& more) { given_.insert(given_.end(), more.begin(), more.end()); }

void Encoding::give_invariant(const State& state, Time t) {
  given_ = facts_;
  for (const auto& [name, broken] : invariant_broken(state, t)) give({logic_.no(broken)});
}

void Encoding::claim_invariant(const State& state, Time t) {
  for (const auto& [name, broken] : invariant_broken(state, t))
    claim(fmt::format("{} slot {}, {}", t.slot_is_over ? "after" : "before", t.node, name), broken);
}

/// What must never hold, given what has been claimed before in this step.
void Encoding::claim(std::string name, const Bool& broken) {
  claims_.push_back({std::move(name), given_, broken});
  given_.push_back(logic_.no(broken));
}

/// A claim on which all later ones may build.
void Encoding::establish(std::string name, const Bool& fact) {
  claim(std::move(name), logic_.no(fact));
  facts_.push_back(fact);
  given_ = facts_;
}

}  // namespace writeback::proofs
