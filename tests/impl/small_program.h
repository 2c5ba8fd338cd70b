// Small programs in few words, for tests: one statement a line, `name[: "type"] = op.overload(args)` with ATen ops, f32[4] where no
// type is told. The first line lists the inputs, `;` between them; those that begin with b_ are buffers. The last line is `->
// target = value, ..., output, ...`.
#pragma once

#include <fmt/format.h>

#include <sstream>
#include <string>
#include <vector>

#include "impl/place.h"
#include "ref/graph/text.h"

namespace writeback::impl {

inline std::vector<std::string> split(const std::string& text, const std::string& by) {
  std::vector<std::string> parts;
  std::size_t from = 0;
  for (std::size_t at = text.find(by); at != std::string::npos; at = text.find(by, from)) {
    parts.push_back(text.substr(from, at - from));
    from = at + by.size();
  }
  if (from < text.size()) parts.push_back(text.substr(from));
  return parts;
}

/// `comments` stand in front, as `# alias: b_a b_b`.
inline Program small_program(const std::string& text, const std::string& comments = "") {
  const std::vector<std::string> lines = split(text, "\n");
  std::string parameters, inputs, body, values, outputs;
  for (const std::string& input : split(lines.front(), "; ")) {
    const std::string name = input.substr(0, input.find(':'));
    parameters += fmt::format(", {}", name == input ? name + ": \"f32[4]\"" : input);
    inputs += name.starts_with("b_") ? fmt::format("    {}: BUFFER target='{}' persistent=True\n", name, name.substr(2))
                                     : fmt::format("    {}: USER_INPUT\n", name);
  }
  for (std::size_t i = 1; i + 1 < lines.size(); ++i) {
    const auto [name, call] = [&] {
      const std::size_t at = lines[i].find(" = ");
      return std::pair(lines[i].substr(0, at), lines[i].substr(at + 3));
    }();
    const bool typed = name.find(':') != std::string::npos,
               plain = call.find('(') == std::string::npos || call.starts_with("torch.");
    body += fmt::format("        {}{} = {}{}\n", name, typed || call.starts_with("aten.split") ? "" : ": \"f32[4]\"",
                        plain ? "" : "torch.ops.", call);
  }
  for (const std::string& output : split(lines.back().substr(3), ", ")) {
    const auto parts = split(output, " = ");
    values += parts.back() + ", ";
    if (parts.size() == 1) {
      outputs += fmt::format("    {}: USER_OUTPUT\n", output);
    } else if (parts[0].starts_with("b_")) {
      outputs += fmt::format("    {}: BUFFER_MUTATION target='{}'\n", parts[1], parts[0].substr(2));
    } else {
      outputs += fmt::format("    {}: USER_INPUT_MUTATION target='{}'\n", parts[1], parts[0]);
    }
  }
  return read_text(
      fmt::format("{}ExportedProgram:\n    class GraphModule(torch.nn.Module):\n        def forward(self{}):\n{}"
                  "            return ({})\n\nGraph signature:\n    # inputs\n{}\n    # outputs\n{}\nRange constraints: {{}}\n",
                  comments, parameters, body, values, inputs, outputs));
}

/// "b_a <- t after y; b_b <- t in place; order b_b b_a", the order being that of the copies of one slot.
inline std::string described(const Program& program, const PlaceResult& result) {
  const auto name = [&](ValueId v) { return program.graph.name_of(v); };
  std::string text;
  for (std::size_t k = 0; k < result.write_backs.size(); ++k) {
    const PlacedCopy& copy = result.placement.copies[k];
    const std::size_t slot = index_of(copy.at.slot);
    text += fmt::format("{}{} <- {}{} ", text.empty() ? "" : "; ", name(result.write_backs[k].target),
                        copy.temporary ? "clone of " : "", name(result.write_backs[k].value));
    text += copy.in_place ? "in place" : "after " + (slot == 0 ? std::string("start") : program.graph.nodes[slot - 1].name);
  }
  for (const Temporary& t : result.placement.temporaries) {
    const std::size_t slot = index_of(t.at.slot);
    text += fmt::format("; {} = clone({}) after {}", t.name, name(t.of), slot == 0 ? "start" : program.graph.nodes[slot - 1].name);
  }
  return text;
}

}  // namespace writeback::impl
