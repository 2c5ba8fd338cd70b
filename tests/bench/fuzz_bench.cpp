// Campaign cases a second of one core, the reference included, as `writeback fuzz` judges them; its parts alone; and how long the
// minimiser takes with a failure of 200 nodes.
#include <benchmark/benchmark.h>

#include "fuzz/campaign.h"
#include "fuzz/minimize.h"
#include "ref/graph/error.h"
#include "ref/graph/well_formed.h"

namespace writeback::fuzz {
namespace {

void Generate(benchmark::State& state) {
  std::uint64_t i = 0;
  for (auto _ : state) benchmark::DoNotOptimize(campaign_case(1, i++, {}));
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(Generate);

void WellFormed(benchmark::State& state) {
  std::uint64_t i = 0;
  for (auto _ : state) benchmark::DoNotOptimize(breaches(campaign_case(1, i++, {})));
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(WellFormed);

void Place(benchmark::State& state) {
  const auto fast = implementation("fast");
  std::uint64_t i = 0;
  for (auto _ : state) {
    const Program program = campaign_case(1, i++, {});
    benchmark::DoNotOptimize(fast->place(program, options_of(program)));
  }
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(Place);

/// The bar is 10,000 a second.
void Case(benchmark::State& state) {
  const auto fast = implementation("fast");
  std::uint64_t i = 0;
  for (auto _ : state) {
    const Program program = campaign_case(1, i, {});
    try {
      benchmark::DoNotOptimize(judge(*fast, program, options_of(program), campaign_checks(i, false)));
    } catch (const InputError&) {
    }
    ++i;
  }
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(Case)->MinTime(2);

/// Safety alone, of the placement at the end.
void CaseOfTheEnd(benchmark::State& state) {
  const auto end = implementation("end");
  std::uint64_t i = 0;
  Checks safety;
  safety.minimality = false;
  for (auto _ : state) {
    const Program program = campaign_case(1, i++, {});
    try {
      benchmark::DoNotOptimize(judge(*end, program, options_of(program), safety));
    } catch (const InputError&) {
    }
  }
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(CaseOfTheEnd);

/// The bar is one second.
void Minimize200Nodes(benchmark::State& state) {
  const auto tested = implementation("fault:readers_forgotten");
  Sizes sizes;
  sizes.nodes = 200;
  std::uint64_t nodes = 0, shrunk = 0, seed = 0;
  for (auto _ : state) {
    state.PauseTiming();
    Program program;
    Judged judged;
    do {
      program = campaign_case(++seed, 0, sizes);
      if (program.graph.nodes.size() < 190) continue;
      judged = judge(*tested, program, options_of(program), {});
    } while (judged.verdict != Verdict::unsafe);
    state.ResumeTiming();
    const Minimized small = minimize(*tested, program, {}, judged.signature, {}, 60);
    nodes += small.program.graph.nodes.size();
    shrunk += small.one_minimal ? 1 : 0;
  }
  state.counters["nodes"] = benchmark::Counter(static_cast<double>(nodes), benchmark::Counter::kAvgIterations);
  state.counters["one_minimal"] = benchmark::Counter(static_cast<double>(shrunk), benchmark::Counter::kAvgIterations);
}
BENCHMARK(Minimize200Nodes)->Unit(benchmark::kMillisecond)->Iterations(10);

}  // namespace
}  // namespace writeback::fuzz
