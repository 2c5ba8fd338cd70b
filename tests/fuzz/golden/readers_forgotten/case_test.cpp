TEST(Found, UnsafeReadsTargetInputInputOp) {
  const Program program = read_text(R"(
ExportedProgram:
    class GraphModule(torch.nn.Module):
        def forward(self, b_a: "f32[4]", x_c: "f32[4]"):
            # No stacktrace found for following nodes
            t7: "f32[4]" = torch.ops.aten.neg.default(x_c);  x_c = None
            return (t7, b_a)
    
Graph signature: 
    # inputs
    b_a: BUFFER target='a' persistent=True
    x_c: USER_INPUT
    
    # outputs
    t7: USER_OUTPUT
    b_a: USER_INPUT_MUTATION target='x_c'
    
Range constraints: {}
)");
  const Options options = fuzz::options_of(program);
  const impl::PlaceResult result = impl::place(program, options);
  EXPECT_EQ(ref::judge(program, result.placement, options).verdict, ref::Verdict::safe);
  EXPECT_EQ(result.placement.copies, ref::earliest_by_trace(program, options).copies);
  EXPECT_TRUE(impl::accept(program, result.placement, options).empty());
}
