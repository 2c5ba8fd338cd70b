// Forwarded readers: the reference finds the same meaning on every program of the corpus and on every model, and the plan is
// smaller.
#include "impl/forward.h"

#include <gtest/gtest.h>

#include "ref/graph/text.h"
#include "ref/meaning.h"
#include "tests/corpus/expectations.h"

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

TEST(Forward, LeavesReadersOfAStateThatIsWrittenAgain) {
  const Program program = read_text(R"(
ExportedProgram:
    class GraphModule(torch.nn.Module):
        def forward(self, b_a: "f32[4]", x: "f32[4]"):
            p: "f32[4]" = torch.ops.aten.neg.default(x)
            q: "f32[4]" = torch.ops.aten.sin.default(x);  x = None
            y: "f32[4]" = torch.ops.aten.cos.default(p)
            z: "f32[4]" = torch.ops.aten.cos.default(q)
            return (p, q, y, z)

Graph signature:
    # inputs
    b_a: BUFFER target='a' persistent=True
    x: USER_INPUT

    # outputs
    p: BUFFER_MUTATION target='a'
    q: BUFFER_MUTATION target='a'
    y: USER_OUTPUT
    z: USER_OUTPUT

Range constraints: {}
)");
  const auto readers = impl::forwardable(program, impl::place(program).placement);
  ASSERT_EQ(readers.size(), 1u);
  EXPECT_EQ(readers[0].copy, 1u);
  EXPECT_EQ(program.graph.node(readers[0].node).name, "z");
}

}  // namespace
}  // namespace writeback::corpus
