// One program a condition of the lemmas: BEFORE and AFTER, where AFTER has its copies where the rules without the clause, or the
// induction without the condition, allow them. Found by the bounded encoding (bounded.h, `refute`) or by hand, judged here by the
// reference, which knows nothing of rules and lemmas.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "impl/rule.h"
#include "proofs/lemmas.h"
#include "ref/graph/error.h"
#include "ref/graph/text.h"
#include "ref/meaning.h"

namespace writeback::proofs {
namespace {

Program program_of(const std::string& name, const std::string& side) {
  std::ifstream file(std::filesystem::path(WRITEBACK_TESTS_DIR) / "proofs/refuted" / (name + "." + side + ".txt"));
  std::ostringstream text;
  text << file.rdbuf();
  return read_text(text.str());
}

ref::Verdict verdict_on(const std::string& name) {
  Options options;
  options.trusted = {"my"};
  return ref::equivalent(program_of(name, "before"), program_of(name, "after"), options).verdict;
}

class Refuted : public testing::TestWithParam<impl::Clause> {};

TEST_P(Refuted, WithoutTheClauseAProgramEndsDifferently) {
  const std::string name(impl::name_of(GetParam()));
  if (GetParam() == impl::Clause::computes_value) {
    // A copy before its value is computed cannot even be written down.
    EXPECT_NO_THROW(program_of(name, "before"));
    EXPECT_THROW(program_of(name, "after"), InputError);
    return;
  }
  EXPECT_EQ(verdict_on(name), ref::Verdict::unsafe);
}

std::vector<impl::Clause> every_clause() {
  std::vector<impl::Clause> all;
  for (std::uint8_t c = 0; c < impl::kClauseCount; ++c) all.push_back(static_cast<impl::Clause>(c));
  return all;
}

INSTANTIATE_TEST_SUITE_P(Every, Refuted, testing::ValuesIn(every_clause()),
                         [](const auto& info) { return std::string(impl::name_of(info.param)); });

// ---- every condition of every lemma -------------------------------------------------------------------------------------------

using Condition = std::pair<std::string, std::string>;  ///< lemma, name

/// The program that goes wrong without the condition; of a clause that several lemmas stand on its own program serves one lemma,
/// and need not be listed there.
const std::map<Condition, std::string>& programs() {
  static const std::map<Condition, std::string> all{
      // A live node reads what lowering has changed: of the value, of what it is a view_copy of, of another view_copy.
      {{"L0 reader", "lowered_write_hits_value"}, "node_sees_lowering"},
      {{"L0 reader", "write_hits_lowered_value"}, "reader_of_a_view_copy"},
      {{"L0 reader", "lowered_write_hits_lowered_value"}, "reader_beside_a_view_copy"},
      {{"L0 in place", "lowered_write_hits_value"}, "deadline_in_place"},
      // A node passed by the read of a copy, and by its write.
      {{"L2 events", "the first does not write what the second reads"}, "events_first_writes_second_reads"},
      {{"L2 events", "the second does not write what the first reads"}, "events_second_writes_first_reads"},
      {{"L2 events", "they do not write the same"}, "events_write_the_same"},
      // A node that is taken for dead, and passed by a copy to what it reads.
      {{"L5 dead", "a live node reads nothing that only dead nodes write"}, "dead_write_that_is_read"},
      {{"L5 dead", "a dead node writes nothing but storages of its own"}, "dead_write_to_an_input"},
      {{"L6 order", "events that conflict keep their order"}, "order_of_events"},
      // A set of possible cells that lacks one, a span that ends too early: a conflict is not seen, or a copy is dropped.
      {{"L7 fresh", "its own storage is possible"}, "walk_forgets_own_storage_of_fresh"},
      {{"L7 view", "what is possible of the operand is possible through the op"}, "walk_forgets_operand_of_view"},
      {{"L7 choice", "its own storage is possible"}, "walk_forgets_own_storage_of_choice"},
      {{"L7 choice", "what is possible of the operand is possible through the op"}, "walk_forgets_operand_of_choice"},
      {{"L7 overlap", "the first covers cells of its span"}, "overlap_first_past_its_span"},
      {{"L7 overlap", "the second covers cells of its span"}, "overlap_second_past_its_span"},
      {{"temporaries", "the temporary stands after the value's last writer"}, "temporary_before_last_writer"},
      {{"temporaries", "the temporary stands before copies that overwrite the value"}, "temporary_after_overwriting_copy"},
      // Another placement, before ours.
      {{"least", "the other is after the node"}, "least_before_the_node"},
      {{"least", "the other keeps the order of copies"}, "least_against_the_order"},
      {{"least", "the copy before is not before ours"}, "least_with_the_copy_before"},
      // What is read under the target's name; the target itself is copied to once more at the end.
      {{"forwarding", "nodes that write the target stand before the copy"}, "forward_past_write_of_target"},
      {{"forwarding", "nodes that write the value stand before the copy"}, "forward_past_write_of_value"},
      {{"forwarding", "lowered_write_hits_value"}, "forward_past_node"},
      {{"forwarding", "lowered_write_hits_lowered_value"}, "forward_into_rebased_view"},
      // A value is born in its target, over an operand, before a reader or a writer.
      {{"birth", "birth_before_read"}, "birth_over_operand"},
      {{"birth", "birth_before_lowered_read"}, "birth_over_lowered_operand"},
      {{"coalescing", "reads_target"}, "birth_before_node"},
      {{"coalescing", "reads_target_by_lowering"}, "birth_before_lowered_node_read"},
      {{"coalescing", "writes_target"}, "birth_before_write"},
      {{"coalescing", "writes_target_by_lowering"}, "birth_before_lowered_write"},
      {{"coalescing", "lowered_write_hits_value"}, "birth_before_lowered_write_to_value"},
  };
  return all;
}

/// Conditions without which nothing goes wrong that a program could show, and why.
const std::map<Condition, std::string>& reasons() {
  const std::string in_place = "a value in place lies where its target lies, and no lowering moves an input";
  const std::string born = "only a value that no lowering moves is born in its target";
  static const std::map<Condition, std::string> all{
      {{"L6 order", "the earliest place moves first"},
       "the proof chooses in which order it moves events; the placement in which they end is the same"},
      {{"least", "ours stands at one of its bounds"},
       "a copy behind all of its bounds is safe: AFTER of least_not_at_a_bound is earlier, and the reference finds it safe"},
      {{"L0 in place", "write_hits_lowered_value"}, in_place},
      {{"L0 in place", "lowered_write_hits_lowered_value"}, in_place},
      {{"coalescing", "write_hits_lowered_value"}, born},
      {{"coalescing", "lowered_write_hits_lowered_value"}, born},
      {{"forwarding", "write_hits_lowered_value"},
       "it keeps the value itself, for readers that are not forwarded: after such a write L0 reader refuses them already"},
  };
  return all;
}

bool is_clause(const std::string& name) {
  return std::ranges::any_of(every_clause(), [&](impl::Clause c) { return impl::name_of(c) == name; });
}

TEST(RefutedConditions, EachHasAProgramThatEndsDifferently) {
  for (const auto& [condition, name] : programs())
    EXPECT_EQ(verdict_on(name), ref::Verdict::unsafe) << condition.first << " without: " << condition.second;
}

TEST(RefutedConditions, ACopyBehindItsBoundsIsSafeButNotTheLeast) {
  EXPECT_EQ(verdict_on("least_not_at_a_bound"), ref::Verdict::safe);
}

TEST(RefutedConditions, AllHaveAProgramOrAReason) {
  std::set<Condition> conditions;
  std::set<std::string> once;  // clauses whose own program serves a lemma
  for (const Lemma& lemma : lemmas())
    for (const std::string& name : conditions_of(lemma)) {
      const Condition condition{lemma.name, name};
      conditions.insert(condition);
      const std::size_t listed = programs().count(condition) + reasons().count(condition);
      const bool own = listed == 0 && is_clause(name) && once.insert(name).second;
      EXPECT_EQ(listed + (own ? 1 : 0), 1u) << lemma.name << ": " << name;
    }
  for (const auto& table : {programs(), reasons()})
    for (const auto& [condition, what] : table)
      EXPECT_TRUE(conditions.contains(condition)) << condition.first << ": " << condition.second;
}

}  // namespace
}  // namespace writeback::proofs
