#include "tests/ref/small_programs.h"

#include <fmt/format.h>

#include <map>
#include <sstream>

#include "ref/graph/text.h"

namespace writeback::ref {
namespace {

std::vector<std::string> split(const std::string& text, char at) {
  std::vector<std::string> parts;
  std::stringstream stream(text);
  for (std::string part; std::getline(stream, part, at);) {
    const auto first = part.find_first_not_of(' '), last = part.find_last_not_of(' ');
    if (first != std::string::npos) parts.push_back(part.substr(first, last - first + 1));
  }
  return parts;
}

std::string annotation(const std::string& sizes) {
  if (sizes == "none") return "";
  if (sizes.ends_with(']')) return fmt::format(": \"{}\"", sizes);
  return fmt::format(": \"f32[{}]\"", sizes);
}

/// "add(b_a, x)" as torch prints the call.
std::string call(const std::string& text, bool scalar_operand) {
  static const std::map<std::string, std::string> kOverloads = {
      {"add", "Tensor"},   {"sub", "Tensor"},   {"mul", "Tensor"},   {"add_", "Tensor"},   {"mul_", "Tensor"},
      {"slice", "Tensor"}, {"select", "int"},   {"split", "Tensor"}, {"transpose", "int"}, {"sum", "dim_IntList"},
      {"add.out", ""},     {"fill_", "Scalar"}, {"to", "dtype"}};
  const std::string name = text.substr(0, text.find('(')), rest = text.substr(text.find('('));
  if (name.find("::") != std::string::npos)
    return fmt::format("torch.ops.{}.{}.default{}", split(name, ':')[0], name.substr(name.rfind(':') + 1), rest);
  if (name.find('.') != std::string::npos) return fmt::format("torch.ops.aten.{}{}", name, rest);
  const auto found = kOverloads.find(name);
  std::string overload = found == kOverloads.end() ? "default" : found->second;
  if (scalar_operand && overload == "Tensor" && name != "slice" && name != "split") overload = "Scalar";
  return fmt::format("torch.ops.aten.{}.{}{}", name, overload, rest);
}

}  // namespace

Program small_program(const std::string& inputs, const std::vector<std::string>& nodes, const std::string& outputs,
                      const std::vector<std::string>& front) {
  std::string text, signature = "Graph signature:\n    # inputs\n", parameters, returned;
  for (const std::string& line : front) text += line + "\n";
  for (const std::string& input : split(inputs, ' ')) {
    const std::string name = input.substr(0, input.find(':')),
                      sizes = input.find(':') == std::string::npos ? "4" : input.substr(input.find(':') + 1);
    parameters += ", " + name + annotation(sizes);
    signature += name.starts_with("b_") ? fmt::format("    {}: BUFFER target='{}' persistent=True\n", name, name.substr(2))
                                        : fmt::format("    {}: USER_INPUT\n", name);
  }
  text += "ExportedProgram:\n    class GraphModule(torch.nn.Module):\n        def forward(self" + parameters + "):\n";
  for (const std::string& node : nodes) {
    const auto equals = node.find(" = ");
    const auto colon = node.rfind(" : ");
    const std::string name = node.substr(0, equals),
                      expression = node.substr(equals + 3, colon == std::string::npos ? colon : colon - equals - 3);
    const bool picks = expression.ends_with(']') && expression.find('(') == std::string::npos;
    const bool scalar = !picks && std::isdigit(static_cast<unsigned char>(expression[expression.size() - 2])) != 0;
    text += fmt::format("            {}{} = {}\n", name, annotation(colon == std::string::npos ? "4" : node.substr(colon + 3)),
                        picks ? expression : call(expression, scalar));
  }
  signature += "\n    # outputs\n";
  for (const std::string& output : split(outputs, ',')) {
    const auto arrow = output.find(" -> ");
    const std::string value = output.substr(0, arrow), target = arrow == std::string::npos ? "" : output.substr(arrow + 4);
    returned += value + ", ";
    if (target.empty())
      signature += fmt::format("    {}: USER_OUTPUT\n", value);
    else if (target.starts_with("b_"))
      signature += fmt::format("    {}: BUFFER_MUTATION target='{}'\n", value, target.substr(2));
    else
      signature += fmt::format("    {}: USER_INPUT_MUTATION target='{}'\n", value, target);
  }
  text += fmt::format("            return ({})\n\n{}\nRange constraints: {{}}\n", returned, signature);
  return read_text(text);
}

}  // namespace writeback::ref
