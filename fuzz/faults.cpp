#include "fuzz/faults.h"

#include <algorithm>

#include "fuzz/edit.h"
#include "impl/planted_place.h"

namespace writeback::fuzz {
namespace {

using impl::Clause;
using impl::Fault;

// --- Misreadings ---

/// `add.out(x, y, out=t)` is read as if x were written.
Program out_letter_swapped(const Program& program) {
  Program read = program;
  for (Node& node : read.graph.nodes) {
    const auto out = std::find_if(node.kwargs.begin(), node.kwargs.end(), [](const KeywordArgument& k) { return k.name == "out"; });
    if (out != node.kwargs.end() && !node.args.empty()) std::swap(node.args.front(), out->value);
  }
  return read;
}

/// The last keyword argument is not seen: `out=` writes nothing that anybody knows.
Program keyword_dropped(const Program& program) {
  Program read = program;
  for (Node& node : read.graph.nodes) {
    const Target& target = program.target(node);
    if (node.kwargs.empty() || target.overload != "out") continue;
    node.kwargs.clear();
    node.target = read.intern({Target::Kind::op, target.ns, target.name, node.args.size() == 1 ? "default" : "Tensor"});
  }
  return read;
}

/// Every getitem picks the first element.
Program getitem_index_lost(const Program& program) {
  Program read = program;
  for (Node& node : read.graph.nodes) {
    if (program.target(node).is_getitem()) node.args[1] = std::int64_t{0};
  }
  return read;
}

/// `select` and `slice` start at 0.
Program view_offset_lost(const Program& program) {
  Program read = program;
  for (Node& node : read.graph.nodes) {
    const std::string name = program.target(node).qualified_name();
    if (name == "aten::select.int") node.args[2] = std::int64_t{0};
    if (name == "aten::as_strided" && node.args.size() > 3) node.args[3] = std::int64_t{0};
    if (name == "aten::slice.Tensor") {
      const std::int64_t start = *as_int(node.args[2]);
      node.args[2] = std::int64_t{0};
      node.args[3] = *as_int(node.args[3]) - start;
    }
  }
  return read;
}

/// The parts of a shared storage are read as the whole of it.
Program alias_geometry_lost(const Program& program) {
  Program read = program;
  for (auto& group : read.alias_groups) {
    for (AliasMember& m : group) {
      if (m.geometry) m.geometry->offset = 0;
    }
  }
  return read;
}

constexpr PlantedFault of_clause(std::string_view name, std::string_view rule, std::string_view description, Clause clause) {
  return {name, rule, description, Fault::none, clause, nullptr};
}
constexpr PlantedFault of_code(std::string_view name, std::string_view rule, std::string_view description, Fault fault) {
  return {name, rule, description, fault, std::nullopt, nullptr};
}
constexpr PlantedFault of_rewriting(std::string_view name, std::string_view rule, std::string_view description, Fault fault) {
  return {name, rule, description, fault, std::nullopt, nullptr, true};
}
constexpr PlantedFault misreading(std::string_view name, std::string_view rule, std::string_view description,
                                  Program (*read)(const Program&)) {
  return {name, rule, description, Fault::none, std::nullopt, read};
}

constexpr PlantedFault kBank[] = {
    of_clause("value_before_it_is_computed", "computes_value", "a copy does not wait for the node that computes its value",
              Clause::computes_value),
    of_clause("readers_forgotten", "reads_target", "a copy does not wait for the last reader of its target", Clause::reads_target),
    of_clause("later_readers_forgotten", "reads_target", "nor for those that read the target through a later alias",
              Clause::reads_target_by_lowering),
    of_clause("writers_of_target_forgotten", "writes_target", "only readers of the target count, not in-place writers",
              Clause::writes_target),
    of_clause("later_writers_of_target_forgotten", "writes_target", "writers of the target through a later alias do not count",
              Clause::writes_target_by_lowering),
    of_clause("value_written_later", "writes_value", "walking forward from the value misses a write through its base or a sibling",
              Clause::writes_value),
    of_clause("deadline_missed_lowered_write", "deadline", "a shared allocation overwrites the value before its copy",
              Clause::lowered_write_hits_value),
    of_clause("deadline_missed_lowered_value", "deadline", "the value becomes an alias, and its base is written before its copy",
              Clause::write_hits_lowered_value),
    of_clause("deadline_missed_both_lowered", "deadline", "a later alias of the value's storage is written before its copy",
              Clause::lowered_write_hits_lowered_value),
    of_clause("copies_in_output_order", "copy_reads", "a copy overwrites what another copy has still to read: a delay line",
              Clause::copy_reads),
    of_clause("copies_in_output_order_lowered", "copy_reads", "the same where the value is a later alias of the other target",
              Clause::copy_reads_by_lowering),
    of_clause("overlapping_targets_unordered", "copy_writes", "two copies to the same cells change places", Clause::copy_writes),
    of_clause("self_overlap_copied", "copy_reads", "a value that overlaps its own target is copied without a temporary",
              Clause::overlaps_own_target),
    of_clause("self_overlap_copied_lowered", "copy_reads", "the same where the value is a later alias",
              Clause::overlaps_own_target_by_lowering),
    of_clause("outputs_read_last", "read_first", "a user output that aliases a target is read after the copy",
              Clause::output_read_first),
    of_clause("outputs_read_last_lowered", "read_first", "the same where the output is a later alias",
              Clause::output_read_first_by_lowering),
    of_clause("always_in_place", "in_place", "no copy at all where the value merely could be the target", Clause::not_the_target),
    of_clause("in_place_though_overwritten", "in_place", "no copy though an earlier copy writes the same cells",
              Clause::earlier_copy_writes),
    of_clause("in_place_though_deadline", "in_place", "no copy though lowering lets a node change the value",
              Clause::deadline_in_place),
    of_clause("reader_hazard_silent", "lowering", "nothing is said where lowering changes what a node reads",
              Clause::node_sees_lowering),
    of_clause("input_hazard_silent", "lowering", "nothing is said where lowering changes an input that no copy writes",
              Clause::input_sees_lowering),
    of_clause("rebasing_hazard_silent", "lowering", "nothing is said where a re-based chain reads an older state of its root",
              Clause::rebased_read),
    of_code("custom_schema_trusted", "effects", "the schema of a custom op is believed though its namespace is not trusted",
            Fault::custom_schema_trusted),
    of_code("opaque_is_pure", "effects", "an op without a trusted schema reads its operands and does nothing else",
            Fault::opaque_is_pure),
    of_code("lists_not_flattened", "effects", "operands in positional lists are missed", Fault::lists_not_flattened),
    of_code("keywords_missed", "effects", "keyword operands are missed", Fault::keywords_missed),
    of_code("getitem_index_ignored", "effects", "every element of a tuple is taken as the first", Fault::getitem_index_ignored),
    of_code("subgraph_reads_missed", "effects", "what a higher-order op's subgraphs read is missed", Fault::subgraph_reads_missed),
    of_code("metadata_readers_hold", "effects", "a node that looks at sizes only holds a copy back", Fault::metadata_readers_hold),
    of_code("dead_readers_hold", "effects", "a node that nobody uses holds a copy back", Fault::dead_readers_hold),
    of_code("alias_group_lost", "aliases", "placeholders of one storage are taken as apart", Fault::alias_group_lost),
    of_code("may_alias_is_copy", "aliases", "reshape and the like never alias", Fault::may_alias_is_copy),
    of_code("view_copy_is_fresh", "aliases", "a later alias is taken as the fresh tensor that its schema promises",
            Fault::view_copy_is_fresh),
    of_code("chains_not_rebased", "aliases", "a view_copy of a view_copy is taken as an alias of the latter",
            Fault::chains_not_rebased),
    of_code("lowered_though_output", "aliases", "a view_copy that is an output is taken as a later alias",
            Fault::lowered_though_output),
    of_code("clone_keeps_view_copy", "read_first", "a view_copy whose clone is returned in its stead is taken to stay a copy",
            Fault::clone_keeps_view_copy),
    of_code("shared_allocation_ignored", "aliases", "`# share_alloc:` is ignored", Fault::shared_allocation_ignored),
    of_code("stride_ignored", "aliases", "a view covers as many cells as it has, from its offset on", Fault::stride_ignored),
    of_code("overlap_off_by_one", "aliases", "regions that share their last cell only are taken as disjoint",
            Fault::overlap_off_by_one),
    of_code("forward_walk_only", "bounds", "writes to a value count through its own views only, not through its base or siblings",
            Fault::forward_walk_only),
    of_code("siblings_missed", "bounds",
            "writes to a value count through itself, its views and its bases, not through other views of these",
            Fault::siblings_missed),
    of_code("off_by_one_slot", "bounds", "a copy stands before the last reader of its target", Fault::off_by_one_slot),
    of_code("any_buffer_is_in_place", "bounds", "an in-place result of any input counts as in place",
            Fault::any_buffer_is_in_place),
    of_code("one_copy_for_each_value", "bounds", "a value is written back to the first of its targets only",
            Fault::one_copy_for_each_value),
    of_code("placeholder_values_safe", "bounds", "a value that is an input is taken as never overwritten by another copy",
            Fault::placeholder_values_safe),
    of_code("slot_order_reversed", "order", "copies at one slot stand in reverse order", Fault::slot_order_reversed),
    of_code("cycle_without_temporary", "order", "the temporaries that break cycles are forgotten", Fault::cycle_without_temporary),
    of_code("temporary_too_late", "order", "a temporary is taken at its copy, not after its value's last writer",
            Fault::temporary_too_late),
    of_code("all_or_nothing", "order", "one conflict among copies and all stay at the end", Fault::all_or_nothing),
    of_code("rule_misnamed", "explanation", "a reader is called a writer", Fault::rule_misnamed),
    of_code("step_of_chain_skipped", "explanation", "the first value of an alias chain is not named", Fault::step_of_chain_skipped),
    of_code("clobbered_the_wrong_way", "explanation", "who clobbers and who is clobbered change places",
            Fault::clobbered_the_wrong_way),
    of_rewriting("forwarded_into_output", "forwarding", "a reader whose result leaves the program as a view takes the state",
                 Fault::forwarded_into_output),
    of_rewriting("forwarded_past_writers", "forwarding", "a reader takes the state though something writes it again",
                 Fault::forwarded_past_writers),
    of_rewriting("forwarded_across_strides", "forwarding", "a reader takes the state though that has other strides",
                 Fault::forwarded_across_strides),
    of_rewriting("born_over_part", "coalescing", "a value is born over an operand that merely overlaps the target",
                 Fault::born_over_part),
    of_rewriting("born_by_any_op", "coalescing", "a value is born over an operand that is not read cell by cell",
                 Fault::born_by_any_op),
    of_rewriting("born_before_readers", "coalescing", "nodes that read the old state after the birth do not count",
                 Fault::born_before_readers),
    of_rewriting("born_before_copies", "coalescing", "nor do copies and outputs that read it", Fault::born_before_copies),
    of_rewriting("born_for_two", "coalescing", "a value of two write-backs is born in the target of one", Fault::born_for_two),
    misreading("shared_out_letter", "shared: effects", "the alias letters of an out= op are mixed up", out_letter_swapped),
    misreading("shared_keyword", "shared: effects", "keyword arguments are missed", keyword_dropped),
    misreading("shared_getitem_index", "shared: text", "every element of a tuple is read as the first", getitem_index_lost),
    misreading("shared_view_offset", "shared: views", "a view starts where its base does", view_offset_lost),
    misreading("shared_alias_geometry", "shared: archive", "parts of a shared storage start at its beginning", alias_geometry_lost),
};

}  // namespace

std::span<const PlantedFault> planted_faults() { return kBank; }

const PlantedFault* find_fault(std::string_view name) {
  const auto found = std::find_if(std::begin(kBank), std::end(kBank), [&](const PlantedFault& f) { return f.name == name; });
  return found == std::end(kBank) ? nullptr : found;
}

void plant(const PlantedFault& fault) {
  if (fault.clause)
    impl::faulty::plant(*fault.clause);
  else
    impl::faulty::plant(fault.fault);
}

}  // namespace writeback::fuzz
