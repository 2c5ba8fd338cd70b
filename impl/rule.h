// The names of the rules of placement and of their disjuncts, shared by the predicates (rules.h), the results (place.h) and their
// readers.
#pragma once

#include <cstdint>
#include <string_view>

namespace writeback::impl {

/// Why a copy may not stand before (or after) a node or another copy. Where several block one slot, the lowest is named.
enum class Rule : std::uint8_t {
  start,
  computes_value,
  reads_target,
  writes_target,
  writes_value,
  deadline,
  copy_reads,
  copy_writes,
  read_first,
  in_place,
  lowering
};

constexpr std::string_view name_of(Rule rule) {
  switch (rule) {
    case Rule::start:
      return "start";
    case Rule::computes_value:
      return "computes_value";
    case Rule::reads_target:
      return "reads_target";
    case Rule::writes_target:
      return "writes_target";
    case Rule::writes_value:
      return "writes_value";
    case Rule::deadline:
      return "deadline";
    case Rule::copy_reads:
      return "copy_reads";
    case Rule::copy_writes:
      return "copy_writes";
    case Rule::read_first:
      return "read_first";
    case Rule::in_place:
      return "in_place";
    case Rule::lowering:
      return "lowering";
  }
  return "";
}

/// Every disjunct of the rules: taken out one at a time, each must have a counterexample. The numbers are the rules'.
enum class Clause : std::uint8_t {
  computes_value,                    ///< 1
  reads_target,                      ///< 2
  reads_target_by_lowering,          ///< 2
  writes_target,                     ///< 3
  writes_target_by_lowering,         ///< 3
  writes_value,                      ///< 4
  lowered_write_hits_value,          ///< deadline
  write_hits_lowered_value,          ///< deadline
  lowered_write_hits_lowered_value,  ///< deadline
  copy_reads,                        ///< 5
  copy_reads_by_lowering,            ///< 5
  copy_writes,                       ///< 5
  overlaps_own_target,               ///< 5
  overlaps_own_target_by_lowering,   ///< 5
  output_read_first,                 ///< 8
  output_read_first_by_lowering,     ///< 8
  not_the_target,                    ///< 7
  earlier_copy_writes,               ///< 7
  deadline_in_place,                 ///< 7
  node_sees_lowering,                ///< lowering
  input_sees_lowering,               ///< lowering
  rebased_read,                      ///< lowering
  // What goes beyond placing (forward.h, coalesce.h).
  forward_past_node,
  forward_past_copy,
  birth_before_read,
  birth_before_lowered_read,
  birth_before_node,
  birth_over_operand,
  birth_beside_copy,
  seen_by_output
};
constexpr std::uint8_t kPlacementClauses = 22;  ///< the first ones: accept stands on them
constexpr std::uint8_t kClauseCount = 30;

/// The name of a clause, as written in the enumeration.
constexpr std::string_view name_of(Clause clause) {
  switch (clause) {
    case Clause::computes_value:
      return "computes_value";
    case Clause::reads_target:
      return "reads_target";
    case Clause::reads_target_by_lowering:
      return "reads_target_by_lowering";
    case Clause::writes_target:
      return "writes_target";
    case Clause::writes_target_by_lowering:
      return "writes_target_by_lowering";
    case Clause::writes_value:
      return "writes_value";
    case Clause::lowered_write_hits_value:
      return "lowered_write_hits_value";
    case Clause::write_hits_lowered_value:
      return "write_hits_lowered_value";
    case Clause::lowered_write_hits_lowered_value:
      return "lowered_write_hits_lowered_value";
    case Clause::copy_reads:
      return "copy_reads";
    case Clause::copy_reads_by_lowering:
      return "copy_reads_by_lowering";
    case Clause::copy_writes:
      return "copy_writes";
    case Clause::overlaps_own_target:
      return "overlaps_own_target";
    case Clause::overlaps_own_target_by_lowering:
      return "overlaps_own_target_by_lowering";
    case Clause::output_read_first:
      return "output_read_first";
    case Clause::output_read_first_by_lowering:
      return "output_read_first_by_lowering";
    case Clause::not_the_target:
      return "not_the_target";
    case Clause::earlier_copy_writes:
      return "earlier_copy_writes";
    case Clause::deadline_in_place:
      return "deadline_in_place";
    case Clause::node_sees_lowering:
      return "node_sees_lowering";
    case Clause::input_sees_lowering:
      return "input_sees_lowering";
    case Clause::rebased_read:
      return "rebased_read";
    case Clause::forward_past_node:
      return "forward_past_node";
    case Clause::forward_past_copy:
      return "forward_past_copy";
    case Clause::birth_before_read:
      return "birth_before_read";
    case Clause::birth_before_lowered_read:
      return "birth_before_lowered_read";
    case Clause::birth_before_node:
      return "birth_before_node";
    case Clause::birth_over_operand:
      return "birth_over_operand";
    case Clause::birth_beside_copy:
      return "birth_beside_copy";
    case Clause::seen_by_output:
      return "seen_by_output";
  }
  return "";
}

}  // namespace writeback::impl
