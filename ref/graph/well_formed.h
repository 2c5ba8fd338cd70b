// Well-formedness: what every program must satisfy before anything is asked of it. Each breach has a name.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "ref/graph/program.h"

namespace writeback {

enum class BreachKind : unsigned char {
  duplicate_name, use_before_definition, value_out_of_range, spec_count_mismatch, mutation_of_unknown_target,
  mutation_output_is_no_value, getitem_index, unknown_subgraph, alias_of_unknown_value, alias_geometry, share_allocation_argument,
  target_out_of_range
};
std::string_view name_of(BreachKind);

struct Breach {
  BreachKind kind;
  std::string place;    ///< "node %y", "output 2"
  std::string message;  ///< a sentence
};

/// All breaches, in program order; empty = well formed.
std::vector<Breach> breaches(const Program&);

/// Throws InputError with the first breach.
void require_well_formed(const Program&);

}  // namespace writeback
