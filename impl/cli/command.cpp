#include "impl/cli/command.h"

#include <fmt/core.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <utility>

#include "impl/import/import.h"
#include "ref/graph/error.h"
#include "ref/graph/schema.h"
#include "ref/graph/well_formed.h"

namespace writeback::cli {
namespace {

Lowering lowering_of(const std::string& word) {
  if (word == "executorch") return Lowering::executorch;
  if (word == "none") return Lowering::none;
  throw InputError("--lowering", "expected executorch or none, got '" + word + "'");
}

Semantics semantics_of(const std::string& word) {
  if (word == "parallel") return Semantics::parallel;
  if (word == "sequential") return Semantics::sequential;
  throw InputError("--semantics", "expected sequential or parallel, got '" + word + "'");
}

std::vector<std::string> schema_lines(const std::string& path) {
  std::ifstream file(path);
  if (!file) throw InputError(path, "cannot be read");
  std::vector<std::string> lines;
  std::size_t number = 0;
  for (std::string line; std::getline(file, line);) {
    ++number;
    const std::size_t start = line.find_first_not_of(" \t\r");
    if (start == std::string::npos || line[start] == '#') continue;
    try {
      Schema::parse(line);
    } catch (const InputError& e) {
      throw InputError(fmt::format("{}:{}", path, number), e.what());
    }
    lines.push_back(line);
  }
  return lines;
}

}  // namespace

void MeaningFlags::add_to(CLI::App& command) {
  command.add_flag("--json", json, "Print one JSON object instead of text");
  command.add_option("--lowering", lowering_, "Passes that run afterwards: executorch (default) makes view_copy an alias, or none")
      ->check(CLI::IsMember({"executorch", "none"}));
  command
      .add_option("--semantics", semantics_,
                  "parallel (default): what torch.export promises; sequential: copies one after the other")
      ->check(CLI::IsMember({"parallel", "sequential"}));
  command.add_option("--trust", trusted_, "Namespace of custom ops whose schemas are believed (repeatable)")
      ->type_name("NS")
      ->expected(1)
      ->take_all();
  command.add_option("--schemas", schema_files_, "File of operator schemas, one a line (repeatable)")
      ->type_name("FILE")
      ->expected(1)
      ->take_all();
}

Options MeaningFlags::options_for(const Program& program) const {
  Options options = options_of(program);
  if (lowering_) options.lowering = lowering_of(*lowering_);
  if (semantics_) options.semantics = semantics_of(*semantics_);
  options.trusted.insert(options.trusted.end(), trusted_.begin(), trusted_.end());
  for (const std::string& path : schema_files_) {
    for (std::string& line : schema_lines(path)) options.schemas.push_back(std::move(line));
  }
  return options;
}

Program load(const std::string& path) {
  return naming(path, [&] {
    Program program = impl::read_program_file(path);
    for (const std::string& warning : program.warnings) {
      fmt::print(stderr, "writeback: warning: {}: {}\n", path == "-" ? "standard input" : path, warning);
    }
    require_well_formed(program);
    return program;
  });
}

void write_file(const std::string& path, const std::string& content) {
  if (path == "-") {
    std::fwrite(content.data(), 1, content.size(), stdout);
    return;
  }
  const std::string neighbour = path + ".writing";
  bool written = false;
  {
    std::ofstream file(neighbour, std::ios::binary);
    file.write(content.data(), static_cast<std::streamsize>(content.size()));
    file.flush();
    written = file.good();
  }
  std::error_code error;
  if (written) std::filesystem::rename(neighbour, path, error);
  if (written && !error) return;
  std::error_code ignored;
  std::filesystem::remove(neighbour, ignored);
  throw InputError(path, "cannot be written");
}

void print_json(const Json& json) { fmt::print("{}\n", json.dump(2)); }

void add_sizes(CLI::App& command, std::vector<std::string>& words) {
  command.add_option("--size", words, "Value of a symbolic size, SYMBOL=NUMBER (repeatable)")->expected(1)->take_all();
}

std::map<std::string, std::int64_t> symbol_values(const std::vector<std::string>& words) {
  std::map<std::string, std::int64_t> values;
  for (const std::string& word : words) {
    const std::size_t equals = word.find('=');
    char* end = nullptr;
    const long long value = equals == std::string::npos ? -1 : std::strtoll(word.c_str() + equals + 1, &end, 10);
    if (value < 0 || end == word.c_str() + equals + 1 || *end != '\0')
      throw InputError("--size", "expected SYMBOL=NUMBER, got '" + word + "'");
    values[word.substr(0, equals)] = value;
  }
  return values;
}

}  // namespace writeback::cli
