// What one question to the reference costs, per case and choice at 8 nodes: the meaning and the placed program are both run and
// compared. The bar is 5 us. The programs are the generator's, safe as placed and with at most 64 choices.
#include <benchmark/benchmark.h>

#include <utility>
#include <vector>

#include "fuzz/campaign.h"
#include "ref/choices.h"
#include "ref/graph/error.h"
#include "ref/judge.h"

namespace writeback::ref {
namespace {

constexpr std::size_t kNodes = 8, kPrograms = 500;
constexpr std::uint64_t kMostChoices = 64;

struct Question {
  Program program;
  Options options;
  Placement placement;
  std::uint64_t choices = 0;
};

/// Safe programs, so that each question runs all its choices.
const std::vector<Question>& questions() {
  static const std::vector<Question> kQuestions = [] {
    std::vector<Question> list;
    for (std::uint64_t i = 0; list.size() < kPrograms; ++i) {
      Question q{fuzz::campaign_case(1, i, {}), {}, {}, 0};
      q.options = options_of(q.program);
      if (q.program.graph.nodes.size() != kNodes) continue;
      Arena arena;
      try {
        Judge judge(q.program, q.options, {}, arena);
        q.placement = judge.earliest_by_trace();
        if (judge.judge(q.placement).verdict != Verdict::safe) continue;
        q.choices = ChoiceWalk(Steps(q.program, q.options, arena.regions, arena.symbols), kMostChoices).total();
        if (q.choices > kMostChoices) continue;
      } catch (const InputError&) {
        continue;
      }
      list.push_back(std::move(q));
    }
    return list;
  }();
  return kQuestions;
}

/// All of it: making the program ready, the meaning under each semantic choice, the placed run under every choice.
void judge_placement(benchmark::State& state) {
  Arena arena;
  std::uint64_t choices = 0;
  std::size_t at = 0;
  for (auto _ : state) {
    const Question& q = questions()[at++ % kPrograms];
    Judge judge(q.program, q.options, {}, arena);
    benchmark::DoNotOptimize(judge.judge(q.placement));
    choices += q.choices;
  }
  state.counters["per case and choice"] =
      benchmark::Counter(static_cast<double>(choices), benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
}
BENCHMARK(judge_placement)->Name("judge/8 nodes");

}  // namespace
}  // namespace writeback::ref
