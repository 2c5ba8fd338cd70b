// `writeback run PROGRAM`: interprets a program on integers and prints the state before and after. `--batch` does the same for many
// programs, a JSON object a line in and out: for comparisons with PyTorch.
#include <fmt/core.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <memory>

#include "impl/cli/batch.h"
#include "impl/cli/command.h"
#include "impl/cli/implementation.h"
#include "impl/import/import.h"
#include "impl/report/place_report.h"
#include "ref/graph/error.h"
#include "ref/graph/sizes.h"
#include "ref/run.h"

namespace writeback::cli {
namespace {

struct RunArguments {
  MeaningFlags meaning;
  std::string program;
  std::string at = "end";
  std::string inputs, placement;
  ref::RunOptions run;
  std::vector<std::string> sizes;
  bool trace = false, batch = false, copy_may_alias = false;
};

constexpr const char* kFooter =
    "Examples:\n"
    "  writeback run model.txt                            values drawn by seed 0, copies at the end\n"
    "  writeback run model.txt --at earliest --trace      every node and copy in the order in which they run\n"
    "  writeback run model.txt --inputs in.json --json    in.json: {\"b_a\": [1, 2], \"x\": [3, 4]}\n"
    "  writeback run model.pt2 --size s0=3                a number for a symbolic size\n"
    "  writeback run - --batch < cases.jsonl              lines {\"program\": TEXT, \"at\", \"inputs\", \"seed\", \"lowered\", "
    "\"alias\"}\n";

/// Numbers as numbers, terms as strings.
Json value_json(const std::string& value) {
  const bool number = !value.empty() && value.find_first_not_of("0123456789", value[0] == '-' ? 1 : 0) == std::string::npos;
  return number && value != "-" ? Json(std::strtoll(value.c_str(), nullptr, 10)) : Json(value);
}

Json values_json(const ref::Values& values) {
  Json json = Json::array();
  for (const std::string& v : values) json.push_back(value_json(v));
  return json;
}

Json state_json(const std::map<std::string, ref::Values>& state) {
  Json json = Json::object();
  for (const auto& [name, values] : state) json[name] = values_json(values);
  return json;
}

Json trace_json(const ref::RunResult& result) {
  Json trace = Json::array();
  for (const ref::TraceEntry& entry : result.trace) {
    Json results = Json::array();
    for (const ref::Values& values : entry.results) results.push_back(values_json(values));
    Json row = {{"name", entry.name}, {"op", entry.op}, {"results", results}};
    if (!entry.target.empty()) row["target"] = entry.target;
    trace.push_back(std::move(row));
  }
  return trace;
}

Json result_json(const ref::RunResult& result, bool trace) {
  Json outputs = Json::array();
  for (const ref::Values& values : result.outputs) outputs.push_back(values_json(values));
  Json json = {{"inputs", state_json(result.inputs)},
               {"outputs", outputs},
               {"output_names", result.output_names},
               {"state", state_json(result.state)},
               {"trapped", result.trapped}};
  if (trace) json["trace"] = trace_json(result);
  return json;
}

std::string list_text(const ref::Values& values) { return fmt::format("[{}]", fmt::join(values, ", ")); }

void print_result(const ref::RunResult& result, bool trace) {
  for (const auto& [name, values] : result.inputs) fmt::print("before  {} = {}\n", name, list_text(values));
  if (trace) {
    for (const ref::TraceEntry& entry : result.trace) {
      std::string values;
      for (const ref::Values& v : entry.results) values += " " + list_text(v);
      fmt::print("  {}{} = {}:{}\n", entry.name, entry.target.empty() ? "" : " " + entry.target, entry.op, values);
    }
  }
  for (const auto& [name, values] : result.state) {
    if (result.inputs.at(name) != values) fmt::print("after   {} = {}\n", name, list_text(values));
  }
  for (std::size_t i = 0; i < result.outputs.size(); ++i)
    fmt::print("output  {} = {}\n", result.output_names[i], list_text(result.outputs[i]));
  if (result.trapped) fmt::print("trap: a copy's source overlaps its target without being it\n");
}

std::map<std::string, std::vector<std::int64_t>> contents_from(const nlohmann::json& json) {
  if (!json.is_object()) throw InputError("inputs", "expected an object: placeholder names with lists of integers");
  std::map<std::string, std::vector<std::int64_t>> contents;
  for (const auto& [name, values] : json.items()) {
    const bool integers =
        values.is_array() && std::all_of(values.begin(), values.end(), [](const auto& v) { return v.is_number_integer(); });
    if (!integers) throw InputError("inputs/" + name, "expected a flat list of integers");
    contents[name] = values.get<std::vector<std::int64_t>>();
  }
  return contents;
}

ref::RunResult run_at(const std::string& at, const Program& program, const Options& options, const ref::RunOptions& run) {
  if (at == "end") return ref::run(program, nullptr, options, run);
  const Placement placement = place_with(at == "earliest" ? "fast" : at, program, options).placement;
  return ref::run(program, &placement, options, run);
}

Status run_one(const RunArguments& args) {
  const Program program = with_sizes(load(args.program), symbol_values(args.sizes));
  const Options options = args.meaning.options_for(program);
  ref::RunOptions run = args.run;
  run.alias = !args.copy_may_alias;
  if (!args.inputs.empty()) run.inputs = contents_from(parsed(impl::read_file(args.inputs), args.inputs));
  ref::RunResult result;
  if (args.placement.empty()) {
    result = run_at(args.at, program, options, run);
  } else {
    const Placement placement = impl::placement_from_json(program, parsed(impl::read_file(args.placement), args.placement));
    result = ref::run(program, &placement, options, run);
  }
  if (args.meaning.json) {
    print_json(result_json(result, args.trace));
  } else {
    print_result(result, args.trace);
  }
  return result.trapped ? Status::failure : Status::holds;
}

Json batch_answer(const RunArguments& args, const Program& program, const nlohmann::json& request) {
  ref::RunOptions run = args.run;
  run.seed = request.value("seed", run.seed);
  run.alias = request.value("alias", !args.copy_may_alias);
  run.lowered = request.value("lowered", run.lowered);
  if (request.contains("inputs")) run.inputs = contents_from(request["inputs"]);
  const Options options = args.meaning.options_for(program);
  return result_json(run_at(request.value("at", args.at), program, options, run), request.value("trace", args.trace));
}

Status run_batch(const RunArguments& args) {
  return answer_batch(args.program,
                      [&](const Program& program, const nlohmann::json& request) { return batch_answer(args, program, request); });
}

}  // namespace

void add_run(CLI::App& app, Session& session) {
  const auto args = std::make_shared<RunArguments>();
  CLI::App& command = *app.add_subcommand("run", "Interpret a program and print its state before and after");
  command.footer(kFooter);
  command.add_option("PROGRAM", args->program, "Program to run, '-' = standard input")->required();
  command
      .add_option("--at", args->at,
                  "Where the copies stand: end (default: values are read first, then targets written), earliest, trace, search")
      ->check(CLI::IsMember({"end", "earliest", "trace", "search"}));
  command.add_option("--placement", args->placement, "Run the placement in FILE (as `place --json` prints it)")->type_name("FILE");
  command.add_option("--seed", args->run.seed, "Seed of the initial contents");
  command.add_option("--inputs", args->inputs, "Initial contents: a JSON object of lists of integers")->type_name("FILE");
  add_sizes(command, args->sizes);
  command.add_flag("--trace", args->trace, "Show every node");
  command.add_flag("--lowered", args->run.lowered, "Run as lowered: view_copy nodes are aliases where they may become ones");
  command.add_flag("--copy-may-alias", args->copy_may_alias, "May-alias results are copies, not aliases");
  command.add_flag("--batch", args->batch, "Read requests from standard input, a JSON object a line");
  args->meaning.add_to(command);
  command.callback([args, &session] {
    session.status = args->batch ? run_batch(*args) : naming(args->program, [&] { return run_one(*args); });
  });
}

}  // namespace writeback::cli
