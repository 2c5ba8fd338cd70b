// What `accept` demands, over the symbolic program (encoding.h): the predicates of impl/rules.h, asked of every pair of events as
// impl/accept.cpp asks them.
#include "proofs/encoding.h"

namespace writeback::proofs {

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
  const std::size_t home = kPlaceholders + n;
  all.writes.lowered.push_back(entry(placed_[home], written_[home].storage, x.shares));
  return all;
}

/// The storage in which the value lies as written is there before node n.
Bool Encoding::born_before(const std::vector<Bool>& value, std::size_t n) const {
  const std::vector<Bool> storage = select(value, written_).storage;
  return logic_.any({storage.begin(), storage.begin() + static_cast<std::ptrdiff_t>(kPlaceholders + n)});
}

void Encoding::require_readers_accepted(std::size_t r) {
  const Bool yes = logic_.constant(true), parallel = logic_.constant(false);
  const bool is_output = r >= kCopies;
  const Bool reads = needed(r);
  const Cells value = cells(reader[r].value, yes);
  const Moment moment = reader_moment(r);
  for (std::size_t n = 0; n < count_; ++n) {
    const Bool after = impl::read_after_node(domain_, value, touched_[n], reader[r].value[kPlaceholders + n]);
    const Bool before = impl::read_before_node(domain_, value, touched_[n], born_before(reader[r].value, n));
    require_at(n, logic_.implies(logic_.both(reads, after), logic_.no(before_node(moment, n))));
    require_at(n, logic_.implies(logic_.both(reads, before), before_node(moment, n)));
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
    // Not once lowering has changed the value: the copy then brings back what it was.
    const Bool stays = logic_.no(changed_by_lowering(k, n));
    NodeCells touched = unless(touched_[n], logic_.both(is_written, stays), written.chain);
    touched = unless(touched, logic_.all({is_placed, logic_.no(is_written), stays}), placed.chain);
    require(
        logic_.implies(logic_.both(kept, impl::write_after_node(domain_, target, touched)), logic_.no(before_node(done[k], n))));
    require_at(n, logic_.no(logic_.both(
                      copy[k].dropped, impl::must_be_copied_before(domain_, value, touched_[n], born_before(reader[k].value, n)))));
  }
  require(logic_.implies(copy[k].dropped, logic_.no(impl::must_be_copied(domain_, logic_.both(is_written, is_placed)))));
  const Cells beside{{entry(written, written.storage, logic_.no(is_written))},
                     {entry(placed, written.storage, logic_.both(select(reader[k].value, by_lowering_), logic_.no(is_placed)))}};
  require(logic_.implies(logic_.both(kept, impl::must_use_temporary(domain_, beside, target)), copy[k].has_temporary));
}

/// A node before node `end` changes the value of a reader through a lowering choice only.
Bool Encoding::changed_by_lowering(std::size_t r, std::size_t end) const {
  std::vector<Bool> nodes;
  const Cells value = cells(reader[r].value, logic_.constant(true));
  for (std::size_t n = 0; n < end; ++n)
    nodes.push_back(impl::read_before_node(domain_, value, touched_[n], born_before(reader[r].value, n)));
  return logic_.any(nodes);
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
      require_at(w, logic_.no(impl::node_sees_lowering(domain_, live_[n], read_a, touched_[w], born_before(a, w))));
      require_at(w, logic_.no(impl::node_sees_lowering(domain_, live_[n], cells(b, reads_b(n)), touched_[w], born_before(b, w))));
      const Bool link = logic_.both(live_[n], node[n].is(Kind::view_copy));
      Cells chain = cells(a, is_view_copy(a));
      chain.lowered.push_back(rebased(n));
      require_at(w,
                 logic_.no(impl::rebased_read(domain_, logic_.both(link, is_view_copy(a)), chain, touched_[w], born_before(a, w))));
    }
    for (std::size_t s = 0; s < kPlaceholders; ++s)
      require_at(w, logic_.no(impl::input_sees_lowering(domain_, {untouched(s)}, touched_[w])));
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
