#include "impl/report/effects_report.h"

#include <gtest/gtest.h>

#include "ref/graph/schema.h"

namespace writeback {
namespace {

nlohmann::ordered_json row_of(const std::string& op) {
  for (const auto& row : effects_json()) {
    if (row["op"] == op) return row;
  }
  return {};
}

TEST(EffectsReport, HasARowForEveryOperator) { EXPECT_EQ(effects_json().size(), SchemaTable::builtin().size()); }

TEST(EffectsReport, TellsReadsWritesAndResults) {
  const auto rule = row_of("aten::add.out")["rules"][0];
  EXPECT_EQ(rule["reads"], nlohmann::json({"self", "other"}));
  EXPECT_EQ(rule["writes"], nlohmann::json({"out"}));
  EXPECT_EQ(rule["results"][0], nlohmann::json({{"kind", "same"}, {"list", false}, {"of", {"out"}}}));
}

TEST(EffectsReport, TellsTheConditionsOfARule) {
  const auto row = row_of("aten::batch_norm");
  EXPECT_EQ(row["conditions"][0][0], nlohmann::ordered_json({{"argument", "training"}, {"value", 1.0}, {"must_be_known", false}}));
  EXPECT_TRUE(row["rules"][0]["writes"].empty());
  EXPECT_EQ(row["rules"][1]["writes"], nlohmann::json({"running_mean", "running_var"}));
}

}  // namespace
}  // namespace writeback
