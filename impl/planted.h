// Planted faults: mistakes that a good engineer would make, each a line away from the right code, so that a fuzzing campaign can
// show that it is able to fail. The sources of this folder are compiled twice: as writeback_impl, where `planted` is false at
// compile time and leaves no trace, and with -DWRITEBACK_PLANTED as writeback_impl_planted, in a namespace of its own, where it
// asks which fault is on. A fault stands in the code as `planted(Fault::x) ? wrong : right`. Plain types are shared by both.
#pragma once

#include <cstdint>

#include "impl/rule.h"

#ifdef WRITEBACK_PLANTED
#define WRITEBACK_BUILD faulty
#else
#define WRITEBACK_BUILD sound
#endif

namespace writeback::impl {

/// What goes wrong. Besides these, any clause of the rules can be left out (rule.h). The bank in fuzz/ describes each.
enum class Fault : std::uint8_t {
  none,
  // What is read of the program.
  custom_schema_trusted,  ///< the schema of a custom op is believed though its namespace is not trusted
  opaque_is_pure,         ///< an op without a trusted schema reads its operands and does nothing else
  lists_not_flattened,    ///< operands in positional lists are missed
  keywords_missed,        ///< keyword operands are missed
  getitem_index_ignored,  ///< every element of a tuple is taken as the first
  subgraph_reads_missed,  ///< what a higher-order op's subgraphs read is missed
  metadata_readers_hold,  ///< a node that looks at sizes only holds a copy back
  dead_readers_hold,      ///< a node that nobody uses holds a copy back
  // Where tensors can be.
  alias_group_lost,           ///< placeholders of one storage are taken as apart
  may_alias_is_copy,          ///< reshape and the like never alias
  view_copy_is_fresh,         ///< a later alias is taken as the fresh tensor that its schema promises
  chains_not_rebased,         ///< a view_copy of a view_copy is taken as an alias of the latter
  lowered_though_output,      ///< a view_copy that is an output is taken as a later alias
  clone_keeps_view_copy,      ///< a view_copy that is read first is still taken as an output, which no lowering touches
  shared_allocation_ignored,  ///< `# share_alloc:` is ignored
  stride_ignored,             ///< a view covers as many cells as it has, from its offset on
  overlap_off_by_one,         ///< regions that share their last cell only are taken as disjoint
  // What holds a copy back.
  forward_walk_only,        ///< writes to a value count through its own views only, not through its base or siblings
  siblings_missed,          ///< writes to a value count through itself, its views and its bases, not through other views of these
  off_by_one_slot,          ///< a copy stands before the last reader of its target
  any_buffer_is_in_place,   ///< an in-place result of any input counts as in place
  one_copy_for_each_value,  ///< a value is written back to the first of its targets only
  placeholder_values_safe,  ///< a value that is an input is taken as never overwritten by another copy
  // The order of copies.
  slot_order_reversed,      ///< copies at one slot stand in reverse order
  cycle_without_temporary,  ///< the temporaries that break cycles are forgotten
  temporary_too_late,       ///< a temporary is taken at its copy, not after its value's last writer
  all_or_nothing,           ///< one conflict among copies and all stay at the end
  // What is said of it.
  rule_misnamed,            ///< a reader is called a writer
  step_of_chain_skipped,    ///< the first value of an alias chain is not named
  clobbered_the_wrong_way,  ///< who clobbers and who is clobbered change places
  // What goes beyond placing (forward.h, coalesce.h).
  forwarded_into_output,     ///< a reader whose result leaves the program as a view takes the state
  forwarded_past_writers,    ///< a reader takes the state though something writes it again
  forwarded_across_strides,  ///< a reader takes the state though that has other strides
  born_over_part,            ///< an operand that overlaps the target need not be the target
  born_by_any_op,            ///< nor need the op read it cell by cell
  born_before_readers,       ///< readers of the old state do not count
  born_before_copies,        ///< copies and outputs that read the old state do not count
  born_for_two               ///< a value of two write-backs is born in the target of one
};
constexpr std::uint8_t kFaultCount = static_cast<std::uint8_t>(Fault::born_for_two) + 1;

inline namespace WRITEBACK_BUILD {
#ifdef WRITEBACK_PLANTED
extern thread_local Fault fault_on;  ///< the fault that is on in this thread
inline bool planted(Fault f) { return fault_on == f; }
extern thread_local Clause clause_out;  ///< the clause that is left out in this thread, or kClauseCount
inline bool in_force(Clause c) { return clause_out != c; }
#else
constexpr bool planted(Fault) { return false; }
constexpr bool in_force(Clause) { return true; }
#endif
}  // namespace WRITEBACK_BUILD

}  // namespace writeback::impl
