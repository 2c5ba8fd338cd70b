#include "ref/graph/placement.h"

#include <gtest/gtest.h>

#include "ref/graph/text.h"

namespace writeback {
namespace {

/// b_a, b_b, x;  y = add(b_a, x);  z = add(y, b_b);  b_a <- y, b_b <- z, returns b_a.
Program two_buffers() {
  Program p;
  const TargetId add = p.intern({Target::Kind::op, "aten", "add", "Tensor"});
  for (const char* name : {"b_a", "b_b", "x"})
    p.graph.placeholders.push_back({name, TensorMeta{DType::f32, {SymInt(4)}, {}, 0, ""}});
  p.input_specs = {{InputKind::buffer, "a", true}, {InputKind::buffer, "b", true}, {InputKind::user_input, "", {}}};
  const auto call = [&](const char* name, std::size_t a, std::size_t b) {
    Node node;
    node.target = add;
    node.name = name;
    node.args = {Argument(value_id(a)), Argument(value_id(b))};
    p.graph.nodes.push_back(node);
  };
  call("y", 0, 2);
  call("z", 3, 1);
  p.graph.outputs = {Argument(value_id(3)), Argument(value_id(4)), Argument(value_id(0))};
  p.output_specs = {{OutputKind::buffer_mutation, "a"}, {OutputKind::buffer_mutation, "b"}, {OutputKind::user_output, ""}};
  return p;
}

std::vector<std::string> names(const Program& p) {
  std::vector<std::string> all;
  for (const Node& n : p.graph.nodes) all.push_back(n.name);
  return all;
}

/// b_a is written between y and z from a temporary of y; the output b_a is read first.
Placement early() {
  Placement p;
  p.copies = {{false, {slot_at(1), 2}, 0}, {false, {slot_at(2), 0}, std::nullopt}};
  p.temporaries = {{"clone", value_id(3), {slot_at(1), 0}}, {"clone", value_id(0), {slot_at(1), 1}}};
  p.outputs_read_first = {{2, 1}};
  return p;
}

TEST(Placement, EndPlacementCopiesInOutputOrder) {
  const Placement p = end_placement(two_buffers());
  ASSERT_EQ(p.copies.size(), 2U);
  EXPECT_EQ(p.copies[1], (PlacedCopy{false, {slot_at(2), 1}, std::nullopt}));
  const Program placed = with_explicit_copies(two_buffers(), p);
  EXPECT_EQ(names(placed), (std::vector<std::string>{"y", "z", "copy_", "copy__1"}));
  EXPECT_EQ(placed.graph.outputs[1], Argument(value_id(6)));
}

TEST(Placement, CopiesAndTemporariesStandInTheirSlots) {
  const Program placed = with_explicit_copies(two_buffers(), early(), {"# a", "# b"});
  EXPECT_EQ(names(placed), (std::vector<std::string>{"y", "clone", "clone_1", "copy_", "z", "copy__1"}));
  EXPECT_EQ(placed.graph.nodes[3].args, (std::vector<Argument>{value_id(0), value_id(4)}));
  EXPECT_EQ(placed.graph.nodes[4].args, (std::vector<Argument>{value_id(3), value_id(1)}));
  EXPECT_EQ(placed.graph.nodes[5].trailing_comment, "# b");
  EXPECT_EQ(placed.graph.outputs, (std::vector<Argument>{value_id(6), value_id(8), value_id(5)}));
}

TEST(Placement, ACopyBeforeItsTemporaryReadsItAllTheSame) {
  Placement p = early();
  p.copies[0].at = {slot_at(0), 0};
  const Program placed = with_explicit_copies(two_buffers(), p);
  EXPECT_EQ(names(placed), (std::vector<std::string>{"copy_", "y", "clone", "clone_1", "z", "copy__1"}));
  EXPECT_EQ(placed.graph.nodes[0].args, (std::vector<Argument>{value_id(0), value_id(5)}));
}

/// t_ turns its argument itself, whatever the program says of it at its birth; an element picked twice is one tensor.
TEST(Placement, ATemporaryHasTheGeometryOfItsValueByThen) {
  const Program p = read_text(R"(ExportedProgram:
    class GraphModule(torch.nn.Module):
        def forward(self, x: "f32[1, 4]"):
            parts = torch.ops.aten.split.Tensor(x, 2, 1);  x = None
            a: "f32[1, 2]" = parts[0]
            b: "f32[1, 2]" = parts[0];  parts = None
            turned: "f32[2, 1]" = torch.ops.aten.t_.default(a)
            more: "f32[2, 1]" = torch.ops.aten.add_.Tensor(turned, 1);  turned = None
            back: "f32[1, 2]" = torch.ops.aten.t_.default(more);  more = back = None
            return (b,)

Graph signature:
    # inputs
    x: USER_INPUT

    # outputs
    b: USER_OUTPUT
)");
  const auto sizes = [&](const char* name, std::size_t slot) {
    Placement placement;
    placement.temporaries = {{"clone", *find_value(p.graph, name), {slot_at(slot), 0}}};
    return tensor_meta(with_explicit_copies(p, placement).graph.nodes.at(slot).meta)->sizes;
  };
  const std::vector<SymInt> row{1, 2}, column{2, 1};
  EXPECT_EQ(sizes("b", 3), row);
  EXPECT_EQ(sizes("b", 4), column);
  EXPECT_EQ(sizes("turned", 5), column);
  EXPECT_EQ(sizes("more", 6), row);
  EXPECT_EQ(sizes("x", 6), (std::vector<SymInt>{1, 4}));
}

TEST(Placement, NamesInUseAreAvoided) {
  Program p = two_buffers();
  p.graph.nodes[0].name = "copy_";
  EXPECT_EQ(names(with_explicit_copies(p, end_placement(p))), (std::vector<std::string>{"copy_", "z", "copy__1", "copy__2"}));
}

TEST(Placement, ReadsBackWhatItWrote) {
  Placement expected = early();
  expected.temporaries[1].name = "clone_1";
  EXPECT_EQ(placement_of(two_buffers(), with_explicit_copies(two_buffers(), early())), expected);
  EXPECT_EQ(placement_of(two_buffers(), with_explicit_copies(two_buffers(), end_placement(two_buffers()))),
            end_placement(two_buffers()));
}

TEST(Placement, AMutationSpecMayNameTheValue) {
  Program placed = with_explicit_copies(two_buffers(), early());
  placed.graph.outputs[1] = value_id(7);
  EXPECT_EQ(placement_of(two_buffers(), placed)->copies, early().copies);
}

TEST(Placement, AMissingCopyReadsAsInPlace) {
  const auto placement = placement_of(two_buffers(), two_buffers());
  ASSERT_TRUE(placement);
  EXPECT_TRUE(placement->copies[0].in_place);
}

TEST(Placement, MutationsMayMoveToTheFront) {
  Program before = two_buffers();
  std::swap(before.graph.outputs[0], before.graph.outputs[2]);
  std::swap(before.output_specs[0], before.output_specs[2]);
  Program after = with_explicit_copies(before, end_placement(before));
  std::swap(after.graph.outputs[0], after.graph.outputs[2]);
  std::swap(after.output_specs[0], after.output_specs[2]);
  EXPECT_EQ(placement_of(before, after), end_placement(before));
}

TEST(Placement, OtherChangesAreNoPlacement) {
  const Program placed = with_explicit_copies(two_buffers(), early());
  const auto refused = [&](auto change) {
    Program p = placed;
    change(p);
    return !placement_of(two_buffers(), p).has_value();
  };
  EXPECT_TRUE(refused([](Program& p) { p.graph.nodes[4].args[0] = value_id(0); }));
  EXPECT_TRUE(refused([](Program& p) { p.graph.nodes[4].name = "w"; }));
  EXPECT_TRUE(refused([](Program& p) { p.graph.nodes[3].args[1] = value_id(2); }));
  EXPECT_TRUE(refused([](Program& p) { p.graph.outputs[2] = value_id(2); }));
  EXPECT_TRUE(refused([](Program& p) { p.graph.nodes[4].args[0] = value_id(6); }));
  EXPECT_FALSE(refused([](Program& p) { p.graph.nodes[4].comments = {"# moved"}; }));
}

TEST(Placement, WithoutExplicitCopiesUndoesWithExplicitCopies) {
  const Program p = two_buffers();
  Program bare = without_explicit_copies(with_explicit_copies(p, end_placement(p)));
  EXPECT_EQ(bare.graph, p.graph);
  // Temporaries stay: they are what the copies stored.
  bare = without_explicit_copies(with_explicit_copies(p, early()));
  EXPECT_EQ(names(bare), (std::vector<std::string>{"y", "clone", "clone_1", "z"}));
  EXPECT_EQ(bare.graph.outputs[0], Argument(value_id(4)));
}

TEST(Placement, ACopyThatSomethingReadsIsPartOfTheProgram) {
  Program placed = with_explicit_copies(two_buffers(), early());
  placed.graph.nodes[4].args[0] = value_id(6);
  EXPECT_EQ(names(without_explicit_copies(placed)), (std::vector<std::string>{"y", "clone", "clone_1", "copy_", "z"}));
}

}  // namespace
}  // namespace writeback
