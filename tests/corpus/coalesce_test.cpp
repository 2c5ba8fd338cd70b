// Values born in their targets: the reference runs the result in the shared storage and finds the same meaning, on every program of
// the corpus; what design and torch forbid is left alone; and each way to get it wrong gives a program that the reference refuses.
#include "impl/coalesce.h"

#include <gtest/gtest.h>

#include "impl/planted_place.h"
#include "ref/graph/text.h"
#include "ref/meaning.h"
#include "tests/corpus/expectations.h"
#include "tests/impl/small_program.h"

namespace writeback::corpus {
namespace {

constexpr impl::Savings kBoth{.forward = true, .coalesce = true};

impl::Rewritten rewritten(const Program& program) { return impl::rewrite(program, impl::place(program).placement, kBoth); }

ref::Verdict verdict_on(const Program& before, const Program& after) { return ref::equivalent(before, after, {}).verdict; }

TEST(Coalesce, KeepsTheMeaningOfEveryProgram) {
  std::vector<Case> cases = text_cases();
  for (Case& c : random_cases()) cases.push_back(std::move(c));
  std::size_t born = 0;
  for (const Case& c : cases) {
    const Placement placement = impl::place(c.program, c.options).placement;
    const impl::Rewritten after = impl::rewrite(c.program, placement, kBoth, c.options);
    if (after.births.empty()) continue;
    born += after.births.size();
    EXPECT_EQ(ref::equivalent(c.program, after.program, c.options).verdict, ref::Verdict::safe) << c.name << "\n"
                                                                                                << print_text(after.program);
    EXPECT_EQ(read_text(print_text(after.program)).births, after.program.births) << c.name;
  }
  EXPECT_GT(born, 100u);
}

TEST(Coalesce, AnElementwiseValueIsBornOverTheStateThatItReads) {
  const Program program = impl::small_program("b_a; x\nnew = aten.add.Tensor(b_a, x)\ny = aten.neg.default(new)\n-> b_a = new, y");
  const impl::Rewritten after = rewritten(program);
  ASSERT_EQ(after.births.size(), 1u);
  EXPECT_TRUE(print_text(after.program).starts_with("# born_in: new b_a\n"));
  EXPECT_EQ(after.program.graph.nodes.size(), 2u);  // and no copy
  EXPECT_EQ(verdict_on(program, after.program), ref::Verdict::safe);
}

struct Forbidden {
  const char *name, *program;
  impl::Fault fault;  ///< that lets it pass
};

constexpr Forbidden kForbidden[] = {
    {"an op that does not read cell by cell", "b_a; x\nnew = aten.flip.default(b_a, [0])\n-> b_a = new",
     impl::Fault::born_by_any_op},
    {"an operand that is a part of the target",
     "b_a; x\nv: \"f32[1]\" = aten.slice.Tensor(b_a, 0, 1, 2)\nnew = aten.add.Tensor(b_a, v)\n-> b_a = new",
     impl::Fault::born_over_part},
    {"a later reader of the old state", "b_a; x\nnew = aten.neg.default(x)\ny = aten.cos.default(b_a)\n-> b_a = new, y",
     impl::Fault::born_before_readers},
    {"a later copy of the old state",
     "b_a; b_b; x\nnew = aten.neg.default(x)\ny = aten.cos.default(b_b)\n-> b_b = b_a, b_a = new, y",
     impl::Fault::born_before_copies},
    {"a value for two", "b_a; b_b; x\nnew = aten.neg.default(x)\n-> b_a = new, b_b = new", impl::Fault::born_for_two},
};

TEST(Coalesce, LeavesAloneWhatWouldBeWrong) {
  for (const Forbidden& f : kForbidden) {
    const Program program = impl::small_program(f.program);
    const Placement placement = impl::place(program).placement;
    EXPECT_TRUE(impl::coalescible(program, placement).empty()) << f.name;
    impl::faulty::plant(f.fault);
    const Program wrong = impl::faulty::rewrite(program, placement, kBoth, {}, {}).program;
    impl::faulty::plant(impl::Fault::none);
    EXPECT_EQ(verdict_on(program, wrong), ref::Verdict::unsafe) << f.name << "\n" << print_text(wrong);
  }
}

TEST(Coalesce, LeavesValuesThatLeaveTheProgram) {
  const auto births = [](const char* text) { return rewritten(impl::small_program(text)).births.size(); };
  EXPECT_EQ(births("b_a; x\nnew = aten.neg.default(x)\n-> b_a = new, x"), 1u);
  EXPECT_EQ(births("b_a; x\nnew = aten.neg.default(x)\n-> b_a = new, new"), 0u);
  EXPECT_EQ(births("b_a; x\nnew = aten.neg.default(x)\nv: \"f32[2, 2]\" = aten.view.default(new, [2, 2])\n-> b_a = new, v"), 0u);
}

TEST(Coalesce, LeavesValuesWhoseGeometryChanges) {
  const Program program = impl::small_program(
      "b_a: \"f32[2, 2]\"; x: \"f32[2, 2]\"\nnew: \"f32[2, 2]\" = aten.neg.default(x)\n"
      "n: \"f32[2, 2]\" = aten.t_.default(new)\n-> b_a = new, x");
  EXPECT_TRUE(rewritten(program).births.empty());
}

/// `turned` is all of b_a in b_a's own order only after it was read.
TEST(Coalesce, LeavesOperandsWhoseGeometryChangesLater) {
  const Program program = impl::small_program(
      "b_a: \"f32[2, 2]\"\nturned: \"f32[2, 2]\" = aten.transpose.int(b_a, 0, 1)\nnew: \"f32[2, 2]\" = aten.neg.default(turned)\n"
      "back: \"f32[2, 2]\" = aten.t_.default(turned)\n-> b_a = new");
  EXPECT_TRUE(rewritten(program).births.empty());
}

TEST(Coalesce, LeavesTargetsThatArePartsOfOtherInputs) {
  const char* text = "b_a: \"f32[8]\"; b_c; x\nnew = aten.neg.default(x)\n-> b_c = new";
  EXPECT_EQ(rewritten(impl::small_program(text)).births.size(), 1u);
  EXPECT_EQ(rewritten(impl::small_program(text, "# alias: b_c = b_a[0; 4; 2]\n")).births.size(), 0u);
}

TEST(Coalesce, AnOldStateThatIsReadFirstDoesNotHinder) {
  const Program program = impl::small_program("b_a; x\nnew = aten.neg.default(x)\n-> b_a = new, b_a");
  const impl::Rewritten after = rewritten(program);
  EXPECT_EQ(after.births.size(), 1u);
  EXPECT_EQ(verdict_on(program, after.program), ref::Verdict::safe);
}

}  // namespace
}  // namespace writeback::corpus
