#include "ref/graph/text.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "ref/graph/error.h"

namespace writeback {
namespace {

const std::string kSmall = R"(# title: small
# alias: b_a b_b
# alias: b_c = b_a[1; 2; 1]
# share_alloc: y 0
# expect: b_a <- t after t
ExportedProgram:
    class GraphModule(torch.nn.Module):
        def forward(self, b_a: "f32[4]", b_b: "f32[4]", b_c: "f32[2]", x: "f32[4]"):
            # No stacktrace found for following nodes
            t: "f32[4]" = torch.ops.aten.add.Tensor(b_a, x, alpha = 1e-05);  b_a = x = None
            y: "f32[4]" = torch.ops.aten.cat.default([t, t], -1)  # after %t
            s = torch.ops.aten.split.Tensor(y, 2)
            g: "f32[2]" = s[0];  s = g = None
            return (t, y, None)
    
Graph signature: 
    # inputs
    b_a: BUFFER target='a' persistent=True
    b_b: BUFFER target='b' persistent=False
    b_c: BUFFER target='c' persistent=True
    x: USER_INPUT
    
    # outputs
    t: BUFFER_MUTATION target='a'
    y: USER_OUTPUT
    : USER_OUTPUT
    
Range constraints: {}
)";

TEST(Text, PrintsWhatItRead) { EXPECT_EQ(print_text(read_text(kSmall)), kSmall); }

TEST(Text, ReadsNamesValuesAndAnnotations) {
  const Program p = read_text(kSmall);
  EXPECT_EQ(p.graph.placeholders.size(), 4u);
  EXPECT_EQ(p.target(p.graph.nodes[0]).qualified_name(), "aten::add.Tensor");
  EXPECT_EQ(p.graph.nodes[0].kwargs[0].value, Argument(1e-05));
  EXPECT_EQ(p.alias_groups.size(), 1u);
  EXPECT_EQ(p.alias_groups[0].size(), 3u);
  EXPECT_EQ(p.share_allocations, (std::vector<ShareAllocation>{{node_id(1), 0}}));
  EXPECT_EQ(write_backs(p), (std::vector<WriteBack>{{0, value_id(0), value_id(4)}}));
  EXPECT_EQ(p.graph.nodes[1].trailing_comment, "# after %t");
}

}  // namespace
}  // namespace writeback
