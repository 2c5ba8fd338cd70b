// Related programs: what may differ between their answers, and what not.
#include "fuzz/relations.h"

#include <gtest/gtest.h>

#include "impl/place.h"
#include "ref/graph/text.h"

namespace writeback::fuzz {
namespace {

/// Two nodes that read two buffers; b_a and x_c change places. With the reader of b_a first, b_a is written early and its old state
/// is what a temporary keeps; with it last, x_c's is.
TEST(Relations, NeighboursSwappedMayTakeAnotherTemporary) {
  const Program program = read_text(R"(ExportedProgram:
    class GraphModule(torch.nn.Module):
        def forward(self, b_a: "f32[]", b_b: "f32[4]", x_c: "f32[]"):
            t0: "f32[]" = torch.ops.aten.mul.Scalar(b_a, 2)
            t1: "f32[1]" = torch.ops.aten.slice.Tensor(b_b, 0, 2, 3, 1)
            return (x_c, b_a, t0, b_a, t1)

Graph signature:
    # inputs
    b_a: BUFFER target='a' persistent=True
    b_b: BUFFER target='b' persistent=True
    x_c: USER_INPUT

    # outputs
    x_c: BUFFER_MUTATION target='a'
    b_a: BUFFER_MUTATION target='b'
    t0: USER_OUTPUT
    b_a: USER_INPUT_MUTATION target='x_c'
    t1: USER_OUTPUT
)");
  Random random(0);
  const auto relation = with_swapped_neighbours(program, {}, random);
  ASSERT_TRUE(relation);
  const Placement before = impl::place(program).placement, after = impl::place(relation->program).placement;
  EXPECT_NE(before.temporaries.front().of, after.temporaries.front().of);
  EXPECT_TRUE(relation->holds(before, after));
  Placement more = after;
  more.temporaries.push_back(more.temporaries.front());
  EXPECT_FALSE(relation->holds(before, more));
}

}  // namespace
}  // namespace writeback::fuzz
