// Each breach has a test that plants it in a good program.
#include "ref/graph/well_formed.h"

#include <gtest/gtest.h>

#include <limits>

#include "ref/graph/error.h"
#include "ref/graph/text.h"

namespace writeback {
namespace {

Program good() {
  return read_text(R"(# alias: b_b = b_a[1; 2; 1]
# share_alloc: y 0
ExportedProgram:
    class GraphModule(torch.nn.Module):
        def forward(self, b_a: "f32[4]", b_b: "f32[2]", x: "f32[4]"):
            y: "f32[4]" = torch.ops.aten.add.Tensor(b_a, x)
            t = torch.ops.aten.topk.default(y, 2)
            v: "f32[2]" = t[0]
            true_graph_0 = self.true_graph_0
            cond = torch.ops.higher_order.cond(x, true_graph_0, true_graph_0, (x,))
            return (y, v)

        class true_graph_0(torch.nn.Module):
            def forward(self, x: "f32[4]"):
                n: "f32[4]" = torch.ops.aten.neg.default(x)
                return (n,)

Graph signature:
    # inputs
    b_a: BUFFER target='a' persistent=True
    b_b: BUFFER target='b' persistent=True
    x: USER_INPUT

    # outputs
    y: BUFFER_MUTATION target='a'
    v: USER_OUTPUT
)");
}

/// "kind: place: message" of the only breach.
std::string breach_of(const Program& program) {
  const std::vector<Breach> all = breaches(program);
  if (all.size() != 1) return std::to_string(all.size()) + " breaches";
  return std::string(name_of(all[0].kind)) + ": " + all[0].place + ": " + all[0].message;
}

template <typename Change>
std::string after(Change change) {
  Program program = good();
  change(program);
  return breach_of(program);
}

TEST(WellFormed, TheGoodProgramIsWellFormed) {
  EXPECT_TRUE(breaches(good()).empty());
  EXPECT_NO_THROW(require_well_formed(good()));
}

TEST(WellFormed, DuplicateName) {
  EXPECT_EQ(after([](Program& p) { p.graph.nodes[1].name = "x"; }), "duplicate name: node %x: another value has the same name");
  EXPECT_EQ(after([](Program& p) { p.graph.nodes[1].name = ""; }), "duplicate name: node %(value 4): expected a name");
  EXPECT_EQ(after([](Program& p) { p.graph.subgraphs[0].graph.nodes[0].name = "x"; }),
            "duplicate name: true_graph_0: node %x: another value has the same name");
}

TEST(WellFormed, UseBeforeDefinition) {
  EXPECT_EQ(after([](Program& p) { p.graph.nodes[0].args[1] = value_id(5); }),
            "use before definition: node %y: uses %v before its definition");
  EXPECT_EQ(after([](Program& p) { p.graph.nodes[0].kwargs.push_back({"out", value_id(3)}); }),
            "use before definition: node %y: uses %y before its definition");
}

TEST(WellFormed, ValueOutOfRange) {
  EXPECT_EQ(after([](Program& p) { p.graph.nodes[0].args[1] = ListArgument{{value_id(99)}}; }),
            "value out of range: node %y: names value 99, which the graph does not have");
  EXPECT_EQ(after([](Program& p) { p.graph.outputs[1] = value_id(99); }),
            "value out of range: output 1: names value 99, which the graph does not have");
}

TEST(WellFormed, SpecCountMismatch) {
  EXPECT_EQ(after([](Program& p) { p.input_specs.pop_back(); }),
            "spec count mismatch: input specs: expected 3 specs, one for each placeholder, found 2");
  EXPECT_EQ(after([](Program& p) { p.output_specs.pop_back(); }),
            "spec count mismatch: output specs: expected 2 specs, one for each output, found 1");
}

TEST(WellFormed, MutationOfUnknownTarget) {
  EXPECT_EQ(after([](Program& p) { p.output_specs[0].target = "nope"; }),
            "mutation of unknown target: output 0: mutates 'nope', which is no input of the program");
}

TEST(WellFormed, MutationOutputIsNoValue) {
  EXPECT_EQ(after([](Program& p) { p.graph.outputs[0] = Argument(std::int64_t{3}); }),
            "mutation output is no value: output 0: a mutation of 'a' must be a value of the graph");
}

TEST(WellFormed, GetitemIndex) {
  EXPECT_EQ(after([](Program& p) { p.graph.nodes[2].args[1] = Argument(std::int64_t{-1}); }),
            "getitem index: node %v: expected getitem(value, number from 0)");
  EXPECT_EQ(after([](Program& p) { p.graph.nodes[2].args.pop_back(); }),
            "getitem index: node %v: expected getitem(value, number from 0)");
  EXPECT_EQ(after([](Program& p) { p.graph.nodes[2].args[1] = Argument(std::int64_t{2}); }),
            "getitem index: node %v: picks result 2 of %t, which has 2");
}

TEST(WellFormed, UnknownSubgraph) {
  Program p = good();
  p.graph.subgraphs.clear();
  EXPECT_TRUE(breaches(p).empty());  // a higher-order op with a graph that is not shown is opaque
  p.graph.outputs[1] = value_id(6);
  EXPECT_EQ(breach_of(p), "unknown subgraph: output 1: takes %true_graph_0, an attribute that the program does not have");
}

TEST(WellFormed, UnknownOperator) {
  Program p = good();
  p.targets[index_of(p.graph.nodes[0].target)].name = "addd";
  EXPECT_EQ(breach_of(p),
            "unknown operator: node %y: expected an operator, found aten::addd.Tensor; a '# schema:' line can tell of it");
  p.schemas = {"aten::addd.Tensor(Tensor a, Tensor b) -> Tensor"};
  EXPECT_TRUE(breaches(p).empty());
  p.targets[index_of(p.graph.nodes[0].target)].ns = "my";  // a custom op without schema is opaque, which is no breach
  EXPECT_TRUE(breaches(p).empty());
}

TEST(WellFormed, AliasOfUnknownValue) {
  EXPECT_EQ(after([](Program& p) { p.alias_groups[0].push_back({value_id(3), std::nullopt}); }),
            "alias of unknown value: alias group: value 3 is no placeholder");
  EXPECT_EQ(after([](Program& p) { p.alias_groups.push_back({{value_id(0), std::nullopt}}); }),
            "alias of unknown value: alias of %b_a: stands in two places of the alias groups");
}

TEST(WellFormed, AliasGeometry) {
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
  using Geometry = AliasMember::Geometry;
  const auto with = [](Geometry geometry) { return after([&](Program& p) { p.alias_groups[0][1].geometry = geometry; }); };
  EXPECT_EQ(with({0, {2}, {}}), "alias geometry: alias of %b_b: expected as many strides as sizes");
  EXPECT_EQ(with({-1, {2}, {1}}), "alias geometry: alias of %b_b: expected an offset, sizes and strides from 0");
  EXPECT_EQ(with({kMost, {2}, {kMost}}), "alias geometry: alias of %b_b: expected a region within the range of int64");
  EXPECT_EQ(with({0, {3}, {1}}), "alias geometry: alias of %b_b: expected the sizes of the placeholder");
}

TEST(WellFormed, ShareAllocationArgument) {
  EXPECT_EQ(after([](Program& p) { p.share_allocations[0].argument = 7; }),
            "share allocation argument: node %y: expected a value as positional argument 7");
  EXPECT_EQ(after([](Program& p) { p.share_allocations[0].node = node_id(77); }),
            "share allocation argument: share_alloc: node 77 does not exist");
}

TEST(WellFormed, BirthInNoPlaceholder) {
  const std::string head = "birth in no placeholder: born_in: expected a node, named once, and a placeholder, found node ";
  EXPECT_EQ(after([](Program& p) { p.births = {{node_id(77), value_id(0)}}; }), head + "77 and value 0");
  EXPECT_EQ(after([](Program& p) { p.births = {{node_id(0), value_id(77)}}; }), head + "0 and value 77");
  EXPECT_EQ(after([](Program& p) { p.births = {{node_id(0), value_id(0)}, {node_id(0), value_id(0)}}; }), head + "0 and value 0");
}

TEST(WellFormed, TargetOutOfRange) {
  EXPECT_EQ(after([](Program& p) { p.graph.nodes[0].target = TargetId{77}; }),
            "target out of range: node %y: calls target 77, which the program does not have");
}

TEST(WellFormed, TheFirstBreachIsThrown) {
  Program p = good();
  p.output_specs[0].target = "nope";
  try {
    require_well_formed(p);
    FAIL();
  } catch (const InputError& error) {
    EXPECT_STREQ(error.what(), "output 0: mutation of unknown target: mutates 'nope', which is no input of the program");
  }
}

}  // namespace
}  // namespace writeback
