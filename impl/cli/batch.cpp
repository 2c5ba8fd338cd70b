#include "impl/cli/batch.h"

#include <fmt/core.h>

#include <iostream>

#include "impl/import/import.h"
#include "ref/graph/error.h"
#include "ref/graph/well_formed.h"

namespace writeback::cli {
namespace {

Program program_of(const nlohmann::json& request) {
  if (!request.is_object() || !request.contains("program")) throw InputError("", "expected an object with \"program\"");
  const nlohmann::json& source = request["program"];
  Program program = impl::read_program(source.is_string() ? source.get<std::string>() : source.dump(), "program");
  require_well_formed(program);
  return program;
}

}  // namespace

nlohmann::json parsed(const std::string& text, const std::string& name) {
  try {
    return nlohmann::json::parse(text);
  } catch (const nlohmann::json::parse_error& e) {
    throw InputError(name, fmt::format("is no JSON (byte {})", e.byte));
  }
}

Status answer_batch(const std::string& path, const std::function<Json(const Program&, const nlohmann::json&)>& answer) {
  if (path != "-") throw InputError("--batch", "reads standard input: give '-' as PROGRAM");
  std::size_t number = 0;
  Status status = Status::holds;
  for (std::string line; std::getline(std::cin, line);) {
    if (line.empty()) continue;
    ++number;
    Json answered;
    try {
      const nlohmann::json request = parsed(line, fmt::format("line {}", number));
      answered = answer(program_of(request), request);
    } catch (const InputError& e) {
      answered = {{"error", e.what()}};
    } catch (const nlohmann::json::exception&) {
      answered = {{"error", fmt::format("line {}: a member has the wrong type", number)}};
    }
    if (answered.contains("error")) status = Status::bad_input;
    fmt::print("{}\n", answered.dump());
  }
  return status;
}

}  // namespace writeback::cli
