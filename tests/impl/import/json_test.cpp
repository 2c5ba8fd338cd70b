// Export-schema JSON: every kind of argument, every age, and each way to be wrong with its place.
#include "impl/import/import.h"

#include <sstream>
#include "ref/graph/text.h"
#include "tests/impl/import/files.h"

namespace writeback::impl {
namespace {

/// A program of one user input `x`, one output and the nodes given.
std::string program_json(const std::string& nodes, const std::string& output = "x",
                         const std::string& version = "{\"major\": 8, \"minor\": 20}") {
  return R"({"graph_module": {"graph": {"inputs": [{"as_tensor": {"name": "x"}}], "outputs": [{"as_tensor": {"name": ")" + output +
         R"("}}], "nodes": [)" + nodes +
         R"(], "tensor_values": {}}, "signature": {"input_specs": [{"user_input": {"arg": {"as_tensor":
         {"name": "x"}}}}], "output_specs": [{"user_output": {"arg": {"as_tensor": {"name": ")" +
         output + R"("}}}}]}},
         "range_constraints": {}, "schema_version": )" +
         version + "}";
}

std::string node_json(const std::string& name, const std::string& argument) {
  return R"({"target": "torch.ops.my.op.default", "inputs": [{"name": "a", "arg": )" + argument +
         R"(, "kind": 1}], "outputs": [{"as_tensor": {"name": ")" + name + R"("}}], "metadata": {}})";
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return at == std::string::npos ? text : text.replace(at, from.size(), to);
}

std::string statement(const std::string& argument) {
  std::istringstream text(print_text(read_json(program_json(node_json("y", argument), "y"))));
  for (std::string line; std::getline(text, line);) {
    const std::size_t at = line.find("my.op.default(");
    if (at != std::string::npos) return line.substr(at + 14, line.rfind(')') - at - 14);
  }
  return "";
}

TEST(Json, ReadsEveryKindOfArgument) {
  EXPECT_EQ(statement(R"({"as_none": true})"), "None");
  EXPECT_EQ(statement(R"({"as_tensor": {"name": "x"}})"), "x");
  EXPECT_EQ(statement(R"({"as_tensors": [{"name": "x"}, {"name": "x"}]})"), "[x, x]");
  EXPECT_EQ(statement(R"({"as_optional_tensors": [{"as_none": true}, {"as_tensor": {"name": "x"}}]})"), "[None, x]");
  EXPECT_EQ(statement(R"({"as_optional_tensor": {"as_tensor": {"name": "x"}}})"), "x");
  EXPECT_EQ(statement(R"({"as_nested_tensors": [[{"name": "x"}], []]})"), "[[x], []]");
  EXPECT_EQ(statement(R"({"as_int": 9223372036854775807})"), "9223372036854775807");
  EXPECT_EQ(statement(R"({"as_int": -9223372036854775808})"), "-9223372036854775808");
  EXPECT_EQ(statement(R"({"as_ints": [1, -2]})"), "[1, -2]");
  EXPECT_EQ(statement(R"({"as_int_lists": [[1, 2], [3, 4]]})"), "[(1, 2), (3, 4)]");
  EXPECT_EQ(statement(R"({"as_float": 1e-05})"), "1e-05");
  EXPECT_EQ(statement(R"({"as_float": "-Infinity"})"), "-inf");
  EXPECT_EQ(statement(R"({"as_float_lists": [[0.5]]})"), "[[0.5]]");
  EXPECT_EQ(statement(R"({"as_bools": [true, false]})"), "[True, False]");
  EXPECT_EQ(statement(R"({"as_string": "mean"})"), "'mean'");
  EXPECT_EQ(statement(R"({"as_sym_int": {"as_int": 3}})"), "3");
  EXPECT_EQ(statement(R"({"as_sym_ints": [{"as_name": "x"}, {"as_int": 3}]})"), "[x, 3]");
  EXPECT_EQ(statement(R"({"as_scalar_type": 7})"), "torch.float32");
  EXPECT_EQ(statement(R"({"as_layout": 7})"), "torch.strided");
  EXPECT_EQ(statement(R"({"as_memory_format": 2})"), "torch.channels_last");
  EXPECT_EQ(statement(R"({"as_device": {"type": "cuda", "index": 1}})"), "device(type='cuda', index=1)");
  EXPECT_EQ(statement(R"({"as_operator": "torch.ops.aten.add.Tensor"})"), "torch.ops.aten.add.Tensor");
  EXPECT_EQ(statement(R"({"as_complex": {"real": 1.0, "imag": -2.5}})"), "(1-2.5j)");
  EXPECT_EQ(statement(R"({"as_string_to_argument": {"k": {"as_tensor": {"name": "x"}}}})"), "{'k': x}");
}

TEST(Json, KeepsAnUnknownKindOfArgumentAsAWordAndWarns) {
  const Program program = read_json(program_json(node_json("y", R"({"as_quaternion": [1, 2]})"), "y"));
  ASSERT_EQ(program.warnings.size(), 1u);
  EXPECT_NE(program.warnings[0].find("/graph_module/graph/nodes/0/inputs/0/arg"), std::string::npos);
  EXPECT_NE(program.warnings[0].find("as_quaternion"), std::string::npos);
}

TEST(Json, IgnoresUnknownFields) {
  const std::string json = program_json(node_json("y", R"({"as_int": 1})"), "y");
  EXPECT_EQ(read_json(replaced(json, "\"range_constraints\"", "\"colour\": {\"a\": [1]}, \"range_constraints\"")).graph,
            read_json(json).graph);
}

TEST(Json, OfOldVersionsGivesTheSameNamesAndKeywords) {
  const auto text = [](const char* name) { return print_text(stripped(read_json(archive_bytes(name)))); };
  EXPECT_EQ(text("counter_8_10.json"), text("counter.json"));
  EXPECT_EQ(text("executorch_5_4.json"), print_text(stripped(read_text(archive_bytes("executorch_5_4.txt")))));
}

TEST(Json, OfOtherVersionsIsRefused) {
  for (const char* version : {"{\"major\": 9, \"minor\": 0}", "{\"major\": 7, \"minor\": 3}", "3", "null", "{}"}) {
    const std::string error = error_of([&] { read_json(program_json("", "x", version)); });
    EXPECT_TRUE(error.starts_with("/schema_version")) << error;
    EXPECT_NE(error.find("expected"), std::string::npos) << error;
  }
}

TEST(Json, NamesThePlaceOfWhatIsWrong) {
  const auto error = [](const std::string& nodes, const std::string& output = "x") {
    return error_of([&] { read_json(program_json(nodes, output)); });
  };
  EXPECT_EQ(error(node_json("y", R"({"as_tensor": {"name": "z"}})")),
            "/graph_module/graph/nodes/0/inputs/0/arg/as_tensor/name: uses 'z', which nothing before it defines");
  EXPECT_EQ(error(node_json("x", R"({"as_int": 1})")), "/graph_module/graph/nodes/0: the name 'x' is defined twice");
  EXPECT_EQ(error(node_json("a b", R"({"as_int": 1})")),
            "/graph_module/graph/nodes/0: expected a name of letters, digits and '_', found 'a b'");
  EXPECT_EQ(error(node_json("y", R"({"as_int": 1.5})")),
            "/graph_module/graph/nodes/0/inputs/0/arg/as_int: expected an integer of 64 bits, found a number with a fraction");
  EXPECT_EQ(error(node_json("y", R"({"as_int": 1, "as_float": 2.0})")),
            "/graph_module/graph/nodes/0/inputs/0/arg: expected a union with one member, found 'as_int' and 'as_float'");
  EXPECT_EQ(error("", "y"), "/graph_module/graph/outputs/0/as_tensor/name: uses 'y', which nothing before it defines");
  EXPECT_EQ(error(R"({"target": "torch.ops.add", "inputs": [], "outputs": []})"),
            "/graph_module/graph/nodes/0/target: expected torch.ops.<namespace>.<operator>.<overload>");
  EXPECT_EQ(error("17"), "/graph_module/graph/nodes/0: expected an object, found an integer");
}

TEST(Json, WantsASpecForEachInputAndOutput) {
  const std::string json = program_json("");
  const auto error = [&](const std::string& from, const std::string& to) {
    return error_of([&] { read_json(replaced(json, from, to)); });
  };
  const std::string output_spec = R"({"user_output": {"arg": {"as_tensor": {"name": "x"}}}})";
  EXPECT_EQ(error(output_spec, ""), "/graph_module/signature/output_specs: expected one spec for each of the graph's 1 outputs");
  EXPECT_EQ(error(output_spec, output_spec + ", " + output_spec),
            "/graph_module/signature/output_specs/1: expected one spec for each of the graph's 1 outputs");
  EXPECT_EQ(error(output_spec, R"({"buffer_mutation": {"arg": {"name": "x"}, "buffer_name": "b"}})"),
            "/graph_module/signature/output_specs/0/buffer_mutation: mutates 'b', which is no input of the program");
  EXPECT_EQ(error(output_spec, R"({"telepathy": {"arg": {"name": "x"}}})"),
            "/graph_module/signature/output_specs/0: the kind 'telepathy' is not known");
}

TEST(Json, CutAnywhereIsRefused) {
  const std::string json = archive_bytes("counter.json");
  for (std::size_t size = 0; size < json.size(); size += 41) {
    const std::string error = error_of([&] { read_json(json.substr(0, size)); });
    EXPECT_TRUE(error.starts_with("line 1, column ")) << size << ": " << error;
  }
}

TEST(Json, NamesTheLineAndColumnOfMalformedText) {
  EXPECT_EQ(error_of([] { read_json("{\n\"a\":\n 1,}"); }),
            "line 3, column 4: expected a JSON document; it is malformed near here");
  EXPECT_EQ(error_of([] { read_json("{\"a\": \"x"); }), "line 1, column 9: expected more of a JSON document; it is cut off");
  EXPECT_EQ(error_of([] { read_json("{\"a\": \"\xff\"}"); }), "JSON: expected UTF-8");
}

TEST(Json, NestedTooDeepIsRefused) {
  std::string deep;
  for (int i = 0; i < 100000; ++i) deep += "[";
  EXPECT_NE(error_of([&] { read_json(deep); }), "");
}

}  // namespace
}  // namespace writeback::impl
