// In-place writes of a program without mutation outputs become such, through views too.
#include "impl/import/training_ir.h"

#include <sstream>

#include "impl/import/import.h"
#include "ref/graph/text.h"
#include "tests/impl/import/files.h"

namespace writeback::impl {
namespace {

constexpr const char* kSignature =
    "Graph signature: \n"
    "    # inputs\n"
    "    b_a: BUFFER target='a' persistent=True\n"
    "    p_w: PARAMETER target='w'\n"
    "    x: USER_INPUT\n"
    "\n"
    "    # outputs\n"
    "    out: USER_OUTPUT\n"
    "\n"
    "Range constraints: {}\n";

/// The write-backs of a program of these statements, "target <- value" each.
std::string writes(const std::vector<std::string>& statements, const std::string& before = "") {
  std::string text = before +
                     "ExportedProgram:\n    class GraphModule(torch.nn.Module):\n"
                     "        def forward(self, b_a: \"f32[2, 2]\", p_w: \"f32[2, 2]\", x: \"f32[2, 2]\"):\n";
  for (const std::string& s : statements) text += "            " + s + "\n";
  text += "            out: \"f32[2, 2]\" = torch.ops.aten.add.Tensor(x, 1)\n            return (out,)\n\n";
  const Program program = read_program(text + kSignature, "text");
  std::string result;
  for (const WriteBack& w : write_backs(program)) {
    result += (result.empty() ? "" : ", ") + program.graph.name_of(w.target) + " <- " + program.graph.name_of(w.value);
  }
  return result;
}

TEST(TrainingIr, ListsTheLastInPlaceResult) {
  EXPECT_EQ(writes({"add_ = torch.ops.aten.add_.Tensor(b_a, x)", "mul_ = torch.ops.aten.mul_.Tensor(add_, 2)"}), "b_a <- mul_");
}

TEST(TrainingIr, ListsThePlaceholderWhereAViewIsWritten) {
  EXPECT_EQ(writes({"v = torch.ops.aten.select.int(b_a, 0, 0)", "m = torch.ops.aten.mul_.Tensor(v, 2)"}), "b_a <- b_a");
  EXPECT_EQ(writes({"v = torch.ops.aten.view.default(b_a, [4])", "r = torch.ops.aten.reshape.default(v, [2, 2])",
                    "m = torch.ops.aten.mul_.Tensor(r, 2)"}),
            "b_a <- b_a");
}

TEST(TrainingIr, ListsEveryKindOfInputInOrder) {
  EXPECT_EQ(writes({"c = torch.ops.aten.copy_.default(x, b_a)", "d = torch.ops.aten.copy_.default(p_w, x)",
                    "e = torch.ops.aten.zero_.default(b_a)"}),
            "b_a <- e, p_w <- d, x <- c");
}

TEST(TrainingIr, SeesWritesThroughListsAndOutArguments) {
  EXPECT_EQ(writes({"f = torch.ops.aten._foreach_add_.Scalar([b_a, x], 1)"}), "b_a <- b_a, x <- x");
  EXPECT_EQ(writes({"o = torch.ops.aten.add.out(x, x, out = b_a)"}), "b_a <- o");
  EXPECT_EQ(writes({"s = torch.ops.aten.split.Tensor(b_a, 1)", "g = s[1]", "z = torch.ops.aten.zero_.default(g)"}), "b_a <- b_a");
}

TEST(TrainingIr, TakesNothingForWrittenThatIsNot) {
  EXPECT_EQ(writes({"c = torch.ops.aten.clone.default(b_a)", "z = torch.ops.aten.zero_.default(c)"}), "");
  EXPECT_EQ(writes({"c = torch.ops.aten.view_copy.default(b_a, [4])", "z = torch.ops.aten.zero_.default(c)"}), "");
  EXPECT_EQ(writes({"m = torch.ops.my.op.default(b_a)"}), "");
  EXPECT_EQ(writes({"t = torch.ops.aten.t.default(b_a)"}), "");
}

TEST(TrainingIr, BelievesTheProgramsOwnSchemas) {
  EXPECT_EQ(
      writes({"u = torch.ops.my.update.default(x, b_a)"}, "# schema: my::update(Tensor value, Tensor(a!) cache) -> Tensor(a!)\n"),
      "b_a <- u");
}

TEST(TrainingIr, KnowsThatBatchNormWritesItsStatistics) {
  const Program program = read_program_file(models() / "batch_norm_training.pt2");
  EXPECT_EQ(write_backs(program).size(), 3u);
}

TEST(TrainingIr, LeavesProgramsWithMutationOutputsAlone) {
  const std::string text = bytes_of(models() / "counter.decomposed.txt");
  EXPECT_EQ(read_program(text, "text").output_specs, read_text(text).output_specs);
}

TEST(TrainingIr, GivesTheSameFromArchiveAndText) {
  for (const char* name : {"kv_cache_index_put", "batch_norm_training", "mutated_input", "swap_buffers"}) {
    const Program archive = read_program_file(models() / (std::string(name) + ".pt2"));
    const Program text = read_program_file(models() / (std::string(name) + ".txt"));
    EXPECT_EQ(archive.output_specs, text.output_specs) << name;
    EXPECT_EQ(write_backs(archive), write_backs(text)) << name;
    EXPECT_FALSE(write_backs(archive).empty()) << name;
  }
}

TEST(TrainingIr, WarnsOnceWhereJsonCannotTellOfSharedStorages) {
  const std::string json = write_json(read_program_file(models() / "swap_buffers.pt2"));
  EXPECT_EQ(read_program(json, "json").warnings.size(), 1u);
  EXPECT_TRUE(read_program(archive_bytes("counter.json"), "json").warnings.empty());
}

}  // namespace
}  // namespace writeback::impl
