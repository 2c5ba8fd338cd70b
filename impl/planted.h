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

/// What goes wrong. The bank in fuzz/ gives each its name and description.
enum class Fault : std::uint8_t {
  none,
  // What the walk sees.
  dead_readers_hold,          ///< a node that nobody uses holds a copy back
  alias_group_lost,           ///< placeholders of one storage are taken as apart
  may_alias_is_copy,          ///< reshape and the like never alias
  view_copy_is_fresh,         ///< a later alias is taken as the fresh tensor that its schema promises
  chains_not_rebased,         ///< a view_copy of a view_copy is taken as an alias of the latter
  lowered_though_output,      ///< a view_copy that is an output is taken as a later alias
  shared_allocation_ignored,  ///< `# share_alloc:` is ignored
  // What is said of it.
  step_of_chain_skipped,  ///< the first value of an alias chain is not named
};

inline namespace WRITEBACK_BUILD {
#ifdef WRITEBACK_PLANTED
extern thread_local Fault fault_on;  ///< the fault that is on in this thread
inline bool planted(Fault f) { return fault_on == f; }
/// False for the one clause of the rules that the fault leaves out.
bool in_force(Clause);
#else
constexpr bool planted(Fault) { return false; }
constexpr bool in_force(Clause) { return true; }
#endif
}  // namespace WRITEBACK_BUILD

}  // namespace writeback::impl
