TEST(Found, UnexplainedWritesTargetBufferView) {
  const Program program = read_text(R"(
ExportedProgram:
    class GraphModule(torch.nn.Module):
        def forward(self, p_a: "f32[4]", b_b: "f32[2]", b_c: "f32[]"):
            # No stacktrace found for following nodes
            t0: "f32[2]" = torch.ops.aten.expand.default(b_c, [2]);  b_c = None
            t1: "f32[]" = torch.ops.aten.sum.default(b_b);  b_b = None
            return (t0, t1)
    
Graph signature: 
    # inputs
    p_a: PARAMETER target='a'
    b_b: BUFFER target='b' persistent=True
    b_c: BUFFER target='c' persistent=True
    
    # outputs
    t0: BUFFER_MUTATION target='b'
    t1: PARAMETER_MUTATION target='a'
    
Range constraints: {}
)");
  const Options options = fuzz::options_of(program);
  const impl::PlaceResult result = impl::place(program, options);
  EXPECT_EQ(ref::judge(program, result.placement, options).verdict, ref::Verdict::safe);
  EXPECT_EQ(result.placement.copies, ref::earliest_by_trace(program, options).copies);
  EXPECT_TRUE(impl::accept(program, result.placement, options).empty());
}
