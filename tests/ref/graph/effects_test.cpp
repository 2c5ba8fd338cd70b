#include "ref/graph/effects.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "ref/graph/cellwise.h"
#include "ref/graph/effect_names.h"
#include "ref/graph/error.h"
#include "ref/graph/overrides.h"
#include "ref/graph/text.h"

namespace writeback {
namespace {

/// A program over b_a, b_b, x (f32[4]), c (f32[2, 2]) and the given statements, one a line.
Program program(const std::string& body, const std::string& head = "") {
  std::string text = head +
                     "ExportedProgram:\n    class GraphModule(torch.nn.Module):\n"
                     "        def forward(self, b_a: \"f32[4]\", b_b: \"f32[4]\", x: \"f32[4]\", c: \"f32[2, 2]\"):\n";
  for (std::size_t at = 0; at < body.size();) {
    const std::size_t end = std::min(body.find('\n', at), body.size());
    text += "            " + body.substr(at, end - at) + "\n";
    at = end + 1;
  }
  return read_text(
      text +
      "            return (x,)\n\nGraph signature: \n    # inputs\n    b_a: BUFFER target='a' persistent=True\n"
      "    b_b: BUFFER target='b' persistent=True\n    x: USER_INPUT\n    c: USER_INPUT\n\n    # outputs\n    x: USER_OUTPUT\n");
}

/// "b_a:rw x:r -> same[0]": the effect of the last node (or the one named) in words.
std::string effect(const Program& p, const Options& options = {}, const std::string& name = "") {
  const Effects effects(p, options);
  NodeId n = node_id(p.graph.nodes.size() - 1);
  if (!name.empty()) n = p.graph.producer_of(*find_value(p.graph, name));
  std::string text;
  for (const OperandEffect& o : effects.operands(n)) {
    text += p.graph.name_of(o.value) + (o.reads || o.writes ? ":" : "") + (o.reads ? "r" : "") + (o.writes ? "w" : "") + " ";
  }
  text += "->";
  for (const ResultEffect& r : effects.results(n)) {
    text += " " + std::string(name_of(r.kind)) + (r.list ? "*" : "") + (r.elementwise ? "e" : "");
    if (r.operands.empty()) continue;
    text += "[";
    for (const std::uint32_t o : r.operands) text.append(text.back() == '[' ? "" : ",").append(std::to_string(o));
    text += "]";
  }
  return text;
}
std::string effect(const std::string& body, const Options& options = {}) { return effect(program(body), options); }

bool has(const std::string& body, Trait trait, const Options& options = {}) {
  const Program p = program(body);
  return Effects(p, options).has(node_id(p.graph.nodes.size() - 1), trait);
}

std::string ops(const std::string& call) { return "y = torch.ops.aten." + call; }

TEST(Effects, FunctionalOpsReadAndMakeFreshTensors) {
  EXPECT_EQ(effect(ops("add.Tensor(b_a, x)")), "b_a:r x:r -> fresh");
  EXPECT_EQ(effect(ops("cat.default([b_a, x])")), "b_a:r x:r -> fresh");
  EXPECT_EQ(effect(ops("index_put.default(b_a, [None, x], b_b)")), "b_a:r x:r b_b:r -> fresh");
  EXPECT_EQ(effect(ops("topk.default(x, 2)")), "x:r -> fresh fresh");
}

TEST(Effects, InPlaceOpsReadAndWriteTheirFirstArgument) {
  EXPECT_EQ(effect(ops("add_.Tensor(b_a, x)")), "b_a:rw x:r -> same[0]");
  EXPECT_EQ(effect(ops("index_put_.default(b_a, [x], b_b)")), "b_a:rw x:r b_b:r -> same[0]");
}

TEST(Effects, WhatIsOverwrittenIsNotRead) {
  EXPECT_EQ(effect(ops("copy_.default(b_a, x)")), "b_a:w x:r -> same[0]");
  EXPECT_EQ(effect(ops("copy_.default(src = x, self = b_a)")), "x:r b_a:w -> same[1]");
  EXPECT_EQ(effect(ops("fill_.Scalar(b_a, 0)")), "b_a:w -> same[0]");
  EXPECT_EQ(effect(ops("zero_.default(b_a)")), "b_a:w -> same[0]");
  EXPECT_EQ(effect(ops("add.out(x, b_b, out = b_a)")), "x:r b_b:r b_a:w -> same[2]");
  EXPECT_EQ(effect(ops("copy.default(b_a, x)")), "b_a x:r -> fresh");
}

TEST(Effects, ViewsReadNothing) {
  EXPECT_EQ(effect(ops("view.default(b_a, [2, 2])")), "b_a -> alias[0]");
  EXPECT_EQ(effect(ops("slice.Tensor(b_a, 0, 0, 2)")), "b_a -> alias[0]");
  EXPECT_EQ(effect(ops("split.Tensor(b_a, 2)")), "b_a -> alias*[0]");
  EXPECT_EQ(effect(ops("expand_as.default(x, c)")), "x c -> alias[0]");
}

TEST(Effects, ListsWorkElementByElement) {
  EXPECT_EQ(effect(ops("_foreach_add_.List([b_a, b_b], [x, x])")), "b_a:rw b_b:rw x:r x:r ->");
  EXPECT_TRUE(has(ops("_foreach_add_.List([b_a, b_b], [x, x])"), Trait::returns_nothing));
  EXPECT_EQ(effect(ops("_foreach_copy_.default([b_a, b_b], [x, x])")), "b_a:w b_b:w x:r x:r ->");
  EXPECT_EQ(effect(ops("split_copy.Tensor_out(x, 2, out = [b_a, b_b])")), "x:r b_a:w b_b:w ->");
  EXPECT_EQ(effect(ops("broadcast_tensors.default([b_a, x])")), "b_a:r x:r -> may_alias*e[0,1]");
}

TEST(Effects, GetitemPicksAResult) {
  EXPECT_EQ(effect("t = torch.ops.aten.split.Tensor(b_a, 2)\ny = t[1]"), "t -> same[0]");
  const Program p = program("t = torch.ops.aten.topk.default(x, 2)\ny = t[1]");
  EXPECT_EQ(Effects(p, {}).getitem_index(node_id(1)), 1);
  EXPECT_TRUE(Effects(p, {}).has(node_id(1), Trait::getitem));
}

TEST(Effects, MayAliasIsBothAndSoReads) {
  EXPECT_EQ(effect(ops("reshape.default(b_a, [2, 2])")), "b_a:r -> may_alias[0]");
  EXPECT_EQ(effect(ops("to.dtype(b_a, torch.float32)")), "b_a:r -> may_alias[0]");
  EXPECT_EQ(effect(ops("_unsafe_view.default(b_a, [2, 2])")), "b_a:r -> may_alias[0]");
}

TEST(Effects, ConversionToAnotherDtypeIsACopy) {
  EXPECT_EQ(effect(program("y: \"i64[4]\" = torch.ops.aten.to.dtype(b_a, torch.int64)")), "b_a:r -> fresh");
  EXPECT_EQ(effect(program("y: \"f32[4]\" = torch.ops.aten.to.dtype(b_a, torch.float32)")), "b_a:r -> may_alias[0]");
}

TEST(Effects, ConditionsOfTheTableLookAtTheArguments) {
  EXPECT_EQ(effect(ops("dropout.default(x, 0.5, False)")), "x:r -> may_alias[0]");
  EXPECT_EQ(effect(ops("dropout.default(x, 0.5, True)")), "x:r -> fresh");
  EXPECT_EQ(effect(ops("dropout.default(x, 0.0, True)")), "x:r -> may_alias[0]");
  const std::string batch_norm = ops("batch_norm.default(c, None, None, b_a, b_b, ");
  EXPECT_EQ(effect(batch_norm + "True, 0.1, 1e-05, False)"), "c:r b_a:rw b_b:rw -> fresh");
  EXPECT_EQ(effect(batch_norm + "False, 0.1, 1e-05, False)"), "c:r b_a:r b_b:r -> fresh");
  EXPECT_EQ(effect(ops("_native_batch_norm_legit.default(c, None, None, b_a, b_b, False, 0.1, 1e-05)")),
            "c:r b_a:r b_b:r -> fresh fresh fresh");
}

TEST(Effects, ReadersOfMetadataReadNothing) {
  EXPECT_EQ(effect(ops("zeros_like.default(b_a)")), "b_a -> fresh");
  EXPECT_EQ(effect(ops("sym_size.int(b_a, 0)")), "b_a -> none");
  EXPECT_EQ(effect(ops("full_like.out(b_a, 1, out = b_b)")), "b_a b_b:w -> same[1]");
  EXPECT_TRUE(has(ops("empty_like.default(b_a)"), Trait::uninitialized));
}

TEST(Effects, NumbersAreNoOperands) {
  EXPECT_EQ(effect("s = torch.ops.aten.sym_size.int(b_a, 0)\nt = s * 2\ny = torch.ops.aten.slice.Tensor(b_a, 0, 0, t)"),
            "b_a -> alias[0]");
  EXPECT_EQ(effect("s = torch.ops.aten.sym_size.int(b_a, 0)\ny = s * 2"), "-> none");
  EXPECT_EQ(effect("s = torch.ops.aten.sym_size.int(b_a, 0)\ny = torch.ops.aten.mul.Tensor(b_a, s)"), "b_a:r -> fresh");
}

TEST(Effects, MetadataInPlaceRebinds) {
  EXPECT_EQ(effect(ops("t_.default(c)")), "c -> alias[0]");
  EXPECT_TRUE(has(ops("squeeze_.default(c)"), Trait::rebinds));
  EXPECT_FALSE(has(ops("add_.Tensor(b_a, x)"), Trait::rebinds));
}

TEST(Effects, ViewCopyIsALaterAliasUnderLoweringOnly) {
  EXPECT_EQ(effect(ops("view_copy.default(b_a, [2, 2])")), "b_a:r -> fresh");
  EXPECT_TRUE(has(ops("view_copy.default(b_a, [2, 2])"), Trait::later_alias));
  EXPECT_FALSE(has(ops("slice_copy.Tensor(b_a, 0, 0, 2)"), Trait::later_alias));
  EXPECT_FALSE(has(ops("view_copy.default(b_a, [2, 2])"), Trait::later_alias, Options{Lowering::none, {}, {}, {}}));
  EXPECT_TRUE(has("y = executorch_exir_dialects_edge__ops_aten_view_copy_default(b_a, [2, 2])", Trait::later_alias));
}

TEST(Effects, UnknownOpsAreOpaque) {
  EXPECT_EQ(effect("y = torch.ops.my.step.default(b_a, [x])"), "b_a:rw x:rw -> opaque[0,1]");
  EXPECT_TRUE(has("y = torch.ops.my.step.default(b_a)", Trait::opaque));
  EXPECT_EQ(effect(program("t = torch.ops.my.step.default(b_a, x)\ny = t[0]"), {}, "t"), "b_a:rw x:rw -> opaque*[0,1]");
}

TEST(Effects, CustomOpsNeedTrust) {
  const Program p = program("y = torch.ops.my.update.default(x, b_a, 1)",
                            "# schema: my::update(Tensor v, Tensor(a!) cache, int at) -> Tensor(a!)\n");
  EXPECT_EQ(effect(p), "x:rw b_a:rw -> opaque[0,1]");
  Options trusting;
  trusting.trusted = {"my"};
  EXPECT_EQ(effect(p, trusting), "x:r b_a:rw -> same[1]");
  EXPECT_EQ(effect_source(p, node_id(0), {}), "opaque: namespace my is not trusted");
  EXPECT_EQ(effect_source(p, node_id(0), trusting), "schema");
}

TEST(Effects, SourcesNameTheTable) {
  const Program p = program(ops("reshape.default(b_a, [2, 2])"));
  EXPECT_EQ(effect_source(p, node_id(0), {}).rfind("table: ", 0), 0U);
}

TEST(Effects, RandomAndAssertsAreMarked) {
  EXPECT_TRUE(has(ops("rand.default([4])"), Trait::random));
  EXPECT_TRUE(has(ops("bernoulli.p(x, 0.5)"), Trait::random));
  EXPECT_FALSE(has(ops("scaled_dot_product_attention.default(c, c, c)"), Trait::random));
  EXPECT_FALSE(has(ops("native_dropout.default(x, 0.5, False)"), Trait::random));
  EXPECT_TRUE(has(ops("native_dropout.default(x, 0.5, None)"), Trait::random)) << "what is not known to be off is on";
  EXPECT_TRUE(has(ops("_assert_async.msg(x, 'no')"), Trait::observed));
}

TEST(Effects, ShareAllocationPointsAtItsOperand) {
  const Program p = program(ops("add.Tensor(x, b_a)"), "# share_alloc: y 1\n");
  EXPECT_EQ(Effects(p, {}).shares_allocation_of(node_id(0)), 1);
  EXPECT_EQ(Effects(p, Options{Lowering::none, {}, {}, {}}).shares_allocation_of(node_id(0)), -1);
}

TEST(Effects, AValueThatIsBornInAPlaceholderIsThatTensor) {
  EXPECT_EQ(effect(program("y: \"f32[4]\" = torch.ops.aten.add.Tensor(x, b_a)", "# born_in: y b_b\n")),
            "x:r b_a:r b_b:w -> same[2]");
  for (const char* call : {"neg.default(c)", "neg_.default(x)", "topk.default(x, 1)", "view_copy.default(x, [4])"}) {
    EXPECT_THROW(effect(program(ops(call), "# born_in: y b_b\n")), InputError) << call;
  }
}

TEST(Cellwise, UpdatesReadTheirFirstArgumentCellByCell) {
  const auto reads = [](const char* call, const char* operand) {
    const Program p = program(ops(call));
    return reads_cell_by_cell(p, node_id(0), *find_value(p.graph, operand));
  };
  EXPECT_TRUE(reads("add.Tensor(x, b_a)", "b_a"));
  EXPECT_TRUE(reads("slice_scatter.default(b_a, x, 0, 0, 4)", "b_a"));
  EXPECT_FALSE(reads("slice_scatter.default(b_a, x, 0, 0, 4)", "x"));
  EXPECT_FALSE(reads("slice_scatter.default(b_a, b_a, 0, 0, 4)", "b_a"));
  EXPECT_FALSE(reads("cumsum.default(b_a, 0)", "b_a"));
}

TEST(Effects, WhatCannotBeJudgedIsRefused) {
  for (const char* call : {"set_.source_Tensor(b_a, x)", "resize_.default(b_a, [8])", "resize_as_.default(b_a, c)"}) {
    EXPECT_THROW(effect(ops(call)), InputError) << call;
  }
  EXPECT_THROW(effect("y: \"f32[2, 2]\" = torch.ops.aten.add.out(c, c, out = b_a)"), InputError);
}

TEST(Effects, ArgumentsMustFitTheSchema) {
  for (const char* call : {"add.Tensor(b_a)", "relu.default(b_a, x)", "add.Tensor(b_a, x, beta = 2)",
                           "add.Tensor(b_a, x, other = x)", "relu.default([b_a])"}) {
    EXPECT_THROW(effect(ops(call)), InputError) << call;
  }
}

TEST(Overrides, EveryRowIsAboutAnOpOfTheTable) {
  const std::vector<std::string> names = SchemaTable::builtin().names();
  for (const Override& row : overrides()) {
    const auto is_about = [&](const std::string& name) {
      const std::string with_overload = name.find('.') == std::string::npos ? name + ".default" : name;
      return row.op == with_overload || row.op == with_overload.substr(0, with_overload.find('.'));
    };
    EXPECT_TRUE(std::any_of(names.begin(), names.end(), is_about)) << row.op;
    EXPECT_FALSE(row.reason.empty()) << row.op;
  }
}

/// Two subgraphs that take (s, v): the true one writes s and returns a view of it, the false one reads v.
Program conditional() {
  Program p = program("y = torch.ops.aten.relu.default(x)");
  Graph yes, no;
  const TargetId add = p.intern({Target::Kind::op, "aten", "add_", "Tensor"}),
                 view = p.intern({Target::Kind::op, "aten", "alias", "default"});
  const TargetId relu = p.intern({Target::Kind::op, "aten", "relu", "default"});
  yes.placeholders = no.placeholders = {{"s", {}}, {"v", {}}};
  const auto call = [](Graph& g, TargetId t, const char* name, std::vector<Argument> args) {
    Node node;
    node.target = t;
    node.name = name;
    node.args = std::move(args);
    g.nodes.push_back(node);
  };
  call(yes, view, "w", {value_id(0)});
  call(yes, add, "add_", {value_id(2), 1});
  yes.outputs = {value_id(2)};
  call(no, relu, "r", {value_id(1)});
  call(no, relu, "dead", {value_id(0)});
  no.outputs = {value_id(2)};
  p.graph.subgraphs = {{"yes", yes}, {"no", no}};
  for (const char* attribute : {"yes", "no"}) {
    Node node;
    node.kind = Node::Kind::get_attr;
    node.name = attribute;
    node.target = p.intern({Target::Kind::python, "", attribute, ""});
    p.graph.nodes.push_back(node);
  }
  call(p.graph, p.intern({Target::Kind::higher_order, "", "cond", ""}), "cond",
       {value_id(2), value_id(5), value_id(6), ListArgument{{value_id(0), value_id(1)}, false}});
  return p;
}

TEST(Effects, HigherOrderOpsHaveTheEffectOfTheirSubgraphs) {
  EXPECT_EQ(effect(conditional()), "x:r b_a:rw b_b:r -> opaque*[1]");
  Program p = conditional();
  p.graph.subgraphs[0].graph = p.graph.subgraphs[1].graph;
  EXPECT_EQ(effect(p), "x:r b_a b_b:r -> fresh*");
  p.graph.subgraphs[0].graph.placeholders.pop_back();
  EXPECT_EQ(effect(p), "x:rw b_a:rw b_b:rw -> opaque[0,1,2]") << "operands that do not fit";
}

TEST(Effects, AutoFunctionalizedReadsAndMakesFreshTensors) {
  EXPECT_EQ(effect("y = torch.ops.higher_order.auto_functionalized(torch.ops.my.step.default, v = x, cache = b_a)"),
            "x:r b_a:r -> fresh*");
}

}  // namespace
}  // namespace writeback
