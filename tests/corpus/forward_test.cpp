// Forwarded readers: the reference finds the same meaning on every program of the corpus and on every model, and the plan is
// smaller.
#include "impl/forward.h"

#include <gtest/gtest.h>

#include "impl/planted_place.h"
#include "ref/graph/text.h"
#include "ref/meaning.h"
#include "tests/corpus/expectations.h"
#include "tests/impl/small_program.h"

namespace writeback::corpus {
namespace {

std::vector<Case> all_cases() {
  std::vector<Case> cases = text_cases();
  for (Case& c : random_cases()) cases.push_back(std::move(c));
  return cases;
}

TEST(Forward, KeepsTheMeaningOfEveryProgram) {
  std::size_t forwarded = 0;
  for (const Case& c : all_cases()) {
    const Placement placement = impl::place(c.program, c.options).placement;
    const auto readers = impl::forwardable(c.program, placement, c.options);
    if (readers.empty()) continue;
    forwarded += readers.size();
    const Program after = impl::with_forwarded_readers(c.program, placement, readers);
    const ref::Judgement judgement = ref::equivalent(c.program, after, c.options);
    EXPECT_EQ(judgement.verdict, ref::Verdict::safe) << c.name << "\n" << print_text(after);
  }
  EXPECT_GT(forwarded, 100u);
}

/// A program, a reader of the value that must not be forwarded, and the fault that forwards it.
struct Forbidden {
  const char *name, *program;
  impl::Fault fault;
};

constexpr Forbidden kForbidden[] = {
    {"a state that is written again",
     "b_a; x\np = aten.neg.default(x)\nq = aten.sin.default(x)\ny = aten.cos.default(p)\n-> b_a = p, b_a = q, y",
     impl::Fault::forwarded_past_writers},
    {"a view that leaves the program",
     "b_a; x\np = aten.neg.default(x)\ny: \"f32[2, 2]\" = aten.view.default(p, [2, 2])\n-> b_a = p, y",
     impl::Fault::forwarded_into_output},
    {"an element that leaves the program",
     "b_a: \"f32[2]\"; x: \"f32[2]\"\np: \"f32[2]\" = aten.neg.default(x)\nl = aten.split.Tensor(p, 1)\ny: \"f32[1]\" = l[0]\n-> "
     "b_a = p, y",
     impl::Fault::forwarded_into_output},
    {"a state with other strides",
     "b_a: \"f32[2, 2][1, 2]\"; x: \"f32[2, 2][2, 1]\"\np: \"f32[2, 2][2, 1]\" = aten.neg.default(x)\n"
     "v: \"f32[4]\" = aten.as_strided.default(p, [4], [1], 0)\ny = aten.cos.default(v)\n-> b_a = p, y",
     impl::Fault::forwarded_across_strides},
};

TEST(Forward, LeavesAloneWhatWouldBeWrong) {
  for (const Forbidden& f : kForbidden) {
    const Program program = impl::small_program(f.program);
    const Placement placement = impl::place(program).placement;
    EXPECT_TRUE(impl::forwardable(program, placement).empty()) << f.name;
    impl::faulty::plant(f.fault);
    const Program wrong = impl::faulty::rewrite(program, placement, {.forward = true}, {}, {}).program;
    impl::faulty::plant(impl::Fault::none);
    EXPECT_EQ(ref::equivalent(program, wrong, {}).verdict, ref::Verdict::unsafe) << f.name << "\n" << print_text(wrong);
  }
}

TEST(Forward, LeavesAloneWhatMayLieOtherwiseThanTheState) {
  const std::string
      read = "v: \"f32[3]\" = aten.as_strided.default(p, [3], [1], 0)\ny: \"f32[3]\" = aten.cos.default(v)\n-> b_a = p, y",
      inputs = "b_a: \"f32[2, 2]\"; x: \"f32[2, 2]\"\n";
  const std::string transposed_in_place =
      inputs + "p: \"f32[2, 2]\" = aten.neg.default(x)\nt: \"f32[2, 2]\" = aten.t_.default(p)\n" + read;
  const std::string view_without_strides =
      inputs + "n: \"f32[2, 2]\" = aten.neg.default(x)\np: \"f32[2, 2]\" = aten.t.default(n)\n" + read;
  for (const std::string& text : {transposed_in_place, view_without_strides}) {
    const Program program = impl::small_program(text);
    EXPECT_TRUE(impl::forwardable(program, impl::place(program).placement).empty()) << text;
  }
}

TEST(Forward, LeavesAloneWhatWouldBePartOfAnotherInput) {
  const char* text =
      "b_a: \"f32[8]\"; b_c; x\np = aten.neg.default(x)\nv: \"f32[2]\" = aten.as_strided.default(p, [2], [1], 0)\n"
      "y: \"f32[2]\" = aten.cos.default(v)\n-> b_c = p, y";
  for (const auto& [comments, readers] : {std::pair("", 1u), std::pair("# alias: b_c = b_a[0; 4; 2]\n", 0u)}) {
    const Program program = impl::small_program(text, comments);
    EXPECT_EQ(impl::forwardable(program, impl::place(program).placement).size(), readers) << comments;
  }
}

TEST(Forward, TakesReadersOfTheLastOfTwoStates) {
  const Program program = impl::small_program(
      "b_a; x\np = aten.neg.default(x)\nq = aten.sin.default(x)\ny = aten.cos.default(p)\nz = aten.cos.default(q)\n"
      "-> b_a = p, b_a = q, y, z");
  const auto readers = impl::forwardable(program, impl::place(program).placement);
  ASSERT_EQ(readers.size(), 1u);
  EXPECT_EQ(readers[0].copy, 1u);
  EXPECT_EQ(program.graph.node(readers[0].node).name, "z");
}

}  // namespace
}  // namespace writeback::corpus
