#include "ref/meaning.h"

#include "ref/equivalence.h"
#include "ref/judge.h"

namespace writeback::ref {
namespace {

/// Symbols and regions are worth keeping from call to call; an arena serves one thread.
Arena& arena() {
  thread_local Arena kept;
  return kept;
}

}  // namespace

Judgement judge(const Program& program, const Placement& placement, const Options& options, const Limits& limits) {
  return Judge(program, options, limits, arena()).judge(placement);
}

Judgement equivalent(const Program& before, const Program& after, const Options& options, const Limits& limits) {
  if (const auto placement = placement_of(before, after)) return judge(before, *placement, options, limits);
  return equivalent_as_whole(before, after, options, limits, arena());
}

Placement earliest_by_trace(const Program& program, const Options& options, const Limits& limits) {
  return Judge(program, options, limits, arena()).earliest_by_trace();
}

std::vector<Clobbered> clobbered(const Program& program, const Options& options, const Limits& limits) {
  return Judge(program, options, limits, arena()).clobbered();
}

Placement earliest_by_search(const Program& program, const Options& options, const Limits& limits) {
  return Judge(program, options, limits, arena()).earliest_by_search();
}

}  // namespace writeback::ref
