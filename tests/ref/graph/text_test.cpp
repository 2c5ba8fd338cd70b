#include "ref/graph/text.h"

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <sstream>

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

/// The code alone, as a user pastes it.
std::string readable(const std::string& body) {
  return "class GraphModule(torch.nn.Module):\n    def forward(self, b_a: \"f32[4]\", x: \"f32[4]\"):\n" + body;
}

const Program& small_readable() {
  static const Program program =
      read_text(readable("        y = torch.ops.aten.add.Tensor(b_a, x);  b_a = x = None\n        return (y,)\n"));
  return program;
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const std::size_t at = text.find(from);
  if (at == std::string::npos)
    ADD_FAILURE() << "no '" << from << "' in the text";
  else
    text.replace(at, from.size(), to);
  return text;
}

std::string contents(const std::filesystem::path& path) {
  std::stringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

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
  EXPECT_TRUE(p.warnings.empty());
}

/// Texts that torch printed: those of tests/texts, of the models and of the corpus.
TEST(Text, PrintsByteForByteWhatTorchPrinted) {
  const std::filesystem::path tests(WRITEBACK_TESTS_DIR);
  std::size_t count = 0;
  for (const auto* folder : {"texts", "models", "corpus", "corpus/exported"}) {
    if (!std::filesystem::exists(tests / folder)) continue;
    for (const auto& file : std::filesystem::directory_iterator(tests / folder)) {
      if (file.path().extension() != ".txt") continue;
      std::string text = contents(file.path());
      if (text.ends_with("\n\n")) text.pop_back();  // print() ends the line once more
      EXPECT_EQ(print_text(read_text(text)), text) << file.path();
      ++count;
    }
  }
  EXPECT_GT(count, 80u);
}

TEST(Text, AnnotationsThatNoLongerHoldAreNotPrinted) {
  Program p = read_text(kSmall);
  p.share_allocations.clear();
  p.schemas = {"my::op(Tensor x) -> Tensor"};
  const std::string text = print_text(p);
  EXPECT_EQ(text.find("share_alloc"), std::string::npos);
  EXPECT_TRUE(
      text.starts_with("# title: small\n# alias: b_a b_b\n# alias: b_c = b_a[1; 2; 1]\n# expect: b_a <- t after t\n"
                       "# schema: my::op(Tensor x) -> Tensor\nExportedProgram:\n"))
      << text;
}

TEST(Text, AStorageMayHaveNoPlaceholderThatIsTheWholeOfIt) {
  const std::string text = replaced(kSmall, "# alias: b_c = ", "# alias: b_a = b_a[2; 4; 1]\n# alias: b_c = ").erase(15, 17);
  const Program p = read_text(text);
  ASSERT_EQ(p.alias_groups.size(), 1u);
  EXPECT_EQ(p.alias_groups[0][0].geometry, (AliasMember::Geometry{2, {4}, {1}}));
  EXPECT_EQ(p.alias_groups[0][1].geometry, (AliasMember::Geometry{1, {2}, {1}}));
  EXPECT_EQ(print_text(p), text);
}

TEST(Text, StridesOfAPlaceholderThatIsNotContiguousArePrinted) {
  Program p = read_text(replaced(kSmall, "x: \"f32[4]\"", "x: \"f32[2, 2][1, 2]\""));
  EXPECT_NE(print_text(p).find("x: \"f32[2, 2][1, 2]\""), std::string::npos);
  EXPECT_EQ(tensor_meta(read_text(print_text(p)).graph.placeholders[3].meta)->strides, (std::vector<SymInt>{1, 2}));
  std::get<TensorMeta>(p.graph.placeholders[3].meta).strides = {{2, 1}};
  EXPECT_NE(print_text(p).find("x: \"f32[2, 2]\""), std::string::npos);
}

TEST(Text, StackTracesOfAnArchiveGiveTheCommentsOfTorch) {
  Program p = read_text(kSmall);
  p.graph.nodes[0].comments.clear();
  const std::string none = print_text(p);
  EXPECT_NE(none.find("\n            # No stacktrace found for following nodes\n"), std::string::npos);
  p.graph.nodes[1].metadata["stack_trace"] =
      "  File \"m.py\", line 3, in forward\n    y = f(t)\n  File \"f.py\", line 7, in f\n    return cat(t)\n";
  const std::string traced = print_text(p);
  EXPECT_NE(traced.find("    \n            # File: f.py:7 in f, code: return cat(t)\n            y: "), std::string::npos)
      << traced;
  EXPECT_NE(traced.find("    \n            # No stacktrace found for following nodes\n            s = "), std::string::npos)
      << traced;
}

TEST(Text, ACommentThatSpeaksOfAProgramIsNoProgram) {
  const std::string text = "# options: class GraphModule(torch.nn.Module):\n# see ExportedProgram:\n" + kSmall;
  EXPECT_EQ(print_text(read_text(text)), text);
}

TEST(Text, CodeWithoutSignatureTellsInputsByName) {
  EXPECT_EQ(small_readable().input_specs[0].kind, InputKind::buffer);
  EXPECT_EQ(small_readable().input_specs[0].target, "a");
  EXPECT_EQ(small_readable().input_specs[1].kind, InputKind::user_input);
  EXPECT_EQ(small_readable().output_specs.size(), 1u);
  EXPECT_EQ(small_readable().warnings.size(), 1u);
}

TEST(Text, OutputsAloneTellInputsByNameAndSaySo) {
  const Program p = read_text(readable("        y = torch.ops.aten.add.Tensor(b_a, x);  b_a = x = None\n        return (y,)\n\n") +
                              "    # outputs\n    y: BUFFER_MUTATION target='a'\n");
  EXPECT_EQ(p.input_specs[0].kind, InputKind::buffer);
  EXPECT_EQ(p.output_specs[0].kind, OutputKind::buffer_mutation);
  ASSERT_EQ(p.warnings.size(), 1u);
  EXPECT_EQ(p.warnings[0], "the text tells no inputs: what an input is was told by its name (p_, b_, c_)");
}

TEST(Text, ASizeWithAQuoteInItIsNoType) {
  for (const std::string type : {"f32[\"2]", "f32[2][\"1]", "Sym(s0 + \"1)"}) {
    const Program p =
        read_text("class GraphModule(torch.nn.Module):\n    def forward(self, b_a: " + type + "):\n        return (b_a,)\n");
    EXPECT_TRUE(std::holds_alternative<std::monostate>(p.graph.placeholders[0].meta)) << type;
    EXPECT_EQ(print_text(read_text(print_text(p))), print_text(p)) << type;
  }
}

TEST(Text, PrintOfAGraphIsTheSameProgram) {
  const Program p = read_text(R"(graph():
    %b_a : [num_users=1] = placeholder[target=b_a]
    %x : [num_users=1] = placeholder[target=x]
    %y : [num_users=1] = call_function[target=torch.ops.aten.add.Tensor](args = (%b_a, %x), kwargs = {})
    return (y,))");
  Graph expected = small_readable().graph;
  for (Placeholder& placeholder : expected.placeholders) placeholder.meta = {};
  EXPECT_EQ(p.graph, expected);
}

TEST(Text, AGraphThatIsNotShownIsAWarning) {
  const Program p = read_text(R"(graph():
    %x : [num_users=1] = placeholder[target=x]
    %lowered_module_0 : [num_users=1] = get_attr[target=lowered_module_0]
    %y : [num_users=1] = call_function[target=torch.ops.higher_order.executorch_call_delegate](args = (%lowered_module_0, %x), kwargs = {})
    return (y,))");
  EXPECT_EQ(p.warnings.back(), "the text does not show the graph 'lowered_module_0': the operator that takes it is opaque");
  EXPECT_EQ(p.graph.nodes.size(), 2u);
}

TEST(Text, PrintOfAGraphQuotesNothing) {
  const Program p = read_text(R"(graph(x):
    %x := placeholder[target=x](default=None)
    %y : [#users=2] = call_function[target=torch.ops.aten.full.default](args = ([2, -1], -inf), kwargs = {dtype: torch.float32, device: cuda:0, mode: floor, pin_memory: False})
    return [x, y])");
  const Node& y = p.graph.nodes[0];
  EXPECT_EQ(y.args[1], Argument(-INFINITY));
  EXPECT_EQ(y.kwargs[0].value, Argument(Symbol{Symbol::Kind::dtype, "torch.float32"}));
  EXPECT_EQ(y.kwargs[1].value, Argument(Symbol{Symbol::Kind::device, "device(type='cuda', index=0)"}));
  EXPECT_EQ(y.kwargs[2].value, Argument(std::string("floor")));
  EXPECT_EQ(y.kwargs[3].value, Argument(false));
  EXPECT_TRUE(p.graph.returns_list);
}

TEST(Text, UsersThatTheTextDoesNotShowAreAWarning) {
  const std::string text = R"(# Graph fragment:
#   %arg0_1 : Tensor "f32[1][1]mps:0" = PlaceHolder[target=arg0_1]
#   %y : Tensor "f32[1][1]mps:0"[num_users=3] = call_function[target=torch.ops.aten.neg.default](args = (%arg0_1,), kwargs = {})
#   return %y
)";
  const Program p = read_text(text);
  EXPECT_EQ(tensor_meta(p.graph.nodes[0].meta)->device, "mps:0");
  ASSERT_EQ(p.warnings.size(), 2u);
  EXPECT_EQ(p.warnings[0], "%y has num_users=3 but 1 are there: the text seems cut");
  EXPECT_EQ(read_text(replaced(text, "num_users=3", "num_users=1")).warnings.size(), 1u);
}

TEST(Text, TableIsTheSameProgram) {
  const Program p = read_text(R"(opcode         name    target           args       kwargs
-------------  ------  ---------------  ---------  --------
placeholder    b_a     b_a              ()         {}
placeholder    x       x                ()         {}
call_function  y       aten.add.Tensor  (b_a, x)   {}
output         output  output           ((y,),)    {}
)");
  Graph expected = small_readable().graph;
  for (Placeholder& placeholder : expected.placeholders) placeholder.meta = {};
  EXPECT_EQ(p.graph, expected);
}

TEST(Text, QuotingLogPrefixesFencesAndColoursAreSkipped) {
  const std::string code = readable("        y = torch.ops.aten.add.Tensor(b_a, x);  b_a = x = None\n        return (y,)\n");
  std::string quoted = "Hello,\n> I see:\n> ```\n", logged = "some line\n", coloured;
  std::istringstream lines(code);
  for (std::string line; std::getline(lines, line);) {
    quoted += "> " + line + "\n";
    logged += "V0101 12:00:00.123 7 torch/g.py:1] [0/0] [__code] " + line + "\n";
    coloured += "\x1b[31m" + line + "\x1b[0m\r\n";
  }
  quoted += "> ```\n\nWhy?\n";
  EXPECT_EQ(read_text(quoted).graph, small_readable().graph);
  EXPECT_EQ(read_text(logged).graph, small_readable().graph);
  EXPECT_EQ(read_text(coloured).graph, small_readable().graph);
}

TEST(Text, AProgramBehindHashesIsReadWhereThereIsNoOther) {
  const std::string code = readable("        y = torch.ops.aten.add.Tensor(b_a, x);  b_a = x = None\n        return (y,)\n");
  std::string hashed;
  std::istringstream lines(code);
  for (std::string line; std::getline(lines, line);) hashed += "# " + line + "\n";
  EXPECT_EQ(read_text(hashed).graph, small_readable().graph);
  EXPECT_EQ(read_text("# class Old(torch.nn.Module):\n" + code).graph, small_readable().graph);
}

TEST(Text, UnliftedModuleHasItsStateAsBuffers) {
  const Program p = read_text(R"(class GraphModule(torch.nn.Module):
    def forward(self, x):
        x: "f32[4]"; 

        x, = fx_pytree.tree_flatten_spec(([x], {}), self._in_spec)
        # No stacktrace found for following nodes
        a: "f32[4]" = self.a
        w: "f32[4]" = getattr(self, "0").weight
        _guards_fn = self._guards_fn(x);  _guards_fn = None
        true_graph_0 = self.true_graph_0
        cond = torch.ops.higher_order.cond(x, true_graph_0, true_graph_0, (a, w));  true_graph_0 = w = None
        getitem: "f32[4]" = cond[0];  cond = None
        add_: "f32[4]" = torch.ops.aten.add_.Tensor(a, x);  a = x = add_ = None
        return pytree.tree_unflatten((getitem,), self._out_spec)

    class true_graph_0(torch.nn.Module):
        def forward(self, a: "f32[4]", w: "f32[4]"):
            # No stacktrace found for following nodes
            mul: "f32[4]" = torch.ops.aten.mul.Tensor(a, w);  a = w = None
            return (mul,)
)");
  ASSERT_EQ(p.graph.placeholders.size(), 3u);
  EXPECT_EQ(p.input_specs[1], (InputSpec{InputKind::buffer, "0.weight", std::nullopt}));
  EXPECT_EQ(p.graph.nodes[0].name, "true_graph_0");
  EXPECT_EQ(p.graph.nodes[3].args, (std::vector<Argument>{value_id(0), value_id(2)}));
  EXPECT_EQ(p.graph.subgraphs.size(), 1u);
  EXPECT_EQ(print_text(read_text(print_text(p))), print_text(p));
}

TEST(Text, SignatureAsReprOfADataclass) {
  std::string text = kSmall.substr(0, kSmall.find("Graph signature:"));
  text += R"(Graph signature: ExportGraphSignature(
    input_specs=[InputSpec(kind=<InputKind.BUFFER: 3>, arg=TensorArgument(name='b_a'), target='a', persistent=True),
                 InputSpec(kind=<InputKind.BUFFER: 3>, arg=TensorArgument(name='b_b'), target='b', persistent=False),
                 InputSpec(kind=<InputKind.BUFFER: 3>, arg=TensorArgument(name='b_c'), target='c', persistent=True),
                 InputSpec(kind=<InputKind.USER_INPUT: 1>, arg=TensorArgument(name='x'), target=None, persistent=None)],
    output_specs=[OutputSpec(kind=<OutputKind.BUFFER_MUTATION: 3>, arg=TensorArgument(name='t'), target='a'),
                  OutputSpec(kind=<OutputKind.USER_OUTPUT: 1>, arg=TensorArgument(name='y'), target=None),
                  OutputSpec(kind=<OutputKind.USER_OUTPUT: 1>, arg=ConstantArgument(name='', value=None), target=None)])
Range constraints: {}
)";
  EXPECT_EQ(print_text(read_text(text)), kSmall);
}

TEST(Text, SignatureOfTorch21) {
  std::string text = kSmall.substr(0, kSmall.find("Graph signature:"));
  text +=
      "Graph signature: ExportGraphSignature(parameters=[], buffers=['a', 'b', 'c'], user_inputs=['x'], "
      "user_outputs=['y', None], inputs_to_parameters={}, inputs_to_buffers={'b_a': 'a', 'b_b': 'b', 'b_c': 'c'}, "
      "buffers_to_mutate={'t': 'a'}, backward_signature=None)\n";
  const Program p = read_text(text);
  EXPECT_EQ(write_backs(p), write_backs(read_text(kSmall)));
  EXPECT_EQ(p.input_specs[1].target, "b");
  EXPECT_EQ(p.input_specs[3].kind, InputKind::user_input);
}

TEST(Text, RangeConstraintsOfEveryStyle) {
  const std::string now = replaced(kSmall, "{}\n", "{s1: VR[2, 9], s0: VR[0, int_oo], zf0: VR[-oo, oo]}\n");
  EXPECT_EQ(print_text(read_text(now)), now);
  const std::string old =
      replaced(kSmall, "{}\n", "{s1: RangeConstraint(min_val=2, max_val=9), s0: ValueRanges(lower=0, upper=oo, is_bool=False)}\n");
  EXPECT_EQ(read_text(old).range_constraints, (std::map<std::string, SymRange>{{"s0", {0, SymRange{}.max}}, {"s1", {2, 9}}}));
}

TEST(Text, EdgeNamesAreSplitByTheSchemas) {
  const Program p = read_text("# schema: my::long_name.over_load(Tensor x) -> Tensor\n" + readable(R"(
        a = executorch_exir_dialects_edge__ops_aten_sum_dim_IntList(x, [0])
        b = executorch_exir_dialects_edge__ops_my_long_name_over_load(a)
        c = executorch_exir_dialects_edge__ops_dim_order_ops__to_dim_order_copy_default(b)
        return (c,)
)"));
  EXPECT_EQ(p.targets[0].qualified_name(), "aten::sum.dim_IntList");
  EXPECT_EQ(p.targets[1].qualified_name(), "my::long_name.over_load");
  EXPECT_EQ(p.targets[2].qualified_name(), "dim_order_ops::_to_dim_order_copy");
  EXPECT_EQ(p.targets[2].kind, Target::Kind::edge_op);
}

TEST(Text, CutListsAreAWarning) {
  const Program p = read_text(readable("        y = torch.ops.aten.view.default(x, [1, 2, ...])\n        return (y,)\n"));
  EXPECT_EQ(p.warnings[0], "line 3, column 51: a list is cut ('...'); what stood there is not known");
}

TEST(Text, PythonValuesPrintAsPythonPrintsThem) {
  const std::string values =
      R"(1e-05, 1e+22, 1.5e-07, 123456789.123, 1000000000000000.0, 1e+16, 0.0001, -0.0, 3.0, inf, -inf, nan, )"
      R"((1+2j), 2j, 9223372036854775807, 9223372036854775808, True, None, 'it\'s "q"\n\té\\', "it's", '\x7f\xa0\u2028', )"
      R"([], (), (1,), [[1, 2], (3,)], {'a': 1, 'b': [x]}, slice(None, 2, -1), device(type='cpu', index=0), torch.float32, )"
      R"(torch.ops.my.op.default, k = x, l = [None, x])";
  const std::string line = "y = torch.ops.my.op.default(" + values + ")\n";
  EXPECT_NE(print_text(read_text(readable("        " + line + "        return (y,)\n"))).find(line.substr(0, line.size() - 2)),
            std::string::npos);
}

TEST(Text, OperatorsOfPythonArePrintedAsOperators) {
  const std::string body = R"(            a = x + 2
            b = a // b_a;  a = b_a = None
            c = -b;  b = None
            d = c ** 2;  c = None
            e = torch.sym_max(d, x);  d = x = None
            f = e >= -1;  e = None
            return (f,)
)";
  EXPECT_NE(print_text(read_text(readable(body))).find(body), std::string::npos);
}

}  // namespace
}  // namespace writeback
