// What a program has in it that a campaign wants to have met. Counted by the campaign and by the tests of the generator's rates.
// May-analysis by a walk of its own: it errs to "may share", which is right for counting.
#pragma once

#include <bitset>
#include <cstdint>
#include <string_view>

#include "ref/graph/options.h"
#include "ref/graph/program.h"

namespace writeback::fuzz {

enum class Feature : std::uint8_t {
  no_write_backs,
  two_or_more_copies,
  same_target_twice,
  one_value_to_several_targets,
  value_is_placeholder,
  value_is_view,
  delay_line,
  swap,
  cross_aliasing,
  cast,
  broadcast,
  mutated_user_input,
  mutated_parameter,
  no_placeholders,
  alias_group,
  partial_overlap,
  self_overlap,
  view_chain,
  in_place,
  in_place_chain,
  out_argument,
  list_argument,
  list_write,
  several_results,
  may_alias,
  opaque,
  trusted_custom,
  later_alias,
  later_alias_chain,
  later_alias_output,
  later_alias_shared,
  restrided_value,
  share_allocation,
  metadata_reader,
  write_only,
  dead_node,
  subgraph,
  rebound,
  output_aliases_target,
  lowering_none,
  earliest_before_end,
  temporaries,
  read_first,
  in_place_copy,
  clobbered,
  lowering_hazard,
  deadline
};
constexpr std::size_t kFeatureCount = 47;
std::string_view name_of(Feature);

using Features = std::bitset<kFeatureCount>;

/// Features of the program alone; those of an answer (from `earliest_before_end` on) are for the campaign to set.
Features features_of(const Program&, const Options&);

}  // namespace writeback::fuzz
