// What the placement says of small programs, a rule or a feature each.
#include "impl/place.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "ref/graph/error.h"
#include "tests/impl/small_program.h"

namespace writeback::impl {
namespace {

std::string placed(const Program& program, const Options& options = {}) {
  const PlaceResult result = place(program, options);
  EXPECT_TRUE(accept(program, result.placement, options).empty() || !result.lowering_hazards.empty());
  return described(program, result);
}

std::string why(const Program& program, std::uint32_t copy = 0) { return sentence(program, place(program), copy); }

Options sequential() {
  Options options;
  options.semantics = Semantics::sequential;
  return options;
}

TEST(Place, ReadThroughLaterAliasHoldsTheCopy) {
  const Program p = small_program(
      "b_a; x\n"
      "v = aten.view_copy.default(b_a, [4])\n"
      "w = aten.view.default(v, [4])\n"
      "new = aten.add.Tensor(b_a, x)\n"
      "y = aten.mul.Scalar(w, 2.0)\n"
      "z = aten.neg.default(y)\n"
      "-> b_a = new, z");
  EXPECT_EQ(placed(p), "b_a <- new after y");
  const Reason reason = place(p).reasons[0];
  EXPECT_EQ(reason.rule, Rule::reads_target);
  EXPECT_EQ(reason.via, (std::vector<ValueId>{*find_value(p.graph, "v"), *find_value(p.graph, "w")}));
  EXPECT_EQ(why(p), "%y reads %w, a later alias of %b_a by way of %v");
}

TEST(Place, AChangeOfTheValuesGeometryHoldsTheCopy) {
  const Program p = small_program(
      "b_a: \"f32[2, 2]\"\n"
      "t: \"f32[2, 2]\" = aten.neg.default(b_a)\n"
      "r: \"f32[2, 2]\" = aten.t_.default(t)\n"
      "-> b_a = t");
  EXPECT_EQ(placed(p), "b_a <- t after r");
}

TEST(Place, ADeadChangeOfGeometryKeepsNoReaderAlive) {
  const Program p = small_program(
      "b_a; x\n"
      "t = aten.neg.default(b_a)\n"
      "r = aten.detach_.default(t)\n"
      "-> b_a = x");
  EXPECT_EQ(placed(p), "b_a <- x after start");
}

TEST(Place, WriteThroughASiblingIsNamedWithItsChain) {
  const Program p = small_program(
      "b_a; x\n"
      "t = aten.neg.default(x)\n"
      "v = aten.view.default(t, [4])\n"
      "s: \"f32[2, 2]\" = aten.view.default(t, [2, 2])\n"
      "m: \"f32[2, 2]\" = aten.mul_.Scalar(s, 2.0)\n"
      "-> b_a = v, m");
  EXPECT_EQ(placed(p), "b_a <- v after m");
  EXPECT_EQ(why(p), "%m writes %s, which can lie in %v by way of %t");
}

TEST(Place, RegionsOfOneStorageAreToldApart) {
  const std::string text =
      "b_a: \"f32[2]\"; b_b: \"f32[2]\"; x: \"f32[2]\"\n"
      "n: \"f32[2]\" = aten.neg.default(x)\n"
      "y: \"f32[2]\" = aten.sin.default(b_b)\n"
      "-> b_a = n, y";
  EXPECT_EQ(placed(small_program(text, "# alias: b_b = b_a[2; 2; 1]\n")), "b_a <- n after n");
  EXPECT_EQ(placed(small_program(text, "# alias: b_b = b_a[1; 2; 1]\n")), "b_a <- n after y");
}

TEST(Place, ANumberReadFromTheStateKeepsItsReaderAlive) {
  EXPECT_EQ(placed(small_program("b_a; x\n"
                                 "n = aten.neg.default(x)\n"
                                 "i: \"Sym(u0)\" = aten._local_scalar_dense.default(b_a)\n"
                                 "y = aten.mul.Scalar(x, i)\n"
                                 "-> b_a = n, y")),
            "b_a <- n after i");
}

TEST(Place, SwapOverwritesNothingUnread) {
  const Program p = small_program("b_a; b_b; x\ny = aten.neg.default(x)\n-> b_a = b_b, b_b = b_a, y");
  EXPECT_EQ(placed(p), "b_a <- clone of b_b after start; b_b <- b_a after start; clone = clone(b_b) after start");
  const PlaceResult result = place(p);
  EXPECT_LT(result.placement.copies[1].at, result.placement.copies[0].at);
  EXPECT_EQ(result.clobbered, (std::vector<Clobbered>{{1, 0}}));
  EXPECT_EQ(placed(p, sequential()), "b_a <- b_b after start; b_b <- b_a after start") << "sequential semantics loses b_a, as told";
}

TEST(Place, ACloneDoesNotTakeANameInUse) {
  const Program p = small_program("b_a; b_b; clone\ny = aten.neg.default(clone)\n-> b_a = b_b, b_b = b_a, y");
  EXPECT_EQ(place(p).placement.temporaries[0].name, "clone_1");
}

TEST(Place, TheReasonAmongCopiesIsTheOtherCopy) {
  const Program p = small_program(
      "b_a; b_b; x\n"
      "y = aten.neg.default(b_b)\n"
      "-> b_a = x, b_b = b_a, y");
  EXPECT_EQ(placed(p), "b_a <- x after y; b_b <- b_a after y");
  EXPECT_EQ(place(p).reasons[0].rule, Rule::copy_reads);
  EXPECT_EQ(why(p), "the copy %b_b <- %b_a reads %b_a and comes first");
}

TEST(Place, AnOutputReadFirstHoldsTheCopyThatWouldChangeIt) {
  const Program p = small_program(
      "b_a; x\n"
      "y = aten.neg.default(x)\n"
      "v = aten.slice.Tensor(b_a, 0, 0, 4)\n"
      "-> b_a = x, v, y");
  EXPECT_EQ(placed(p), "b_a <- x after v; clone = clone(v) after v");
  EXPECT_EQ(place(p).placement.outputs_read_first, (std::vector<OutputReadFirst>{{1, 0}}));
  EXPECT_EQ(place(p).reasons[0].rule, Rule::read_first);
  EXPECT_EQ(placed(p, sequential()), "b_a <- x after start") << "there outputs are read last";
}

TEST(Place, AWriteByLoweringIsADeadline) {
  const Program p = small_program(
      "b_a; x\n"
      "t = aten.mul.Tensor(x, x)\n"
      "v = aten.view_copy.default(t, [4])\n"
      "m = aten.mul_.Scalar(t, 2.0)\n"
      "y = aten.add.Tensor(m, b_a)\n"
      "-> b_a = v, y");
  EXPECT_EQ(placed(p), "b_a <- clone of v after y; clone = clone(v) after v");
  Options none;
  none.lowering = Lowering::none;
  EXPECT_EQ(placed(p, none), "b_a <- v after y");
}

TEST(Place, ViewsOfALaterAliasMoveWithIt) {
  EXPECT_EQ(placed(small_program("b_a; x\n"
                                 "t = aten.neg.default(x)\n"
                                 "v = aten.view_copy.default(t, [4])\n"
                                 "s = aten.view.default(v, [4])\n"
                                 "m = aten.mul_.Scalar(s, 2.0)\n"
                                 "-> b_a = v, m")),
            "b_a <- v after m");
}

TEST(Place, ASharedAllocationIsADeadlineToo) {
  const std::string text =
      "b_a; x\n"
      "t = aten.neg.default(x)\n"
      "r = aten.sin.default(b_a)\n"
      "y = aten.cos.default(t)\n"
      "-> b_a = t, r, y";
  EXPECT_EQ(placed(small_program(text)), "b_a <- t after r");
  EXPECT_EQ(placed(small_program(text, "# share_alloc: y 0\n")), "b_a <- t after r");
  const std::string late =
      "b_a; x\n"
      "t = aten.neg.default(x)\n"
      "y = aten.cos.default(t)\n"
      "r = aten.sin.default(b_a)\n"
      "-> b_a = t, r, y";
  EXPECT_EQ(placed(small_program(late, "# share_alloc: y 0\n")), "b_a <- clone of t after r; clone = clone(t) after t");
}

TEST(Place, WhereNoOrderSuitsTheCopiesStandAtTheEndAndWhatTheyClobberIsTold) {
  const Program p = small_program(
      "b_a; b_b\n"
      "e: \"f32[]\" = aten.select.int(b_a, 0, 1)\n"
      "y = aten.mul.Scalar(b_a, 2.0)\n"
      "-> b_a = e, b_b = b_a, e",
      "# share_alloc: y 0\n");
  const PlaceResult result = place(p, sequential());
  EXPECT_EQ(described(p, result), "b_a <- e after y; b_b <- b_a after y");
  EXPECT_EQ(result.lowering_hazards.size(), 1u);
  ASSERT_EQ(result.clobbered.size(), 1u);
  EXPECT_EQ(result.clobbered[0].copy, 1u);
  EXPECT_EQ(result.clobbered[0].by, 0u);
}

TEST(Place, AReaderAfterAWriteByLoweringIsAHazard) {
  const Program p = small_program(
      "b_a; x\n"
      "t = aten.mul.Tensor(x, x)\n"
      "v = aten.view_copy.default(t, [4])\n"
      "m = aten.mul_.Scalar(t, 2.0)\n"
      "y = aten.neg.default(v)\n"
      "-> b_a = y, m");
  const PlaceResult result = place(p);
  ASSERT_EQ(result.lowering_hazards.size(), 1u);
  EXPECT_EQ(p.graph.node(*result.lowering_hazards[0].node).name, "y");
  EXPECT_EQ(p.graph.node(result.lowering_hazards[0].view).name, "v");
  EXPECT_EQ(result.warnings.size(), 1u);
}

TEST(Place, AListThatIsWrittenSeesItsOwnWritesThroughALaterAlias) {
  const std::string text =
      "x\n"
      "t = aten.neg.default(x)\n"
      "v = aten.view_copy.default(t, [4])\n";
  const Program list = small_program(text + "l = aten._foreach_add_.Scalar([t, v], 2)\n-> t");
  const PlaceResult result = place(list);
  ASSERT_FALSE(result.lowering_hazards.empty());
  EXPECT_EQ(list.graph.node(*result.lowering_hazards[0].node).name, "l");
  EXPECT_TRUE(place(small_program(text + "m = aten.add_.Tensor(t, v)\n-> m")).lowering_hazards.empty());
}

TEST(Place, AnInputWrittenByLoweringIsAHazardUnlessACopyWritesIt) {
  const std::string text =
      "b_a; x\n"
      "v = aten.view_copy.default(b_a, [4])\n"
      "m = aten.mul_.Scalar(v, 2.0)\n";
  const PlaceResult untouched = place(small_program(text + "-> x = m"));
  ASSERT_EQ(untouched.lowering_hazards.size(), 1u);
  EXPECT_TRUE(untouched.lowering_hazards[0].input.has_value());
  EXPECT_TRUE(place(small_program(text + "-> b_a = m")).lowering_hazards.empty());
}

TEST(Place, AValueWrittenAfterItsDeadlineHasNoSafeSlot) {
  const Program p = small_program(
      "b_a; x\n"
      "t = aten.mul.Tensor(x, x)\n"
      "v = aten.view_copy.default(t, [4])\n"
      "m = aten.mul_.Scalar(t, 2.0)\n"
      "k = aten.mul_.Scalar(v, 3.0)\n"
      "y = aten.neg.default(x)\n"
      "-> b_a = v, y");
  const PlaceResult result = place(p);
  EXPECT_EQ(described(p, result), "b_a <- v after y");
  const auto copies = std::ranges::count_if(result.lowering_hazards, [](const LoweringHazard& h) { return h.copy.has_value(); });
  EXPECT_EQ(copies, 1);
  EXPECT_EQ(result.reasons[0].rule, Rule::lowering);
}

TEST(Place, AStateThatLoweringChangesIsWrittenBackThoughItIsTheTarget) {
  EXPECT_EQ(placed(small_program("b_a; x\n"
                                 "v = aten.view_copy.default(b_a, [4])\n"
                                 "m = aten.mul_.Scalar(v, 2.0)\n"
                                 "-> b_a = b_a, m")),
            "b_a <- clone of b_a after m; clone = clone(b_a) after start; clone_1 = clone(m) after m");
}

TEST(Place, ALinkWrittenBeforeTheChainIsRebasedIsAHazard) {
  const Program p = small_program(
      "b_a; x\n"
      "t = aten.mul.Tensor(x, x)\n"
      "v = aten.view_copy.default(t, [4])\n"
      "m = aten.mul_.Scalar(v, 2.0)\n"
      "w = aten.view_copy.default(v, [4])\n"
      "y = aten.neg.default(w)\n"
      "-> b_a = y");
  const PlaceResult result = place(p);
  ASSERT_FALSE(result.lowering_hazards.empty());
  EXPECT_EQ(p.graph.node(*result.lowering_hazards[0].node).name, "w");
}

TEST(Place, AnOpaqueResultIsNeverExactlyTheTarget) {
  EXPECT_EQ(placed(small_program("b_a; x\nt = my.touch.default(b_a)\n-> b_a = t")),
            "b_a <- clone of t after t; clone = clone(t) after t");
}

TEST(Place, UnknownGeometryIsTheWholeOfItsBase) {
  EXPECT_EQ(placed(small_program("b_a; x; i: \"Sym(u0)\"\n"
                                 "v: \"f32[2]\" = aten.slice.Tensor(b_a, 0, i, 4)\n"
                                 "n = aten.neg.default(x)\n"
                                 "y: \"f32[2]\" = aten.sin.default(v)\n"
                                 "-> b_a = n, y")),
            "b_a <- n after y");
}

TEST(Place, SymbolicInPlaceResultsAreInPlace) {
  EXPECT_EQ(placed(small_program("b_a: \"f32[s0]\"; x: \"f32[s0]\"\n"
                                 "r: \"f32[s0]\" = aten.add_.Tensor(b_a, x)\n"
                                 "-> b_a = r")),
            "b_a <- r in place");
}

TEST(Place, AReshapeThatMustCopyIsNoAlias) {
  EXPECT_EQ(placed(small_program("b_a: \"f32[2, 2]\"; x: \"f32[2, 2]\"\n"
                                 "v: \"f32[2, 2]\" = aten.transpose.int(b_a, 0, 1)\n"
                                 "r = aten.reshape.default(v, [4])\n"
                                 "n: \"f32[2, 2]\" = aten.neg.default(x)\n"
                                 "y = aten.sin.default(r)\n"
                                 "-> b_a = n, y")),
            "b_a <- n after n");
}

TEST(Place, AWriteToATensorThatOverlapsItselfIsRefused) {
  EXPECT_THROW(place(small_program("b_a; x: \"f32[1]\"\n"
                                   "e: \"f32[4]\" = aten.expand.default(x, [4])\n"
                                   "m = aten.mul_.Scalar(e, 2.0)\n"
                                   "-> x = x, m")),
               InputError);
}

TEST(Place, LongChainsOfMayAliasesEnd) {
  std::string text = "b_a; x\nt0 = aten.reshape.default(b_a, [4])\n";
  for (int i = 1; i < 3000; ++i) text += fmt::format("t{} = aten.reshape.default(t{}, [4])\n", i, i - 1);
  const Program p = small_program(text + "y = aten.neg.default(t2999)\n-> b_a = x, y");
  const PlaceResult result = place(p);
  EXPECT_EQ(described(p, result), "b_a <- x after y");
  EXPECT_FALSE(result.warnings.empty());
}

TEST(Accept, RefusesEachCopyOneSlotEarlier) {
  const Program p = small_program(
      "b_a; b_b; x\n"
      "v = aten.view_copy.default(b_a, [4])\n"
      "new = aten.add.Tensor(b_a, x)\n"
      "y = aten.mul.Scalar(v, 2.0)\n"
      "-> b_a = new, b_b = y, y");
  Placement placement = place(p).placement;
  ASSERT_TRUE(accept(p, placement).empty());
  placement.copies[0].at = {slot_at(2), 0};
  const auto conflicts = accept(p, placement);
  ASSERT_EQ(conflicts.size(), 1u);
  EXPECT_EQ(conflicts[0].rule, Rule::reads_target);
  EXPECT_EQ(p.graph.node(*conflicts[0].node).name, "y");
}

TEST(Accept, RefusesTheUsualEndWhereItClobbers) {
  const Program p = small_program("b_a; b_b; x\ny = aten.neg.default(x)\n-> b_a = x, b_b = b_a, y");
  const auto conflicts = accept(p, end_placement(p));
  ASSERT_FALSE(conflicts.empty());
  EXPECT_EQ(conflicts[0].rule, Rule::copy_reads);
  EXPECT_EQ(conflicts[0].copy, 0u);
  EXPECT_TRUE(accept(p, end_placement(p), sequential()).empty());
}

TEST(Accept, RefusesACopyLeftOut) {
  const Program p = small_program("b_a; x\ny = aten.neg.default(x)\n-> b_a = y");
  Placement placement = place(p).placement;
  placement.copies[0] = {true, {}, std::nullopt};
  ASSERT_FALSE(accept(p, placement).empty());
  EXPECT_EQ(accept(p, placement)[0].rule, Rule::in_place);
}

TEST(Accept, ThrowsOnAPlacementOfAnotherProgram) {
  const Program p = small_program("b_a; x\ny = aten.neg.default(x)\n-> b_a = y");
  EXPECT_THROW(accept(p, Placement{}), InputError);
}

TEST(Accept, AChainThatIsRebasedIsNotTakenThoughAllOfItLeavesTheProgram) {
  const Program program = small_program(
      "b_a\nt = aten.neg.default(b_a)\nv = aten.view_copy.default(t, [4])\nm = aten.mul_.Scalar(t, 3)\n"
      "w = aten.view_copy.default(v, [4])\n-> w, v");
  EXPECT_FALSE(accept(program, Placement{}).empty());
}

}  // namespace
}  // namespace writeback::impl
