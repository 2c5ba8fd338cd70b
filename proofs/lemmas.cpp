#include "proofs/lemmas.h"

#include "proofs/goal.h"

namespace writeback::proofs {
namespace {

using z3::expr;
using z3::implies;
using z3::ite;

CellDomain domain(Goal& g) { return {g, g.yes()}; }

// ---- moving events past one another (L2, L5) ----------------------------------------------------------------------------------

/// Two events commute if neither writes what the other reads or writes. Each is any function of the cells that it reads.
void two_events_commute(Goal& g) {
  const expr c = g.content("M c"), d1 = g.content("M d1"), d2 = g.content("M d2");
  struct At {
    expr reads, writes;
  };
  const auto sets = [&](const char* e, const char* cell) {
    return At{g.bit(fmt::format("{} reads {}", e, cell)), g.bit(fmt::format("{} writes {}", e, cell))};
  };
  const At e1c = sets("e1", "c"), e1d1 = sets("e1", "d1"), e1d2 = sets("e1", "d2");
  const At e2c = sets("e2", "c"), e2d1 = sets("e2", "d1"), e2d2 = sets("e2", "d2");
  const auto disjoint = [&](const At& x, const At& y) {
    g.condition("the first does not write what the second reads", !(x.writes && y.reads));
    g.condition("the second does not write what the first reads", !(x.reads && y.writes));
    g.condition("they do not write the same", !(x.writes && y.writes));
  };
  disjoint(e1c, e2c);
  disjoint(e1d1, e2d1);
  disjoint(e1d2, e2d2);
  const expr first1 = g.content("e1 first c"), late1 = g.content("e1 late c"), first2 = g.content("e2 first c"),
             late2 = g.content("e2 late c");
  const expr d1_after_e2 = ite(e2d1.writes, g.content("e2 first d1"), d1),
             d2_after_e1 = ite(e1d2.writes, g.content("e1 first d2"), d2);
  g.given((e1d1.reads && d1_after_e2 != d1) || late1 == first1);
  g.given((e2d2.reads && d2_after_e1 != d2) || late2 == first2);
  const expr one_two = ite(e2c.writes, late2, ite(e1c.writes, first1, c));
  const expr two_one = ite(e1c.writes, late1, ite(e2c.writes, first2, c));
  g.claim(one_two == two_one);
}

/// Rules 1 and 4: a value that is read at a cell gives the same before the node and after it.
void reading_moves_past_a_node(Goal& g) {
  const expr writes = g.bit("node writes c"), computes = g.bit("node computes value"), covers = g.bit("value covers c");
  const expr before = g.content("before"), written = g.content("written");
  const NodeSets node{g.bit("live"), {g.bit("node reads c"), g.no()}, {writes, g.no()}};
  g.given(covers);
  g.given(!impl::read_after_node(domain(g), CellSets{covers, g.no()}, node, computes));
  // A node that computes the value gives its cells their first content.
  g.claim(ite(writes || computes, written, before) == before);
}

/// Rules 2 and 3: the write of a copy and a live node that stands behind it may change places.
void writing_moves_past_a_live_node(Goal& g) {
  struct At {
    NodeSets node;
    expr target;
  };
  const auto at = [&](const char* cell) {
    const auto bit = [&](const char* what) { return g.bit(fmt::format("{} {}", what, cell)); };
    return At{{g.yes(), {bit("node reads"), bit("node reads by lowering")}, {bit("node writes"), bit("node writes by lowering")}},
              bit("copy writes")};
  };
  const At c = at("c"), d = at("d");
  for (const At& x : {c, d}) g.given(!impl::write_after_node(domain(g), x.target, x.node));
  const expr reads_d = d.node.reads.plain || d.node.reads.lowered, writes_c = c.node.writes.plain || c.node.writes.lowered;
  const expr memory_c = g.content("M c"), memory_d = g.content("M d"), stored_c = g.content("stored c"),
             stored_d = g.content("stored d");
  const expr first = g.content("node first c"), late = g.content("node late c");
  g.given((reads_d && ite(d.target, stored_d, memory_d) != memory_d) || late == first);
  const expr node_then_copy = ite(c.target, stored_c, ite(writes_c, first, memory_c));
  const expr copy_then_node = ite(writes_c, late, ite(c.target, stored_c, memory_c));
  g.claim(node_then_copy == copy_then_node);
}

/// Dead nodes may differ: two runs that agree but for cells that only dead nodes write agree so after the next node as well.
void dead_nodes_do_not_matter(Goal& g) {
  const expr live = g.bit("live"), reads_d = g.bit("node reads d"), writes_c = g.bit("node writes c");
  const expr dead_c = g.bit("only dead nodes write c"), dead_d = g.bit("only dead nodes write d");
  const expr c = g.content("M c"), d = g.content("M d"), other_c = g.content("other M c"), other_d = g.content("other M d");
  const expr result = g.content("result"), other_result = g.content("other result");
  g.given(implies(!dead_c, c == other_c));
  g.given(implies(!dead_d, d == other_d));
  g.given(implies(live, (reads_d && d != other_d) || result == other_result));
  g.condition("a live node reads nothing that only dead nodes write", implies(live, !(reads_d && dead_d)));
  g.condition("a dead node writes nothing but storages of its own", implies(!live && writes_c, dead_c));
  g.claim(implies(!dead_c, ite(writes_c, result, c) == ite(writes_c, other_result, other_c)));
}

// ---- copies among themselves (L3, L4, L6) -------------------------------------------------------------------------------------

/// A copy without a temporary reads and writes element by element: what element j wrote does not change what element i reads.
void a_clone_and_its_copy_fuse(Goal& g) {
  const z3::sort cell = g.context().uninterpreted_sort("Cell");
  const expr source_i = g.constant("source i", cell), source_j = g.constant("source j", cell),
             target_j = g.constant("target j", cell);
  const z3::func_decl memory = g.context().function("M", cell, g.content_sort());
  const expr exact = g.bit("value is the target"), lowered = g.bit("by lowering");
  g.given(implies(exact, source_j == target_j));
  const expr beside = source_i == target_j && !exact;  // at the cell that element j writes
  g.given(!impl::must_use_temporary(domain(g), CellSets{beside && !lowered, beside && lowered}, g.yes()));
  g.claim(ite(source_i == target_j, memory(source_j), memory(source_i)) == memory(source_i));
}

/// The last writer of a cell in output order is its last writer in the placed order.
void targets_end_in_output_order(Goal& g) {
  const expr first = g.bit("first covers c"), second = g.bit("second covers c"),
             in_order = g.bit("the first is placed before the second");
  const expr before = g.content("before"), stored = g.content("stored by first"), stored_later = g.content("stored by second");
  g.given(implies(impl::write_before_write(domain(g), first, second), in_order));
  const expr meant = ite(second, stored_later, ite(first, stored, before));
  g.claim(ite(in_order, meant, ite(first, stored, ite(second, stored_later, before))) == meant);
}

struct Reading {
  CellSets value;
  expr target, other_first;
};

/// A reader of a cell and the write of another copy. `behind`: as written it reads what that copy has stored. (What it shares with
/// the target by lowering alone it reads as it was, in every semantics.)
Reading reading(Goal& g, const expr& behind) {
  Reading r{{g.bit("value covers c"), g.bit("value covers c by lowering")},
            g.bit("copy writes c"),
            g.bit("the copy writes before the read")};
  const expr before = g.content("before"), stored = g.content("stored");
  g.given(r.value.plain || r.value.lowered);
  g.claim(ite(r.target && r.other_first, stored, before) == ite(r.target && r.value.plain && behind, stored, before));
  return r;
}

void a_copy_reads_before_others_write(Goal& g) {
  const expr sequential = g.bit("sequential semantics"), reader_first = g.bit("reader earlier in output order");
  const Reading r = reading(g, sequential && !reader_first);
  g.given(implies(impl::read_before_write(domain(g), r.value, r.target, reader_first, sequential), !r.other_first));
  g.given(implies(impl::read_after_write(domain(g), r.value, r.target, reader_first, sequential), r.other_first));
}

void an_output_is_read_before_targets_change(Goal& g) {
  const expr sequential = g.bit("sequential semantics");
  const Reading r = reading(g, sequential);
  g.given(implies(impl::output_before_write(domain(g), r.value, r.target, sequential), !r.other_first));
  g.given(implies(impl::output_after_write(domain(g), r.value, r.target, sequential), r.other_first));
}

/// From the end, in placed order, each event moves to its place: it passes only events that it does not conflict with.
void events_move_in_placed_order(Goal& g) {
  const expr placed = g.integer("place of e"), other_placed = g.integer("place of f"), at_end = g.integer("place of e at the end"),
             other_at_end = g.integer("place of f at the end");
  const expr conflict = g.bit("e and f conflict");
  g.condition("events that conflict keep their order", implies(conflict, (at_end < other_at_end) == (placed < other_placed)));
  const expr moved_before = other_placed < placed;
  g.condition("the earliest place moves first", g.bit("f has moved") == moved_before);
  // e passes f: f stands before it at the end and has not moved away to a place before e's.
  const expr passes = other_at_end < at_end && !g.bit("f has moved") && placed != other_placed;
  g.claim(implies(passes, !conflict));
}

// ---- lowering (L0) ------------------------------------------------------------------------------------------------------------

/// A value at one of its cells: x as written, y in the lowered run (the same cell if no lowering moves the value). A node writes
/// through a tensor T. Unless it reaches the value by lowering, both runs write the cell or neither does.
struct LoweredWrite {
  CellSets value;
  NodeSets writer;
  CellDomain domain;
  expr plain_value;  ///< y is one of the value's cells as written
};

LoweredWrite lowered_write(Goal& g) {
  const expr value_moved = g.bit("value is lowered"), tensor_moved = g.bit("T is lowered"),
             together = g.bit("value and T share a storage as written");
  const expr covers_x = g.bit("T covers x as written"), covers_y = g.bit("T covers y as lowered");
  g.given(implies(together, value_moved == tensor_moved));  // a storage is lowered as a whole
  g.given(implies(together, covers_x == covers_y));         // and its tensors move alike
  g.given(implies(!together, !covers_x));
  g.given(implies(!value_moved && !tensor_moved, covers_x == covers_y));  // x is y
  const expr as_written = g.content("at x"), as_lowered = g.content("at y"), stored = g.content("stored");
  g.given(as_written == as_lowered);
  g.claim(ite(covers_x, stored, as_written) == ite(covers_y, stored, as_lowered));
  return {{!value_moved, value_moved},
          {g.yes(), {g.no(), g.no()}, {covers_y && !tensor_moved, covers_y && tensor_moved}},
          {g, !together},
          !value_moved};
}

void a_live_reader_sees_no_lowering(Goal& g) {
  const LoweredWrite w = lowered_write(g);
  g.given(!impl::node_sees_lowering(w.domain, g.yes(), w.value, w.writer, g.yes()));
}

void a_copy_reads_before_its_deadline(Goal& g) {
  const LoweredWrite w = lowered_write(g);
  g.given(!impl::read_before_node(w.domain, w.value, w.writer, g.yes()));  // the read stands after the node
}

void a_value_in_place_has_no_deadline(Goal& g) {
  const LoweredWrite w = lowered_write(g);
  g.given(!impl::must_be_copied_before(w.domain, w.value, w.writer, g.yes()));
}

void an_untouched_input_sees_no_lowering(Goal& g) {
  const LoweredWrite w = lowered_write(g);
  g.given(w.plain_value);  // an input lies where it lies
  g.given(!impl::input_sees_lowering(w.domain, w.value.plain, w.writer));
}

/// A view_copy that is re-based reads the root (cell z) where it would have read the link (cell x), which is a copy of the root.
void a_rebased_view_reads_what_its_link_holds(Goal& g) {
  const expr link = g.content("at x"), root = g.content("at z");
  g.given(link == root);
  const auto written = [&](const char* cell) {
    const auto bit = [&](const char* what) { return g.bit(fmt::format("{} {}", what, cell)); };
    const CellSets chain{bit("chain covers"), bit("chain covers by lowering")};
    const NodeSets writer{g.yes(), {g.no(), g.no()}, {bit("node writes"), bit("node writes by lowering")}};
    g.given(chain.plain || chain.lowered);
    g.given(!impl::rebased_read(domain(g), g.yes(), chain, writer, g.yes()));
    return writer.writes.plain || writer.writes.lowered;
  };
  const expr at_x = written("x"), at_z = written("z");
  g.claim(ite(at_x, g.content("stored x"), link) == ite(at_z, g.content("stored z"), root));
}

// ---- copies left out, least placement, forwarding -----------------------------------------------------------------------------

/// Rule 7: without its copy the target's cell still ends with the value.
void a_dropped_copy_is_not_missed(Goal& g) {
  const expr is_target = g.bit("value is the target"), earlier = g.bit("an earlier kept copy writes c");
  const expr end = g.content("c after the nodes"), value = g.content("value at c"),
             stored = g.content("stored by the earlier copy");
  g.given(implies(is_target, value == end));
  g.given(!impl::must_be_copied(domain(g), is_target));
  g.given(!impl::must_be_copied_after(domain(g), g.yes(), earlier));
  g.claim(ite(earlier, stored, end) == value);
}

/// Our slot of a copy is the largest of its lower bounds (a node's slot, or our slot of a copy that comes first); whatever else is
/// accepted respects the same bounds. So, copy by copy along the order, it is not before ours.
void ours_is_least(Goal& g) {
  const expr bound = g.integer("slot after the last node that blocks"), ours = g.integer("our slot"),
             first = g.integer("our slot of the copy before");
  const expr other = g.integer("another slot"), other_first = g.integer("another slot of the copy before");
  g.condition("ours stands at one of its bounds", ours == bound || ours == first);
  g.condition("the other is after the node", other >= bound);
  g.condition("the other keeps the order of copies", other >= other_first);
  g.condition("the copy before is not before ours", other_first >= first);
  g.claim(other >= ours);
}

/// A temporary serves every use: between its read and the later one nobody writes the value's cells.
void one_temporary_serves_every_use(Goal& g) {
  const expr node = g.bit("a node between writes the cell"), copy = g.bit("a copy between writes the cell");
  const expr before = g.content("before"), stored = g.content("stored");
  g.condition("the temporary stands after the value's last writer", !node);
  g.condition("the temporary stands before copies that overwrite the value",
              implies(copy, g.bit("the later use reads the temporary")));
  const expr later = ite(node || copy, stored, before);
  g.claim(ite(g.bit("the later use reads the temporary"), before, later) == before);
}

/// After its copy value and target hold the same. A node then may take the target under the value's name, also to make views of it,
/// through which lowering may write: neither changes.
void a_read_may_be_forwarded(Goal& g) {
  const CellSets value{g.bit("value covers x"), g.bit("value covers x by lowering")};
  const CellSets writes{g.bit("node writes x"), g.bit("node writes x by lowering")};
  const expr copied = g.bit("a later copy writes y");
  g.given(value.plain || value.lowered);
  g.given(!impl::forward_spoiled_by_node(domain(g), value, NodeSets{g.yes(), {g.no(), g.no()}, writes}));
  g.given(!impl::forward_spoiled_by_copy(domain(g), g.yes(), copied));
  const expr writes_target = g.bit("node writes y");
  g.condition("nodes that write the target stand before the copy", !writes_target);
  g.condition("nodes that write the value stand before the copy", !(value.plain && writes.plain));
  const expr forwarded = g.bit("the node has it under the target's name"), stored = g.content("stored by the copy"),
             written = g.content("written by the node");
  const expr hits = writes.plain || writes.lowered;
  const expr at_y = ite(writes_target || copied || (hits && forwarded), written, stored);
  g.claim(at_y == stored && ite(hits, written, stored) == stored);
}

/// The node that computes the value writes its elements over operands that it still reads: at x for element i, when y for another
/// element j is written.
void a_value_is_born_over_what_is_read(Goal& g) {
  const z3::sort cell = g.context().uninterpreted_sort("Cell");
  const expr x = g.constant("x", cell), y = g.constant("y", cell);
  const z3::func_decl memory = g.context().function("M", cell, g.content_sort());
  const expr over_itself = g.bit("operand is the target, cell by cell"), lowered = g.bit("by lowering");
  g.given(implies(over_itself, x != y));
  const CellSets operand{x == y && !lowered, x == y && lowered};
  g.given(!impl::birth_spoiled_by_operand(domain(g), g.yes(), operand, over_itself));
  g.claim(ite(x == y, g.content("element j"), memory(x)) == memory(x));
}

/// From its birth on a value (at x) is what its target holds (at y, in the coalesced and lowered run), until the end.
void a_value_is_born_in_its_target(Goal& g) {
  const CellSets value{g.bit("value covers x"), g.bit("value covers x by lowering")};
  const auto sets = [&](const char* does, const char* cell) {
    return CellSets{g.bit(fmt::format("node {} {}", does, cell)), g.bit(fmt::format("node {} {} by lowering", does, cell))};
  };
  const expr live = g.bit("live");
  const NodeSets at_x{live, {g.no(), g.no()}, sets("writes", "x")}, at_y{live, sets("reads", "y"), sets("writes", "y")};
  g.given(value.plain || value.lowered);
  g.given(!impl::birth_spoiled_by_node(domain(g), g.no(), value, at_x));
  g.given(!impl::birth_spoiled_by_node(domain(g), g.yes(), CellSets{g.no(), g.no()}, at_y));
  const auto any = [](const CellSets& s) { return s.plain || s.lowered; };
  const expr now = g.content("value"), old = g.content("old state"), written = g.content("written by the node");
  const expr as_written = ite(value.plain && at_x.writes.plain, written, now);
  const expr coalesced = ite(any(at_x.writes) || any(at_y.writes), written, now);
  const expr reads_old = ite(any(at_y.reads), now, old);  // where it names the target
  g.claim(as_written == coalesced && implies(live, reads_old == old));
}

/// The same for copies, temporaries and outputs that read the old state after the birth.
void the_old_state_is_read_before_the_birth(Goal& g) {
  const CellSets read{g.bit("reader covers y"), g.bit("reader covers y by lowering")};
  const expr after = g.bit("the read stands after the birth"), old = g.content("old state"), born = g.content("value");
  g.given(read.plain || read.lowered);
  g.given(implies(after, !impl::birth_spoiled_by_read(domain(g), g.yes(), read)));
  g.claim(ite(after, born, old) == old);
}

/// Another copy to the same cell may stand before the birth or after it, whatever the output order says.
void a_target_of_two_is_copied_to(Goal& g) {
  const expr other = g.bit("the other copy writes y"), later = g.bit("it is later in output order"),
             after = g.bit("it stands after the birth");
  const expr born = g.content("value"), stored = g.content("stored by the other copy");
  g.given(!impl::birth_spoiled_by_copy(domain(g), g.yes(), other));
  g.claim(ite(other && after, stored, born) == ite(other && later, stored, born));
}

/// No output comes to lie in an input's storage: the caller would see it change.
void an_output_stays_apart(Goal& g) {
  const CellSets output{g.bit("output covers x"), g.bit("output covers x by lowering")};
  const expr value = g.bit("value covers x");
  g.given(!impl::seen_by_output(domain(g), CellSets{value, g.no()}, output));
  g.claim(!(value && (output.plain || output.lowered)));
}

// ---- the walk (L7) ------------------------------------------------------------------------------------------------------------

/// Where a result lies in a run, and whether the walk's possible set of it has that region.
struct Walk {
  z3::sort region;
  expr own, operand, result;
  z3::func_decl through, of_operand, of_result;
};

Walk walk(Goal& g) {
  const z3::sort region = g.context().uninterpreted_sort("Region");
  const z3::func_decl through = g.context().function("seen through the op", region, region);
  const z3::func_decl of_operand = g.context().function("possible of the operand", region, g.context().bool_sort());
  const z3::func_decl of_result = g.context().function("possible of the result", region, g.context().bool_sort());
  Walk w{region,
         g.constant("own storage", region),
         g.constant("operand's region", region),
         g.constant("result's region", region),
         through,
         of_operand,
         of_result};
  g.given(of_operand(w.operand));  // the induction hypothesis
  g.claim(of_result(w.result));
  return w;
}

void own_storage_is_possible(Goal& g, const Walk& w) { g.condition("its own storage is possible", w.of_result(w.own)); }
void operand_is_possible(Goal& g, const Walk& w) {
  g.condition("what is possible of the operand is possible through the op",
              implies(w.of_operand(w.operand), w.of_result(w.through(w.operand))));
}

void the_walk_covers_fresh(Goal& g) {
  const Walk w = walk(g);
  g.given(w.result == w.own);
  own_storage_is_possible(g, w);
}
void the_walk_covers_views(Goal& g) {
  const Walk w = walk(g);
  g.given(w.result == w.through(w.operand));
  operand_is_possible(g, w);
}
/// May-alias, opaque and view_copy results: a storage of their own, or a region of the operand (of the chain's root), by choice.
void the_walk_covers_choices(Goal& g) {
  const Walk w = walk(g);
  g.given(w.result == ite(g.bit("choice"), w.through(w.operand), w.own));
  own_storage_is_possible(g, w);
  operand_is_possible(g, w);
}

/// Regions one of which ends before the other begins share no cell.
void separate_regions_share_no_cell(Goal& g) {
  const expr cell = g.integer("cell"), begin = g.integer("begin"), end = g.integer("end"), begin2 = g.integer("begin 2"),
             end2 = g.integer("end 2");
  g.condition("the first covers cells of its span", begin <= cell && cell < end);
  g.condition("the second covers cells of its span", begin2 <= cell && cell < end2);
  g.claim(!(end <= begin2 || end2 <= begin));
}

}  // namespace

const std::vector<Lemma>& lemmas() {
  static const std::vector<Lemma> all{
      {"L0 reader", "what a live node reads is the same in the lowered run", a_live_reader_sees_no_lowering},
      {"L0 deadline", "a value that is read before its deadlines is the same in the lowered run", a_copy_reads_before_its_deadline},
      {"L0 in place", "a value left in place is the same in the lowered run", a_value_in_place_has_no_deadline},
      {"L0 input", "an input that no copy writes ends the same in the lowered run", an_untouched_input_sees_no_lowering},
      {"L0 re-based", "a re-based view_copy reads what its link holds", a_rebased_view_reads_what_its_link_holds},
      {"L2 events", "two events that do not touch each other's cells commute", two_events_commute},
      {"L2 read", "a read of a value moves past a node", reading_moves_past_a_node},
      {"L2 write", "the write of a copy moves past a live node", writing_moves_past_a_live_node},
      {"L2 copies", "a copy reads its value before other copies overwrite it; in sequential semantics, before later ones do",
       a_copy_reads_before_others_write},
      {"L2 outputs", "an output is read before copies overwrite it; in sequential semantics, after them",
       an_output_is_read_before_targets_change},
      {"L3 fuse", "a clone and its copy are one copy if the value is the target or apart from it", a_clone_and_its_copy_fuse},
      {"L4 targets", "copies one after the other end as the parallel assignment", targets_end_in_output_order},
      {"L5 dead", "runs that agree but for what dead nodes write go on to agree", dead_nodes_do_not_matter},
      {"L6 order", "events moved in placed order pass only events that they do not conflict with", events_move_in_placed_order},
      {"L7 fresh", "the walk's possible sets hold where a fresh result lies", the_walk_covers_fresh},
      {"L7 view", "the walk's possible sets hold where a view or an in-place result lies", the_walk_covers_views},
      {"L7 choice", "the walk's possible sets hold where a result lies under either choice", the_walk_covers_choices},
      {"L7 overlap", "regions whose spans are apart share no cell", separate_regions_share_no_cell},
      {"rule 7", "a dropped copy is not missed", a_dropped_copy_is_not_missed},
      {"temporaries", "one temporary of a value serves every use", one_temporary_serves_every_use},
      {"least", "every accepted slot is at or after ours", ours_is_least},
      {"forwarding", "a read of a value after its copy may read the target", a_read_may_be_forwarded},
      {"birth", "a value may be computed over operands that are its target", a_value_is_born_over_what_is_read},
      {"coalescing", "a value born in its target is there until the end, and nobody misses the old state",
       a_value_is_born_in_its_target},
      {"coalescing reads", "the old state is read before the birth", the_old_state_is_read_before_the_birth},
      {"coalescing copies", "no other copy writes where a value is born", a_target_of_two_is_copied_to},
      {"coalescing outputs", "no output comes to lie in an input", an_output_stays_apart},
  };
  return all;
}

std::vector<std::string> conditions_of(const Lemma& lemma) {
  z3::context context;
  Goal goal(context, {});
  lemma.state(goal);
  return goal.conditions();
}

Query query_of(z3::context& context, const Lemma& lemma, const std::string& left_out) {
  Goal goal(context, left_out);
  lemma.state(goal);
  return goal.query(lemma.name + (left_out.empty() ? "" : " without " + left_out));
}

std::vector<Row> prove_lemmas(const ProveOptions& options) {
  const Workspace workspace(options.smt2);
  std::vector<Row> rows;
  for (const Lemma& lemma : lemmas()) {
    z3::context context;
    rows.push_back(decide(query_of(context, lemma), Second::cvc5, options, workspace));
    rows.back().claim = lemma.name + ": " + lemma.sentence;
  }
  return rows;
}

}  // namespace writeback::proofs
