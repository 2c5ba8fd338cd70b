// Well-formedness: what every program must satisfy before anything is asked of it. Each breach has a name.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "ref/graph/program.h"

namespace writeback {

enum class BreachKind : unsigned char {
  duplicate_name,               ///< two values of one graph with the same name, or a value without one
  use_before_definition,        ///< a node takes its own result or that of a later node
  value_out_of_range,           ///< a value id that the graph does not have
  spec_count_mismatch,          ///< not one input spec a placeholder, or not one output spec an output
  mutation_of_unknown_target,   ///< a mutation spec whose target is no input of the program
  mutation_output_is_no_value,  ///< a mutation whose output is a constant
  getitem_index,                ///< getitem without a value and a number, or with a number that its producer does not have
  unknown_subgraph,             ///< a get_attr that names no subgraph and is taken by something other than a higher-order op
  unknown_operator,             ///< a name in ATen or prims that no operator has, and no `# schema:` line gives
  alias_of_unknown_value,       ///< a member of an alias group that is no placeholder, or is in two groups
  alias_geometry,               ///< a region that cannot be: negative, not of the placeholder's sizes, beyond int64
  share_allocation_argument,    ///< `# share_alloc:` of a node or argument that does not exist or is no value
  birth_in_no_placeholder,      ///< `# born_in:` of a node that does not exist or has one already, or in what is no placeholder
  target_out_of_range           ///< a target id that the program does not have
};
std::string_view name_of(BreachKind);

struct Breach {
  BreachKind kind;
  std::string place;    ///< "node %y", "output 2", "true_graph_0: node %y"
  std::string message;  ///< a sentence
};

/// All breaches, in program order; empty = well formed. Arguments that do not fit an operator's schema are found by Effects.
std::vector<Breach> breaches(const Program&);

/// Throws InputError with the first breach.
void require_well_formed(const Program&);

}  // namespace writeback
