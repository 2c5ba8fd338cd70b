TEST(Found, UnsafeReadsTargetBufferInputOp) {
  const Program program = read_text(R"(
# alias: b_b = b_a[1; 2; 1]
ExportedProgram:
    class GraphModule(torch.nn.Module):
        def forward(self, b_a: "f32[2, 2]", b_b: "f32[2]"):
            # No stacktrace found for following nodes
            t0: "f32[2]" = torch.ops.aten.neg.default(b_b)
            t1: "f32[2]" = torch.ops.aten.mul_.Scalar(t0, 3);  t0 = t1 = None
            return (b_b,)
    
Graph signature: 
    # inputs
    b_a: BUFFER target='a' persistent=True
    b_b: BUFFER target='b' persistent=True
    
    # outputs
    b_b: BUFFER_MUTATION target='a'
    
Range constraints: {}
)");
  const Options options = fuzz::options_of(program);
  const impl::PlaceResult result = impl::place(program, options);
  EXPECT_EQ(ref::judge(program, result.placement, options).verdict, ref::Verdict::safe);
  EXPECT_EQ(result.placement.copies, ref::earliest_by_trace(program, options).copies);
  EXPECT_TRUE(impl::accept(program, result.placement, options).empty());
}
