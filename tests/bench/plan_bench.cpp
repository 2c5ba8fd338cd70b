// How fast and how good the memory planners are on MiniMalloc's public challenging set: all eleven in one iteration, and the
// geometric mean of what they take over the MiB that suffices. `portfolio` is the quick one, `best` what `writeback plan` uses.
#include <benchmark/benchmark.h>

#include <cmath>

#include "impl/plan/allocation.h"
#include "tests/impl/plan/minimalloc/read.h"

namespace writeback::impl::plan {
namespace {

Allocation best(std::span<const Buffer> buffers) { return tighten(buffers, portfolio(buffers)); }
Allocation quick(std::span<const Buffer> buffers) { return portfolio(buffers); }

template <Allocation planner(std::span<const Buffer>)>
void plan(benchmark::State& state) {
  const std::vector<Challenge> set = challenges();
  double logs = 0;
  for (auto _ : state) {
    logs = 0;
    for (const Challenge& c : set) logs += std::log(static_cast<double>(planner(c.buffers).total) / kChallengeBytes);
  }
  state.counters["ratio"] = std::exp(logs / static_cast<double>(set.size()));
  state.counters["time_each"] = benchmark::Counter(static_cast<double>(set.size()),
                                                   benchmark::Counter::kIsIterationInvariantRate | benchmark::Counter::kInvert);
}

BENCHMARK(plan<first_fit_by_size>)->Name("plan/first fit by size")->Unit(benchmark::kMillisecond);
BENCHMARK(plan<quick>)->Name("plan/portfolio")->Unit(benchmark::kMillisecond);
BENCHMARK(plan<best>)->Name("plan/best")->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace writeback::impl::plan
