// Every program of the corpus has the answers written in it, from the implementation and from the reference; and the answer is
// tight: one slot earlier, or without the copy, is refused. Drop a file in; there is no list.
#include <fmt/core.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "impl/place.h"
#include "ref/judge.h"
#include "ref/meaning.h"
#include "tests/corpus/expectations.h"

namespace writeback::corpus {
namespace {

using Pairs = std::vector<std::pair<std::uint32_t, std::uint32_t>>;

template <typename Clobbers>
Pairs clobbers_of(const Clobbers& clobbers) {
  Pairs pairs;
  for (const auto& c : clobbers) pairs.emplace_back(c.copy, c.by);
  return pairs;
}

/// What a placement and a list of clobbered write-backs answer, to compare with the expectations.
std::vector<std::string> answers(const Program& program, const Placement& placement, const Pairs& clobbers) {
  std::vector<std::string> lines = described_clobbers(program, clobbers);
  const std::vector<std::string> more = described(program, placement);
  lines.insert(lines.end(), more.begin(), more.end());
  std::sort(lines.begin(), lines.end());
  return lines;
}

class Corpus : public testing::TestWithParam<const char*> {
 protected:
  std::vector<Case> cases() const { return std::string_view(GetParam()) == "text" ? text_cases() : random_cases(); }
};

TEST_P(Corpus, IsThere) { EXPECT_GE(cases().size(), std::string_view(GetParam()) == "text" ? 50u : 1200u); }

TEST_P(Corpus, ImplementationGivesTheAnswers) {
  for (const Case& c : cases()) {
    const impl::PlaceResult result = impl::place(c.program, c.options);
    EXPECT_EQ(answers(c.program, result.placement, clobbers_of(result.clobbered)), plain_expectations(c)) << c.name;
    EXPECT_TRUE(broken_orders(c, result.placement).empty()) << c.name;
    EXPECT_TRUE(result.lowering_hazards.empty()) << c.name;
    EXPECT_TRUE(impl::accept(c.program, result.placement, c.options).empty()) << c.name;
  }
}

TEST_P(Corpus, ReferenceGivesTheAnswers) {
  for (const Case& c : cases()) {
    ref::Arena arena;
    ref::Judge judge(c.program, c.options, {}, arena);
    const Placement placement = judge.earliest_by_trace();
    EXPECT_EQ(answers(c.program, placement, clobbers_of(judge.clobbered())), plain_expectations(c)) << c.name;
    EXPECT_TRUE(broken_orders(c, placement).empty()) << c.name;
  }
}

TEST_P(Corpus, TheAnswerIsSafe) {
  for (const Case& c : cases()) {
    const Placement placement = impl::place(c.program, c.options).placement;
    EXPECT_EQ(ref::judge(c.program, placement, c.options).verdict, ref::Verdict::safe) << c.name;
  }
}

TEST_P(Corpus, OneSlotEarlierIsRefusedByBoth) {
  for (const Case& c : cases()) {
    const Placement placement = impl::place(c.program, c.options).placement;
    for (std::size_t i = 0; i < placement.copies.size(); ++i) {
      const PlacedCopy& copy = placement.copies[i];
      if (copy.in_place || index_of(copy.at.slot) == 0 || (!c.tight.empty() && !c.tight[i])) continue;
      Placement earlier = placement;
      earlier.copies[i].at = {slot_at(index_of(copy.at.slot) - 1), 1000};
      const ref::Judgement judgement = ref::judge(c.program, earlier, c.options);
      EXPECT_EQ(judgement.verdict, ref::Verdict::unsafe) << c.name << ", copy " << i;
      EXPECT_TRUE(!judgement.hazards.empty() && !judgement.hazards.front().rule.empty()) << c.name << ", copy " << i;
      EXPECT_FALSE(impl::accept(c.program, earlier, c.options).empty()) << c.name << ", copy " << i;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, Corpus, testing::Values("text", "random"), [](const auto& info) { return std::string(info.param); });

}  // namespace
}  // namespace writeback::corpus
