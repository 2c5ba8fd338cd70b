// The campaign is able to fail: planted faults are found, in small programs, and what is found is minimal.
#include "fuzz/faults.h"

#include <gtest/gtest.h>

#include "fuzz/campaign.h"
#include "fuzz/minimize.h"
#include "ref/graph/error.h"
#include "ref/graph/text.h"
#include "tests/fuzz/files.h"

namespace writeback::fuzz {
namespace {

/// The first failure of an implementation among so many cases.
struct Found {
  Program program;
  Signature signature;
  Checks checks;
};
std::optional<Found> first_failure(Implementation& tested, std::uint64_t cases) {
  for (std::uint64_t i = 0; i < cases; ++i) {
    const Program program = campaign_case(1, i, {});
    const Checks checks = campaign_checks(i, false);
    const Judged judged = judge(tested, program, options_of(program), checks);
    if (judged.verdict != Verdict::right && judged.verdict != Verdict::skipped) return Found{program, judged.signature, checks};
  }
  return std::nullopt;
}

TEST(Faults, NamesAreUniqueAndFound) {
  for (const PlantedFault& fault : planted_faults()) EXPECT_EQ(find_fault(fault.name), &fault) << fault.name;
  EXPECT_EQ(find_fault("no such fault"), nullptr);
  EXPECT_GE(planted_faults().size(), 24u);
}

TEST(Faults, RewritingRandomProgramsKeepsTheirMeaning) {
  const auto sound = implementation("rewrite");
  std::size_t right = 0;
  for (std::uint64_t i = 0; i < 400; ++i) {
    const Program program = campaign_case(1, i, {});
    try {
      const Judged judged = judge(*sound, program, options_of(program), campaign_checks(i, false));
      right += judged.verdict == Verdict::right;
      EXPECT_TRUE(judged.verdict == Verdict::right || judged.verdict == Verdict::skipped) << judged.reason << print_text(program);
    } catch (const InputError&) {  // refused by the reference, as a part that an opaque op returns may be under some choice
    }
  }
  EXPECT_GT(right, 300u);
}

/// fuzz/corpus keeps a small program for each fault; with a sound placement none of them fails.
TEST(Faults, EachProgramOfTheCorpusFailsWithItsFaultAlone) {
  const auto fast = implementation("fast"), rewrite = implementation("rewrite");
  Checks checks;
  checks.explanation = checks.text = checks.relations = true;
  for (const PlantedFault& fault : planted_faults()) {
    const std::string name(fault.name);
    const Program program = read_text(content(kCorpus / (name + ".txt")));
    const Options options = options_of(program);
    const auto faulty = implementation("fault:" + name);
    for (const bool planted : {true, false}) {
      Implementation& sound = fault.rewrites ? *rewrite : *fast;
      const Verdict verdict = judge(planted ? *faulty : sound, program, options, checks).verdict;
      EXPECT_EQ(planted, verdict != Verdict::right && verdict != Verdict::skipped) << name << ": " << name_of(verdict);
    }
  }
}

/// What campaigns and engines found in sound implementations, or in the oracle itself, starts the next ones.
TEST(Faults, ProgramsThatOnceFailedAreRight) {
  std::size_t programs = 0;
  for (const auto& file : std::filesystem::directory_iterator(kCorpus)) {
    if (!file.path().filename().string().starts_with("once_")) continue;
    const Program program = read_text(content(file.path()));
    for (const char* name : {"fast", "rewrite"}) {
      Checks checks;
      checks.explanation = checks.text = checks.relations = true;
      const Judged judged = judge(*implementation(name), program, options_of(program), checks);
      EXPECT_EQ(judged.verdict, Verdict::right) << file.path() << ", " << name << ": " << judged.reason;
    }
    ++programs;
  }
  EXPECT_GE(programs, 4u);
}

class EachFault : public ::testing::TestWithParam<std::string> {};

TEST_P(EachFault, IsFoundAndMinimised) {
  const auto tested = implementation("fault:" + GetParam());
  const std::optional<Found> found = first_failure(*tested, 300);
  ASSERT_TRUE(found);
  const Minimized small = minimize(*tested, found->program, {}, found->signature, found->checks, 60);
  EXPECT_TRUE(small.one_minimal);
  EXPECT_LE(small.program.graph.nodes.size(), 6u) << print_text(small.program);
  EXPECT_EQ(small.judged.signature, found->signature);
  // Its own output does not shrink.
  const Minimized again = minimize(*tested, small.program, {}, found->signature, found->checks, 60);
  EXPECT_EQ(again.kept, 0u);
  EXPECT_TRUE(again.program == small.program);
}

INSTANTIATE_TEST_SUITE_P(Quick, EachFault,
                         ::testing::Values("readers_forgotten", "writers_of_target_forgotten", "value_written_later",
                                           "self_overlap_copied", "outputs_read_last", "off_by_one_slot", "stride_ignored",
                                           "all_or_nothing", "slot_order_reversed", "born_for_two"),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace writeback::fuzz
