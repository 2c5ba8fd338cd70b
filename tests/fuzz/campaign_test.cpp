// A campaign's numbers: they add up, each is counted and not assumed, and a campaign goes on where it stopped.
#include "fuzz/campaign.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "ref/graph/text.h"

namespace writeback::fuzz {
namespace {

CampaignOptions quick(const std::string& tested, std::uint64_t runs) {
  CampaignOptions options;
  options.implementation = tested;
  options.runs = runs;
  options.progress = false;
  return options;
}

TEST(Campaign, EveryCaseIsRightFailingOrSkippedAndFewAreSkipped) {
  const Summary s = run_campaign(quick("fast", 1500));
  EXPECT_EQ(s.cases, 1500u);
  EXPECT_EQ(s.cases, s.right + s.failing + s.skipped);
  EXPECT_EQ(s.valid, s.cases);
  EXPECT_LT(s.skipped * 10, s.cases);
  std::uint64_t by_reason = 0;
  for (const auto& [reason, count] : s.skips) by_reason += count;
  EXPECT_EQ(by_reason, s.skipped);
}

TEST(Campaign, SmallProgramsAreComparedWithASearch) {
  const Summary s = run_campaign(quick("fast", 6000));
  EXPECT_EQ(s.failing, 0u);
  EXPECT_GE(s.copies_searched, 50u);
  EXPECT_GE(s.copies_as_searched * 10, s.copies_searched * 8);
  EXPECT_LE(s.copies_as_searched, s.copies_searched);
}

TEST(Campaign, TwoWorkersJudgeTheSameCasesAsOne) {
  CampaignOptions two = quick("end", 200);
  two.jobs = 2;
  const Summary a = run_campaign(quick("end", 200)), b = run_campaign(two);
  EXPECT_EQ(a.cases, b.cases);
  EXPECT_EQ(a.failing, b.failing);
  EXPECT_EQ(a.nodes, b.nodes);
}

TEST(Campaign, GoesOnWhereItStopped) {
  const std::string folder = ::testing::TempDir() + "campaign_test";
  std::filesystem::remove_all(folder);
  CampaignOptions options = quick("fault:readers_forgotten", 150);
  options.out = folder;
  const Summary first = run_campaign(options);
  const Summary whole = run_campaign(options);
  EXPECT_EQ(whole.cases, 2 * first.cases);
  EXPECT_EQ(whole.next, 300u);
  EXPECT_EQ(whole.valid, whole.cases);
  EXPECT_GE(whole.copies_searched, first.copies_searched);
  ASSERT_FALSE(first.failures.empty());
  EXPECT_GE(whole.failures.size(), first.failures.size());
  for (const Failure& f : first.failures) EXPECT_TRUE(std::filesystem::exists(f.file)) << f.file;
}

TEST(Campaign, TheSameCaseAgainIsTheSameProgram) {
  EXPECT_EQ(print_text(campaign_case(5, 77, {})), print_text(campaign_case(5, 77, {})));
  EXPECT_NE(print_text(campaign_case(5, 77, {})), print_text(campaign_case(5, 78, {})));
}

TEST(Campaign, ReportsForOtherPrograms) {
  Summary s = run_campaign(quick("fault:readers_forgotten", 100));
  ASSERT_FALSE(s.failures.empty());
  const auto json = nlohmann::json::parse(summary_json(s));
  EXPECT_EQ(json["cases"], 100);
  EXPECT_EQ(json["failures"].size(), s.failures.size());
  const std::string xml = summary_junit(s);
  EXPECT_NE(xml.find("tests=\"" + std::to_string(s.failures.size() + 1) + "\""), std::string::npos) << xml;
  EXPECT_NE(xml.find("&lt;-"), std::string::npos) << "a signature's arrow is escaped: " << xml;
  const std::string annotations = summary_annotations(s);
  EXPECT_EQ(std::count(annotations.begin(), annotations.end(), '\n'), static_cast<std::ptrdiff_t>(s.failures.size()));
}

}  // namespace
}  // namespace writeback::fuzz
