// The switch behind the planted faults; in the ordinary library this file is empty.
#ifdef WRITEBACK_PLANTED
#include "impl/planted_place.h"

namespace writeback::impl {
inline namespace WRITEBACK_BUILD {
namespace {

constexpr auto kNoClause = static_cast<Clause>(kClauseCount);

}  // namespace

thread_local Fault fault_on = Fault::none;
thread_local Clause clause_out = kNoClause;

void plant(Fault fault) {
  fault_on = fault;
  clause_out = kNoClause;
}

void plant(Clause clause) {
  fault_on = Fault::none;
  clause_out = clause;
}

}  // namespace WRITEBACK_BUILD
}  // namespace writeback::impl
#endif
