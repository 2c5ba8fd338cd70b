#include <writeback/testing.h>

// A pass that puts each copy right behind the node that computes its value: it forgets who still reads the target.
writeback::Placement my_pass(const writeback::Program& program, const writeback::Options&) {
  writeback::Placement placement = writeback::end_placement(program);
  std::uint32_t order = 0;
  for (std::size_t c = 0; c < placement.copies.size(); ++c) {
    const writeback::ValueId value = writeback::write_backs(program)[c].value;
    const bool input = program.graph.is_placeholder(value);
    placement.copies[c].at = {input ? writeback::Slot{} : writeback::slot_after(program.graph.producer_of(value)), order++};
  }
  return placement;
}

TEST(MyPass, PlacesSafely) { EXPECT_TRUE(writeback::testing::survives(my_pass, 2000)); }
