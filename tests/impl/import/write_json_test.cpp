// A program written as JSON and read again is the same program.
#include <algorithm>
#include <nlohmann/json.hpp>

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

/// What torch reads: a name for an element that nothing uses, and its meta.
TEST(WriteJson, NamesAnElementOfATupleFromWhichNothingIsPicked) {
  const Program program = read_text(
      "class GraphModule(torch.nn.Module):\n"
      "    def forward(self, x: \"f32[2]\"):\n"
      "        true_graph_0 = self.true_graph_0\n"
      "        false_graph_0 = self.false_graph_0\n"
      "        c = torch.ops.higher_order.cond(x, true_graph_0, false_graph_0, (x,))\n"
      "        s = torch.ops.aten.split.Tensor(x, 1)\n"
      "        return (x,)\n"
      "    class true_graph_0(torch.nn.Module):\n"
      "        def forward(self, p: \"f32[2]\"):\n"
      "            n: \"f32[2]\" = torch.ops.aten.neg.default(p)\n"
      "            return (n,)\n"
      "    class false_graph_0(torch.nn.Module):\n"
      "        def forward(self, p: \"f32[2]\"):\n"
      "            return (p,)\n");
  const auto json = nlohmann::json::parse(write_json(program))["graph_module"]["graph"];
  EXPECT_EQ(json["nodes"][0]["outputs"][0]["as_tensor"]["name"], "c_unused_0");
  EXPECT_EQ(json["nodes"][0]["is_hop_single_tensor_return"], false);
  EXPECT_EQ(json["nodes"][1]["outputs"][0]["as_tensors"][0]["name"], "s_unused_0");
  EXPECT_TRUE(json["tensor_values"].contains("c_unused_0") && json["tensor_values"].contains("s_unused_0"));
  expect_kept(program, "nothing is picked");
}

TEST(WriteJson, AParameterOfWholeNumbersHasNoGradient) {
  Program program = read_json(archive_bytes("counter.json"));
  program.input_specs[0].kind = InputKind::parameter;
  const auto requires_grad = [&](DType dtype) {
    std::get<TensorMeta>(program.graph.placeholders[0].meta).dtype = dtype;
    const auto json = nlohmann::json::parse(write_json(program));
    return json["graph_module"]["graph"]["tensor_values"][program.graph.placeholders[0].name]["requires_grad"].get<bool>();
  };
  EXPECT_TRUE(requires_grad(DType::f32));
  EXPECT_FALSE(requires_grad(DType::i64));
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
