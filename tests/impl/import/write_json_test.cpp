// A program written as JSON and read again is the same program.
#include <algorithm>

#include "impl/import/import.h"
#include "ref/graph/text.h"
#include "tests/impl/import/files.h"

namespace writeback::impl {
namespace {

/// Equal in all that JSON keeps. Strides are written where the text tells none, so those are compared as text alone.
void expect_kept(const Program& before, const std::string& what) {
  const Program after = read_json(write_json(before));
  EXPECT_EQ(print_text(stripped(after)), print_text(stripped(before))) << what;
  EXPECT_EQ(after.input_specs, before.input_specs) << what;
  EXPECT_EQ(after.output_specs, before.output_specs) << what;
  EXPECT_EQ(after.range_constraints, before.range_constraints) << what;
  EXPECT_TRUE(after.warnings.empty()) << what;
}

TEST(WriteJson, KeepsEveryModelWhatItWasReadFrom) {
  std::size_t count = 0;
  for (const auto& file : std::filesystem::directory_iterator(models())) {
    const std::string extension = file.path().extension();
    if (extension != ".pt2" && extension != ".txt") continue;
    expect_kept(read_program_file(file.path()), file.path());
    ++count;
  }
  EXPECT_GE(count, 60u);
}

TEST(WriteJson, KeepsAllThatAnArchiveTells) {
  for (const char* name : {"kv_cache_index_put.pt2", "batch_norm_training.decomposed.pt2", "cond_on_state.pt2"}) {
    const Program before = read_program_file(models() / name);
    EXPECT_EQ(read_json(write_json(before)).graph, before.graph) << name;
  }
}

TEST(WriteJson, KeepsMetadataOfNodes) {
  Program program = read_json(archive_bytes("counter.json"));
  program.graph.nodes[0].metadata = {{"stack_trace", "File \"é\n\", line 1"}, {"custom", "{}"}};
  EXPECT_EQ(read_json(write_json(program)).graph.nodes[0].metadata, program.graph.nodes[0].metadata);
}

TEST(WriteJson, TakesEverythingForTheUsersWhereTheTextHasNoSignature) {
  const Program program = read_text("class GraphModule(torch.nn.Module):\n    def forward(self, x):\n        return (x,)\n");
  const Program after = read_json(write_json(program));
  EXPECT_EQ(after.input_specs, std::vector<InputSpec>(1));
  EXPECT_EQ(after.output_specs, std::vector<OutputSpec>(1));
}

TEST(WriteJson, GivesViewsTheStridesOfTheirOps) {
  const Program program = read_text(
      "class GraphModule(torch.nn.Module):\n"
      "    def forward(self, x: \"f32[2, 3]\"):\n"
      "        t: \"f32[3, 2]\" = torch.ops.aten.t.default(x)\n"
      "        s: \"f32[3]\" = torch.ops.aten.select.int(t, 1, 0)\n"
      "        split = torch.ops.aten.split.Tensor(x, 1, 1)\n"
      "        g: \"f32[2, 1]\" = split[2]\n"
      "        c: \"f32[3, 2]\" = torch.ops.aten.clone.default(t)\n"
      "        return (s, g, c)\n");
  const Program after = read_json(write_json(program));
  const auto strides = [&](const char* name) { return *tensor_meta(after.graph.meta_of(*find_value(after.graph, name)))->strides; };
  EXPECT_EQ(strides("x"), (std::vector<SymInt>{3, 1}));
  EXPECT_EQ(strides("t"), (std::vector<SymInt>{1, 3}));
  EXPECT_EQ(strides("s"), (std::vector<SymInt>{1}));
  EXPECT_EQ(strides("g"), (std::vector<SymInt>{3, 1}));
  EXPECT_EQ(strides("c"), (std::vector<SymInt>{2, 1}));
}

TEST(WriteJson, IsOneLine) {
  const std::string json = write_json(read_json(archive_bytes("counter.json")));
  EXPECT_EQ(json.find('\n'), std::string::npos);
}

TEST(WriteJson, WritesEveryKindOfArgument) {
  const Program program = read_text(
      "class GraphModule(torch.nn.Module):\n"
      "    def forward(self, x: \"f32[4]\"):\n"
      "        y: \"f32[4]\" = torch.ops.my.op.default(x, [x, None], [[x], []], 9223372036854775807, [1, -2], [(1, 2), (3, 4)], "
      "1e-05,"
      " inf, [True, False], 'mean', ['a'], torch.float32, torch.channels_last, device(type='cuda', index=1), {'k': x})\n"
      "        return (y,)\n");
  const Node node = read_json(write_json(program)).graph.nodes[0];
  EXPECT_EQ(node.args, program.graph.nodes[0].args);
}

TEST(WriteJson, WritesComplexNumbers) {
  for (const char* number : {"(1-2.5j)", "2j", "-1e-05j"}) {
    Program program = read_json(archive_bytes("counter.json"));
    program.graph.nodes[0].args = {Symbol{Symbol::Kind::other, number}};
    EXPECT_EQ(read_json(write_json(program)).graph.nodes[0].args, program.graph.nodes[0].args);
  }
}

}  // namespace
}  // namespace writeback::impl
