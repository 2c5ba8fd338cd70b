// The switch behind the planted faults; in the ordinary library this file is empty.
#include "impl/planted.h"

#ifdef WRITEBACK_PLANTED
namespace writeback::impl {
inline namespace WRITEBACK_BUILD {

thread_local Fault fault_on = Fault::none;

void plant(Fault fault) { fault_on = fault; }

bool in_force(Clause) { return true; }

}  // namespace WRITEBACK_BUILD
}  // namespace writeback::impl
#endif
