// What goes beyond placing, and the planners: the rewritten program keeps its meaning; every plan is valid, none beats the bound;
// and on the planned arena the program gives what it gives with one storage a tensor.
#include "fuzz/implementation.h"
#include "fuzz/oracle.h"
#include "fuzz/targets/records_mutator.h"
#include "impl/coalesce.h"
#include "impl/plan/measure.h"
#include "ref/graph/error.h"
#include "ref/graph/text.h"
#include "ref/planned.h"

namespace {

using namespace writeback;

void run_on_arenas(const Program& placed, const Options& options) {
  thread_local ref::Arena arena;
  const impl::plan::Measurement measured = impl::plan::measure(placed, options);  // throws where a plan is not valid
  for (const impl::plan::Planner planner : impl::plan::kPlanners) {
    if (planner == impl::plan::Planner::executorch) continue;  // its lifetimes are too short by design
    if (measured.bytes(planner) < measured.bound.bytes) fuzz::broken("no planner beats the bound", print_text(placed));
    std::vector<ref::PlannedStorage> storages;
    for (const impl::plan::NamedPlace& p : places(placed, options, planner)) storages.push_back({p.name, p.offset, p.bytes});
    if (const auto difference = ref::difference_on_arena(placed, storages, options, 8, arena)) {
      fuzz::broken("a program gives the same on its arena",
                   *difference + " by " + std::string(name_of(planner)) + "\n" + print_text(placed));
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const std::unique_ptr<fuzz::Implementation> rewriter = fuzz::implementation("rewrite");
  const Program program = fuzz::program_of_input(data, size);
  if (program.graph.nodes.size() > 64) return 0;  // the reference is slow
  try {
    const Options options = options_of(program);
    const fuzz::Judged judged = fuzz::judge(*rewriter, program, options, {});
    if (judged.verdict != fuzz::Verdict::right && judged.verdict != fuzz::Verdict::skipped) {
      fuzz::broken(judged.signature.text, judged.reason + "\n" + print_text(program));
    }
    // The planner takes a result that may alias as a storage of its own, so what shares its allocation is not where the alias is.
    if (!program.share_allocations.empty()) return 0;
    // What later passes break breaks on the arena too.
    const bool safe = judged.answer.kind == fuzz::Answer::Kind::rewritten && judged.judgement->verdict == ref::Verdict::safe;
    if (safe) run_on_arenas(judged.answer.program, options);
    const Placement end = end_placement(program);
    if (ref::judge(program, end, options).verdict == ref::Verdict::safe) run_on_arenas(with_explicit_copies(program, end), options);
  } catch (const InputError&) {
    // Texts from the corpus may be refused, and so may sizes that are no numbers.
  }
  return 0;
}
