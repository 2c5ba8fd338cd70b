#include "tests/corpus/expectations.h"

#include <fmt/core.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <set>
#include <stdexcept>

#include "ref/graph/text.h"

namespace writeback::corpus {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kExpect = "# expect: ";

std::string contents(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

Options options_of(const std::vector<std::string>& words) {
  Options options;
  for (std::size_t i = 0; i + 1 < words.size(); i += 2) {
    if (words[i] == "--lowering" && words[i + 1] == "none") options.lowering = Lowering::none;
    if (words[i] == "--semantics" && words[i + 1] == "sequential") options.semantics = Semantics::sequential;
    if (words[i] == "--trust") options.trusted.push_back(words[i + 1]);
  }
  return options;
}

bool is_order(const std::string& line) { return line.find(" before ") != std::string::npos; }

std::string slot_name(const Program& program, Slot slot) {
  return index_of(slot) == 0 ? "start" : program.graph.nodes[index_of(slot) - 1].name;
}

std::vector<std::string> sorted(std::set<std::string> lines) { return {lines.begin(), lines.end()}; }

}  // namespace

std::vector<Case> text_cases() {
  std::vector<fs::path> paths;
  for (const auto& entry : fs::recursive_directory_iterator(fs::path(WRITEBACK_TESTS_DIR) / "corpus")) {
    if (entry.path().extension() == ".txt" && contents(entry.path()).find(kExpect) != std::string::npos)
      paths.push_back(entry.path());
  }
  std::sort(paths.begin(), paths.end());
  std::vector<Case> cases;
  for (const fs::path& path : paths) {
    Case c;
    c.name = path.stem().string();
    c.program = read_text(contents(path));
    c.options = options_of(c.program.options);
    for (const std::string& line : c.program.leading_comments) {
      if (line.rfind(kExpect, 0) == 0) c.expect.push_back(line.substr(kExpect.size()));
    }
    cases.push_back(std::move(c));
  }
  return cases;
}

std::vector<Case> random_cases() {
  std::ifstream file(fs::path(WRITEBACK_TESTS_DIR) / "corpus" / "random.jsonl");
  std::vector<Case> cases;
  for (std::string line; std::getline(file, line);) {
    const auto json = nlohmann::json::parse(line);
    Case c;
    c.name = json["name"];
    c.program = read_text(json["text"].get<std::string>());
    c.options = options_of(json["options"]);
    c.expect = json["expect"].get<std::vector<std::string>>();
    c.tight = json["tight"].get<std::vector<bool>>();
    cases.push_back(std::move(c));
  }
  return cases;
}

std::string pair_name(const Program& program, std::uint32_t write_back) {
  const WriteBack w = write_backs(program)[write_back];
  return fmt::format("{} <- {}", program.graph.name_of(w.target), program.graph.name_of(w.value));
}

std::vector<std::string> described(const Program& program, const Placement& placement) {
  std::set<std::string> lines;
  for (std::uint32_t i = 0; i < placement.copies.size(); ++i) {
    const PlacedCopy& copy = placement.copies[i];
    lines.insert(pair_name(program, i) + (copy.in_place ? " in place" : " after " + slot_name(program, copy.at.slot)));
  }
  if (placement.copies.empty()) lines.insert("nothing to write back");
  if (!placement.temporaries.empty()) lines.insert(fmt::format("temporaries {}", placement.temporaries.size()));
  for (const OutputReadFirst& o : placement.outputs_read_first) {
    lines.insert(fmt::format("output {} read first", program.graph.name_of(*as_value(program.graph.outputs[o.output]))));
  }
  return sorted(lines);
}

std::vector<std::string> described_clobbers(const Program& program,
                                            const std::vector<std::pair<std::uint32_t, std::uint32_t>>& clobbers) {
  std::set<std::string> lines;
  for (const auto& [copy, by] : clobbers)
    lines.insert(fmt::format("clobbered {} by {}", pair_name(program, copy), pair_name(program, by)));
  return sorted(lines);
}

std::vector<std::string> plain_expectations(const Case& c) {
  std::set<std::string> lines;
  for (const std::string& line : c.expect) {
    if (!is_order(line)) lines.insert(line);
  }
  return sorted(lines);
}

std::vector<std::string> broken_orders(const Case& c, const Placement& placement) {
  const auto position_of = [&](const std::string& name) {
    for (std::uint32_t i = 0; i < placement.copies.size(); ++i) {
      if (pair_name(c.program, i) == name) return placement.copies[i].at;
    }
    throw std::runtime_error(c.name + ": no write-back is named '" + name + "'");
  };
  std::vector<std::string> broken;
  for (const std::string& line : c.expect) {
    const std::size_t at = line.find(" before ");
    if (at == std::string::npos) continue;
    if (!(position_of(line.substr(0, at)) < position_of(line.substr(at + 8)))) broken.push_back(line);
  }
  return broken;
}

}  // namespace writeback::corpus
