#include "fuzz/generate.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "fuzz/builder.h"
#include "fuzz/drivers.h"
#include "ref/graph/text.h"

namespace writeback::fuzz {
namespace {

Program random_program(std::uint64_t seed, const Sizes& sizes = {}) {
  Random random(seed);
  return generate(random_records(random, sizes), sizes);
}

TEST(Generate, EncodeIsItsInverse) {
  for (std::uint64_t seed = 0; seed < 20000; ++seed) {
    const Program program = random_program(seed);
    const std::optional<Records> records = encode(program);
    ASSERT_TRUE(records) << "seed " << seed;
    ASSERT_TRUE(generate(*records) == program) << "seed " << seed;
  }
}

TEST(Generate, PrintedProgramsReadBackAsThemselves) {
  for (std::uint64_t seed = 0; seed < 3000; ++seed) {
    const Program program = random_program(seed);
    EXPECT_TRUE(canonical(read_text(print_text(program))) == program) << "seed " << seed;
  }
}

TEST(Generate, NothingGivesTheEmptyProgram) { EXPECT_TRUE(generate({}) == Program{}); }

TEST(Generate, AnUsedUpRecordGivesTheSimplestNode) {
  const Program program = generate(Records(2));
  ASSERT_EQ(program.graph.nodes.size(), 2u);
  EXPECT_EQ(program.target(node_id(0)).qualified_name(), "aten::full");
  EXPECT_EQ(program.target(node_id(1)).qualified_name(), "aten::neg");
}

TEST(Generate, EveryFormIsMade) {
  std::set<std::string> seen;
  for (std::uint64_t seed = 0; seed < 5000; ++seed) {
    for (const Target& target : random_program(seed).targets) seen.insert(target.qualified_name());
  }
  for (const Form& form : forms()) EXPECT_TRUE(seen.contains(form.target.qualified_name())) << form.target.qualified_name();
}

TEST(Generate, ErasingANodeRecordLeavesTheOtherStatementsAlone) {
  Random random(7);
  Records records = random_records(random, {});
  const Program whole = generate(records);
  records.erase(
      std::find_if(records.rbegin(), records.rend(), [](const Record& r) { return r.bytes[0] == answer_for(Statement::node); })
          .base() -
      1);
  const Program part = generate(records);
  ASSERT_EQ(part.graph.nodes.size() + 1, whole.graph.nodes.size());
  for (std::size_t n = 0; n < part.graph.nodes.size(); ++n) EXPECT_EQ(part.graph.nodes[n].args, whole.graph.nodes[n].args);
}

}  // namespace
}  // namespace writeback::fuzz
