// What the generator makes, and how often. Each threshold is about two thirds of what was measured, so that a form or a weight that
// is lost shows, and chance does not.
#include <gtest/gtest.h>

#include <array>

#include "fuzz/campaign.h"
#include "fuzz/features.h"
#include "impl/place.h"
#include "ref/graph/well_formed.h"

namespace writeback::fuzz {
namespace {

constexpr std::uint64_t kPrograms = 2000;

struct Rate {
  Feature feature;
  double least;  ///< per cent
};
constexpr Rate kRates[] = {{Feature::two_or_more_copies, 30},
                           {Feature::cross_aliasing, 10},
                           {Feature::delay_line, 6},
                           {Feature::swap, 0.5},
                           {Feature::value_is_view, 10},
                           {Feature::cast, 10},
                           {Feature::broadcast, 20},
                           {Feature::mutated_user_input, 20},
                           {Feature::mutated_parameter, 3},
                           {Feature::alias_group, 15},
                           {Feature::partial_overlap, 35},
                           {Feature::in_place_chain, 10},
                           {Feature::out_argument, 15},
                           {Feature::list_argument, 25},
                           {Feature::list_write, 9},
                           {Feature::several_results, 20},
                           {Feature::may_alias, 15},
                           {Feature::opaque, 10},
                           {Feature::trusted_custom, 0.7},
                           {Feature::later_alias, 30},
                           {Feature::later_alias_chain, 4},
                           {Feature::later_alias_output, 8},
                           {Feature::later_alias_shared, 1.4},
                           {Feature::restrided_value, 0.9},
                           {Feature::share_allocation, 8},
                           {Feature::metadata_reader, 10},
                           {Feature::write_only, 12},
                           {Feature::output_aliases_target, 9},
                           {Feature::no_write_backs, 8},
                           {Feature::no_placeholders, 0.5},
                           {Feature::dead_node, 50},
                           {Feature::one_value_to_several_targets, 5},
                           {Feature::same_target_twice, 5},
                           {Feature::view_chain, 15},
                           {Feature::subgraph, 5},
                           {Feature::rebound, 8},
                           {Feature::lowering_none, 4}};

TEST(Rates, EachFeatureIsMetOftenEnough) {
  std::array<std::uint64_t, kFeatureCount> seen{};
  for (std::uint64_t i = 0; i < kPrograms; ++i) {
    const Program program = campaign_case(3, i, {});
    const Features features = features_of(program, options_of(program));
    for (std::size_t f = 0; f < kFeatureCount; ++f) seen[f] += features[f] ? 1 : 0;
  }
  for (const Rate& rate : kRates) {
    EXPECT_GE(100.0 * static_cast<double>(seen[static_cast<std::size_t>(rate.feature)]) / kPrograms, rate.least)
        << name_of(rate.feature);
  }
}

TEST(Rates, EveryProgramIsWellFormed) {
  for (std::uint64_t i = 0; i < kPrograms; ++i) ASSERT_TRUE(breaches(campaign_case(4, i, {})).empty()) << i;
}

TEST(Rates, TheEarliestPlacementIsOftenBeforeTheEnd) {
  std::uint64_t earlier = 0;
  for (std::uint64_t i = 0; i < 500; ++i) {
    const Program program = campaign_case(5, i, {});
    try {
      for (const PlacedCopy& copy : impl::place(program, options_of(program)).placement.copies) {
        if (!copy.in_place && index_of(copy.at.slot) < program.graph.nodes.size()) {
          ++earlier;
          break;
        }
      }
    } catch (const std::exception&) {
    }
  }
  EXPECT_GE(earlier, 200u);
}

}  // namespace
}  // namespace writeback::fuzz
