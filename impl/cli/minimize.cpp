// `writeback minimize CASE`: the smallest program that fails in the same way, and its report.
#include <fmt/core.h>

#include <filesystem>
#include <memory>

#include "fuzz/minimize.h"
#include "fuzz/report.h"
#include "impl/cli/command.h"
#include "ref/graph/error.h"
#include "ref/graph/text.h"

namespace writeback::cli {
namespace {

struct MinimizeArguments {
  MeaningFlags meaning;
  std::string program, implementation = "fast", out;
  double seconds = 60;
  bool strict = false, list = false;
};

constexpr const char* kFooter =
    "Examples:\n"
    "  writeback minimize found/failures/001-unsafe/original.txt --impl fault:readers_forgotten\n"
    "  writeback minimize model.pt2 --impl 'cmd:python3 my_pass.py' --out report\n"
    "  writeback minimize --reductions -          the reductions by which a result is minimal\n";

void list_reductions() {
  for (const std::string& name : fuzz::reductions()) fmt::print("{}\n", name);
}

void print_result(const MinimizeArguments& args, const fuzz::Minimized& small, const std::string& file) {
  if (args.meaning.json) {
    Json json{{"nodes", small.program.graph.nodes.size()},
              {"one_minimal", small.one_minimal},
              {"signature", small.judged.signature.text},
              {"reason", small.judged.reason},
              {"tried", small.tried},
              {"kept", small.kept},
              {"program", file},
              {"text", print_text(small.program)},
              {"set_aside", Json::array()}};
    for (const auto& [signature, program] : small.set_aside) json["set_aside"].push_back(signature.text);
    return print_json(json);
  }
  fmt::print("{}\n# {}\n# {}: {} nodes{}, {} candidates tried, {} steps\n", print_text(small.program), small.judged.reason,
             small.judged.signature.text, small.program.graph.nodes.size(), small.one_minimal ? ", 1-minimal" : "", small.tried,
             small.kept);
  for (const auto& [signature, program] : small.set_aside) fmt::print("# seen on the way: {}\n", signature.text);
}

Status minimize_command(const MinimizeArguments& args) {
  if (args.list) return list_reductions(), Status::holds;
  const Program program = load(args.program);
  const Options base = args.meaning.options_for({});
  const auto implementation = fuzz::implementation(args.implementation);
  fuzz::Checks checks;
  checks.explanation = checks.text = checks.relations = true;
  checks.strict = args.strict;
  const fuzz::Judged judged = fuzz::judge(*implementation, program, options_of(program, base), checks);
  if (judged.verdict == fuzz::Verdict::skipped) {
    fmt::print(stderr, "writeback: {} cannot be judged: {}\n", args.program, judged.reason);
    return Status::undecided;
  }
  if (judged.verdict == fuzz::Verdict::right) {
    fmt::print(stderr, "writeback: {} does not fail with {}\n", args.program, args.implementation);
    return Status::holds;
  }
  const fuzz::Minimized small = fuzz::minimize(*implementation, program, base, judged.signature, checks, args.seconds);
  std::string file;
  if (!args.out.empty()) {
    std::filesystem::create_directories(args.out);
    file = args.out + "/program.txt";
    write_file(file, print_text(small.program));
    for (const auto& [name, content] : fuzz::report_files(print_text(small.program), args.implementation, *implementation, base))
      write_file(args.out + "/" + name, content);
  }
  print_result(args, small, file);
  return Status::failure;
}

}  // namespace

void add_minimize(CLI::App& app, Session& session) {
  const auto args = std::make_shared<MinimizeArguments>();
  CLI::App& command = *app.add_subcommand("minimize", "The smallest program that fails in the same way, and its report");
  command.footer(kFooter);
  command.add_option("CASE", args->program, "Program that fails, '-' = standard input")->required();
  command.add_option("--impl", args->implementation, "fast (default), end, fault:NAME or cmd:COMMAND")->type_name("NAME");
  command.add_option("--out", args->out, "Folder for the program and its report")->type_name("DIR");
  command.add_option("--seconds", args->seconds, "Time limit (default 60)")->check(CLI::PositiveNumber);
  command.add_flag("--strict", args->strict, "Of an outside implementation, count copies later than the earliest point too");
  command.add_flag("--reductions", args->list, "List the reductions and end");
  args->meaning.add_to(command);
  command.callback([args, &session] { session.status = minimize_command(*args); });
}

}  // namespace writeback::cli
