// Bad text is answered with an InputError that says where and what was expected; never with anything else.
#include <gtest/gtest.h>

#include <ctime>
#include <string>

#include "ref/graph/error.h"
#include "ref/graph/text.h"

namespace writeback {
namespace {

const std::string kGood = R"(ExportedProgram:
    class GraphModule(torch.nn.Module):
        def forward(self, b_a: "f32[4]", x: "f32[4]"):
            # No stacktrace found for following nodes
            y: "f32[4]" = torch.ops.aten.add.Tensor(b_a, x);  b_a = x = None
            z: "f32[4]" = torch.ops.aten.neg.default(y)
            return (y, z)
    
Graph signature: 
    # inputs
    b_a: BUFFER target='a' persistent=True
    x: USER_INPUT
    
    # outputs
    y: BUFFER_MUTATION target='a'
    z: USER_OUTPUT
    
Range constraints: {}
)";

std::string error_of(const std::string& text) {
  try {
    read_text(text);
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

std::string after_replacing(const std::string& from, const std::string& to) {
  std::string text = kGood;
  text.replace(text.find(from), from.size(), to);
  return error_of(text);
}

TEST(TextErrors, TheGoodTextIsGood) { EXPECT_EQ(error_of(kGood), ""); }

TEST(TextErrors, UseBeforeDefinition) {
  EXPECT_EQ(after_replacing("(b_a, x)", "(b_a, z)"),
            "line 5, column 58: expected a value that is defined before this line, found 'z'");
}

TEST(TextErrors, DuplicateName) {
  EXPECT_EQ(after_replacing("z: \"f32[4]\" =", "y: \"f32[4]\" ="),
            "line 6, column 13: expected a new name, but 'y' is defined before");
}

TEST(TextErrors, CutInsideAStatement) {
  EXPECT_EQ(error_of(kGood.substr(0, kGood.find("x);  b_a"))), "line 5, column 58: expected a value, found the end of the text");
}

TEST(TextErrors, CutBeforeReturn) {
  EXPECT_EQ(error_of(kGood.substr(0, kGood.find("            return"))),
            "line 7, column 1: expected 'return' before the end of the code: the text seems cut, found the end of the text");
}

TEST(TextErrors, CutSignature) {
  EXPECT_EQ(error_of(kGood.substr(0, kGood.find("    z: USER_OUTPUT"))),
            "line 16, column 1: expected 2 output specs above, as many as are returned, found the end of the text");
}

TEST(TextErrors, SignatureOfAnotherGraph) {
  EXPECT_EQ(after_replacing("    z: USER_OUTPUT", "    q: USER_OUTPUT"), "line 16, column 5: expected the output 'z', found 'q'");
  EXPECT_EQ(after_replacing("    x: USER_INPUT", "    q: USER_INPUT"),
            "line 18, column 1: expected an input spec for 'x' in the signature above, found 'Range constraints: {}'");
}

TEST(TextErrors, UnknownKind) {
  EXPECT_EQ(after_replacing("BUFFER_MUTATION", "BUFFER_MUTANT"),
            "line 15, column 5: expected a kind such as USER_OUTPUT, found 'BUFFER_MUTANT'");
}

TEST(TextErrors, NoProgram) {
  EXPECT_NE(error_of("").find("expected a program as PyTorch prints it"), std::string::npos);
  EXPECT_NE(error_of("hello\nworld\n").find("line 3, column 1: expected a program"), std::string::npos);
}

TEST(TextErrors, AliasOfNoPlaceholder) {
  EXPECT_EQ(error_of("# alias: b_a nope\n" + kGood), "line 1, column 14: expected a placeholder of the program, found 'nope'");
  EXPECT_EQ(error_of("# share_alloc: x 0\n" + kGood), "line 1, column 16: expected a node of the program, found 'x'");
  EXPECT_EQ(error_of("# born_in: y nope\n" + kGood), "line 1, column 14: expected a placeholder of the program, found 'nope'");
  EXPECT_EQ(error_of("# alias: x = b_a[0; 1, 2; 1]\n" + kGood),
            "line 1, column 29: expected as many strides as sizes before it, found the end of the text");
}

std::string graph_error(const std::string& node) {
  return error_of("graph():\n    %x : [num_users=1] = placeholder[target=x]\n    " + node + "\n    return y\n");
}

TEST(TextErrors, TargetThatIsNoName) {
  EXPECT_EQ(graph_error("%y : [num_users=1] = call_function[target=torch.ops.at\xff](args = (%x,), kwargs = {})"),
            "line 3, column 5: expected the dotted name of a function as target");
  EXPECT_EQ(graph_error("%y : [num_users=1] = get_attr[target=a b]"),
            "line 3, column 5: expected the path of an attribute as target");
  EXPECT_EQ(graph_error("%y : [num_users=1] = call_everything[target=a]"),
            "line 3, column 5: expected placeholder, get_attr or call_function, found 'call_everything'");
}

TEST(TextErrors, KeywordThatIsNoName) {
  EXPECT_NE(graph_error("%y : [num_users=1] = call_function[target=a.b](args = (%x,), kwargs = {'1 2': 3})")
                .find("expected names as keys of the arguments"),
            std::string::npos);
}

TEST(TextErrors, NumberThatIsNone) {
  EXPECT_NE(after_replacing("(b_a, x)", "(b_a, 1.2.3)").find("line 5, column 58: expected a number, found '1.2.3)"),
            std::string::npos);
  EXPECT_EQ(after_replacing("(b_a, x)", "(b_a, 1e999)"), "");
}

TEST(TextErrors, NestingIsLimited) {
  const std::string lists(100'000, '[');
  EXPECT_NE(after_replacing("(b_a, x)", "(" + lists).find("expected lists at most 64 deep"), std::string::npos);
  EXPECT_NE(error_of("graph():\n    %x : [num_users=0] = placeholder[target=x]\n    return " + lists).find("64 deep"),
            std::string::npos);
  std::string classes;
  for (std::size_t depth = 0; depth < 2000; ++depth) {
    const std::string indent(depth, ' ');
    classes += indent + "class a(torch.nn.Module):\n" + indent + "def forward(self):\n" + indent + "return ()\n";
  }
  EXPECT_NE(error_of(classes).find("expected classes at most 64 deep"), std::string::npos);
}

/// Of this process, so that a busy machine does not matter.
double cpu_seconds() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

TEST(TextErrors, EveryPrefixOfATextIsAnsweredInTime) {
  const double begin = cpu_seconds();
  std::size_t accepted = 0;
  for (std::size_t size = 0; size <= kGood.size(); ++size) accepted += error_of(kGood.substr(0, size)).empty();
  EXPECT_LT(accepted, 200u);  // the code without signature, with less of the ranges
  EXPECT_LT(cpu_seconds() - begin, 5);
}

TEST(TextErrors, ManyNodesWithManyWarningsTakeLinearTime) {
  std::string text = "graph():\n    %x : [num_users=1] = placeholder[target=x]\n";
  for (std::size_t i = 0; i < 40'000; ++i) {
    text += "    %y" + std::to_string(i) + " : [num_users=0] = call_module[target=m](args = (%x,), kwargs = {})\n";
  }
  const double begin = cpu_seconds();
  EXPECT_EQ(read_text(text + "    return x\n").graph.nodes.size(), 40'000u);
  EXPECT_LT(cpu_seconds() - begin, 5);  // quadratic is more than a minute
}

}  // namespace
}  // namespace writeback
