// The rules of placement, each one branch-free predicate over a domain. The same text is run and proved:
//
//   to run    (impl/accept.cpp)  Bool is bool, Set is a list of regions, meet is "some pair of regions overlaps";
//   to prove  (proofs/)          Bool is a formula, Set is membership at one Skolem cell, meet is "and".
//
// A copy `target <- value` is two events: it reads the value's cells and it writes the target's. Without a temporary both stand at
// the copy's place; with one, the read stands at the temporary's place. A user output is one event, a read: at its temporary's
// place if it is read first, else after everything. So each rule says of two events that one must come first. A placement is
// accepted if none is broken, if each copy that `must_use_temporary` has one, if none that `must_be_copied` is in place, and if no
// lowering hazard holds. Rule 6 (after all placeholders) is the type Slot.
//
// A domain D has types Bool and Set and, as members of a `const D&`:
//   Bool meet(Set, Set)          some cell is in both
//   Bool meet_anew(Set, Set)     of two sets via lowering: some cell is in both that lowering alone brings together. Two tensors of
//                                one storage move alike when that storage is lowered, and what they share then they share as
//                                written: such pairs do not count here (as `plain` cells they have met already)
//   Bool either(Bool, Bool), both(Bool, Bool), negate(Bool)
//   Bool clause(Clause, Bool)    the Bool; or false for the one clause that a test takes out
// It may be too strict, never too lax: sets hold every cell that a tensor can cover under any choice.
#pragma once

#include "impl/planted.h"
#include "impl/rule.h"

namespace writeback::impl {

inline namespace WRITEBACK_BUILD {

// NOLINTBEGIN(performance-unnecessary-value-param): a Bool is a bool, but where formulas are built.

/// The cells that a tensor may cover under some choice.
template <typename D>
struct Cells {
  typename D::Set plain;    ///< where the program as written has it
  typename D::Set lowered;  ///< where it is through a lowering choice only
};

/// The cells that a node touches.
template <typename D>
struct NodeCells {
  typename D::Bool live;
  Cells<D> reads;   ///< of all operands that it reads
  Cells<D> writes;  ///< of all operands that it writes; a result's shared allocation too (lowered)
};

/// The value is read after the node. `computes`: the node produces the value, or gives it or the target a new geometry.
template <typename D>
typename D::Bool read_after_node(const D& d, const Cells<D>& value, const NodeCells<D>& node, typename D::Bool computes) {
  return d.either(d.clause(Clause::computes_value, computes),                               // rule 1
                  d.clause(Clause::writes_value, d.meet(node.writes.plain, value.plain)));  // rule 4
}

/// The node's write reaches the value's cells through a lowering choice only.
template <typename D>
typename D::Bool reaches_by_lowering(const D& d, const Cells<D>& value, const NodeCells<D>& node) {
  return d.either(
      d.clause(Clause::lowered_write_hits_value, d.meet(node.writes.lowered, value.plain)),                            // deadline
      d.either(d.clause(Clause::write_hits_lowered_value, d.meet(node.writes.plain, value.lowered)),                   // deadline
               d.clause(Clause::lowered_write_hits_lowered_value, d.meet_anew(node.writes.lowered, value.lowered))));  // deadline
}

/// The value is read before the node. `after_birth`: the value's content is there before the node, that is: the storage in which
/// the value lies as written is older than the node. (Not the value itself: a view made after the write sees it all the same.)
template <typename D>
typename D::Bool read_before_node(const D& d, const Cells<D>& value, const NodeCells<D>& node, typename D::Bool after_birth) {
  return d.both(after_birth, reaches_by_lowering(d, value, node));
}

/// The target is written after the node. Under a choice that makes the value exactly the target's region a copy changes nothing
/// that a reader sees: where one run at a time is looked at, `reads` is empty there; else it has the cells under the other choices
/// only.
template <typename D>
typename D::Bool write_after_node(const D& d, const typename D::Set& target, const NodeCells<D>& node) {
  return d.either(
      d.both(node.live, d.clause(Clause::reads_target, d.meet(node.reads.plain, target))),                         // rule 2
      d.either(d.both(node.live, d.clause(Clause::reads_target_by_lowering, d.meet(node.reads.lowered, target))),  // rule 2
               d.either(d.clause(Clause::writes_target, d.meet(node.writes.plain, target)),                        // rule 3
                        d.clause(Clause::writes_target_by_lowering, d.meet(node.writes.lowered, target)))));       // rule 3
}

/// The read of one copy comes before the write of another: always in parallel semantics; in sequential semantics where it is the
/// earlier one in output order (`reader_first`), or where only lowering lets the two touch the same cells.
template <typename D>
typename D::Bool read_before_write(const D& d, const Cells<D>& value, const typename D::Set& target, typename D::Bool reader_first,
                                   typename D::Bool sequential) {
  return d.either(d.both(d.clause(Clause::copy_reads, d.meet(value.plain, target)),          // rule 5
                         d.either(d.negate(sequential), reader_first)),                      //
                  d.clause(Clause::copy_reads_by_lowering, d.meet(value.lowered, target)));  // rule 5
}

/// The read of one copy comes after the write of another: only in sequential semantics, where the output order decides.
template <typename D>
typename D::Bool read_after_write(const D& d, const Cells<D>& value, const typename D::Set& target, typename D::Bool reader_first,
                                  typename D::Bool sequential) {
  return d.both(d.clause(Clause::copy_reads, d.meet(value.plain, target)), d.both(sequential, d.negate(reader_first)));  // rule 5
}

/// The write of a copy comes before that of a later one in output order.
template <typename D>
typename D::Bool write_before_write(const D& d, const typename D::Set& target, const typename D::Set& later_target) {
  return d.clause(Clause::copy_writes, d.meet(target, later_target));  // rule 5
}

/// A copy may not read its value itself: the value overlaps the target without being it. `beside`: the value's possible cells
/// but for the choices under which it is exactly the target's region.
template <typename D>
typename D::Bool must_use_temporary(const D& d, const Cells<D>& beside, const typename D::Set& target) {
  return d.either(d.clause(Clause::overlaps_own_target, d.meet(beside.plain, target)),                 // rule 5
                  d.clause(Clause::overlaps_own_target_by_lowering, d.meet(beside.lowered, target)));  // rule 5
}

/// A user output is read before the write of a copy; in sequential semantics only where lowering alone lets the two touch the same
/// cells. (Before a node: read_before_node; after one: read_after_node.)
template <typename D>
typename D::Bool output_before_write(const D& d, const Cells<D>& output, const typename D::Set& target,
                                     typename D::Bool sequential) {
  return d.either(d.both(d.negate(sequential), d.clause(Clause::output_read_first, d.meet(output.plain, target))),  // rule 8
                  d.clause(Clause::output_read_first_by_lowering, d.meet(output.lowered, target)));                 // rule 8
}

/// A user output is read after the write of a copy: in sequential semantics outputs are read last.
template <typename D>
typename D::Bool output_after_write(const D& d, const Cells<D>& output, const typename D::Set& target,
                                    typename D::Bool sequential) {
  return d.both(sequential, d.clause(Clause::output_read_first, d.meet(output.plain, target)));  // rule 8
}

/// A write-back may not be in place, for what it is alone. `is_target`: under every choice the value is exactly the target's
/// region.
template <typename D>
typename D::Bool must_be_copied(const D& d, typename D::Bool is_target) {
  return d.clause(Clause::not_the_target, d.negate(is_target));  // rule 7
}

/// A write-back may not be in place, for a kept copy that is earlier in output order.
template <typename D>
typename D::Bool must_be_copied_after(const D& d, const typename D::Set& target, const typename D::Set& earlier_target) {
  return d.clause(Clause::earlier_copy_writes, d.meet(target, earlier_target));  // rule 7
}

/// A write-back may not be in place, for a node that changes its value through a lowering choice only.
template <typename D>
typename D::Bool must_be_copied_before(const D& d, const Cells<D>& value, const NodeCells<D>& node, typename D::Bool after_birth) {
  return d.clause(Clause::deadline_in_place, read_before_node(d, value, node, after_birth));  // rule 7
}

/// A node reads a value whose cells an earlier node changed through a lowering choice only. `between`: the writer stands after the
/// birth of the value's content (as for `after_birth`) and before the reader.
template <typename D>
typename D::Bool node_sees_lowering(const D& d, typename D::Bool reader_live, const Cells<D>& value, const NodeCells<D>& writer,
                                    typename D::Bool between) {
  return d.clause(Clause::node_sees_lowering,
                  d.both(d.both(reader_live, between), reaches_by_lowering(d, value, writer)));  // lowering
}

/// An input that no copy writes is written through a lowering choice only.
template <typename D>
typename D::Bool input_sees_lowering(const D& d, const typename D::Set& input, const NodeCells<D>& writer) {
  return d.clause(Clause::input_sees_lowering, d.meet(input, writer.writes.lowered));  // lowering
}

/// A chain of view_copy nodes is re-based on its root: its last one then reads the root as it is by then, and not the link that it
/// names. `chain`: the cells of link and root. `between`: the writer stands after the birth of the link's content and before the
/// read.
template <typename D>
typename D::Bool rebased_read(const D& d, typename D::Bool reader_live, const Cells<D>& chain, const NodeCells<D>& writer,
                              typename D::Bool between) {
  const auto written = d.either(d.either(d.meet(chain.plain, writer.writes.plain), d.meet(chain.plain, writer.writes.lowered)),
                                d.either(d.meet(chain.lowered, writer.writes.plain), d.meet(chain.lowered, writer.writes.lowered)));
  return d.clause(Clause::rebased_read, d.both(d.both(reader_live, between), written));  // lowering
}

/// Readers of a value may not take the target instead, for a node after the copy: it changes the value through a lowering choice
/// only, and would then change the target. (Nodes that write either as the program has them stand before the copy: rules 3, 4.)
template <typename D>
typename D::Bool forward_spoiled_by_node(const D& d, const Cells<D>& value, const NodeCells<D>& node) {
  return d.clause(Clause::forward_past_node, reaches_by_lowering(d, value, node));
}

/// The same for a later copy: it writes the target's cells again.
template <typename D>
typename D::Bool forward_spoiled_by_copy(const D& d, const typename D::Set& target, const typename D::Set& later_target) {
  return d.clause(Clause::forward_past_copy, d.meet(target, later_target));
}

/// A value may not be born in its target, for a read of the old state after the birth: by another copy, a temporary or an output.
template <typename D>
typename D::Bool birth_spoiled_by_read(const D& d, const typename D::Set& target, const Cells<D>& read) {
  return d.either(d.clause(Clause::birth_before_read, d.meet(read.plain, target)),
                  d.clause(Clause::birth_before_lowered_read, d.meet(read.lowered, target)));
}

/// The same for a node after the birth: it reads or writes the target's cells, or changes the value through a lowering choice only.
template <typename D>
typename D::Bool birth_spoiled_by_node(const D& d, const typename D::Set& target, const Cells<D>& value, const NodeCells<D>& node) {
  return d.clause(Clause::birth_before_node, d.either(write_after_node(d, target, node), reaches_by_lowering(d, value, node)));
}

/// The same for an operand of the node that computes the value. `over_itself`: the operand is exactly the target's region, and read
/// cell by cell.
template <typename D>
typename D::Bool birth_spoiled_by_operand(const D& d, const typename D::Set& target, const Cells<D>& operand,
                                          typename D::Bool over_itself) {
  return d.clause(Clause::birth_over_operand, d.both(birth_spoiled_by_read(d, target, operand), d.negate(over_itself)));
}

/// The same for another copy, wherever it stands: it writes the target's cells.
template <typename D>
typename D::Bool birth_spoiled_by_copy(const D& d, const typename D::Set& target, const typename D::Set& other_target) {
  return d.clause(Clause::birth_beside_copy, d.meet(target, other_target));
}

/// A user output is the value or an alias of it: what the value is made to share, the caller would see.
template <typename D>
typename D::Bool seen_by_output(const D& d, const Cells<D>& value, const Cells<D>& output) {
  return d.clause(Clause::seen_by_output, d.either(d.meet(value.plain, output.plain), d.meet(value.plain, output.lowered)));
}

// NOLINTEND(performance-unnecessary-value-param)

}  // namespace WRITEBACK_BUILD
}  // namespace writeback::impl
