// `writeback place PROGRAM`: the program with its copies at the earliest safe point, each with its reason.
#include <fmt/core.h>

#include <cstdio>
#include <filesystem>
#include <memory>

#include "fuzz/outside.h"
#include "impl/cli/batch.h"
#include "impl/cli/command.h"
#include "impl/cli/implementation.h"
#include "impl/coalesce.h"
#include "impl/import/import.h"
#include "impl/report/place_report.h"
#include "ref/graph/text.h"

namespace writeback::cli {
namespace {

struct PlaceArguments {
  MeaningFlags meaning;
  std::string program;
  std::string output, html;
  std::string emit;
  std::string implementation = "fast";
  bool explain = false, batch = false;
  impl::Savings savings;
};

constexpr const char* kFooter =
    "Examples:\n"
    "  writeback place model.pt2                        print the program with its copies\n"
    "  writeback place model.pt2 -o placed.txt          write it, print the table of copies\n"
    "  writeback place model.pt2 --explain              print the table of copies alone\n"
    "  writeback place issue.txt --json                 the copies, temporaries and reasons as JSON\n"
    "  writeback place model.pt2 --emit dot | dot -Tsvg the graph with its hazards\n";

std::string emitted(const PlaceArguments& args, const Program& program, const Options& options, const impl::PlaceResult& result) {
  if (args.emit == "request") return fuzz::request_for(program, options) + "\n";
  if (args.emit == "dot") return impl::place_dot(program, result);
  const Program placed =
      impl::rewrite(program, result.placement, args.savings, options, impl::copy_comments(program, result)).program;
  return args.emit == "json" ? impl::write_json(placed) : print_text(placed);
}

/// The report goes to stdout unless the program itself goes there.
void report(const PlaceArguments& args, const Program& program, const impl::PlaceResult& result, bool program_on_stdout) {
  if (args.meaning.json) return print_json(impl::place_json(program, result));
  fmt::print(program_on_stdout ? stderr : stdout, "{}", impl::place_table(program, result));
}

Status place_command(const PlaceArguments& args) {
  const Program program = load(args.program);
  const Options options = args.meaning.options_for(program);
  const impl::PlaceResult result = place_with(args.implementation, program, options);
  for (const std::string& warning : result.warnings) fmt::print(stderr, "writeback: warning: {}\n", warning);

  if (!args.html.empty())
    write_file(args.html, impl::place_html(std::filesystem::path(args.program).filename().string(), program, result));
  const bool wants_report = args.meaning.json || args.explain || !args.output.empty() || !args.html.empty();
  const bool wants_program = !args.output.empty() || !args.emit.empty() || !wants_report;
  const bool program_on_stdout = wants_program && (args.output.empty() || args.output == "-") && !args.meaning.json;
  if (wants_program && (program_on_stdout || !args.output.empty())) {
    write_file(args.output.empty() ? "-" : args.output, emitted(args, program, options, result));
  }
  if (wants_report) report(args, program, result, program_on_stdout);
  return result.lowering_hazards.empty() ? Status::holds : Status::failure;
}

Status place_batch(const PlaceArguments& args) {
  return answer_batch(args.program, [&](const Program& program, const nlohmann::json&) {
    return impl::place_json(program, place_with(args.implementation, program, args.meaning.options_for(program)));
  });
}

}  // namespace

void add_place(CLI::App& app, Session& session) {
  const auto args = std::make_shared<PlaceArguments>();
  CLI::App& command = *app.add_subcommand("place", "Place the copies at the earliest safe point");
  command.footer(kFooter);
  command.add_option("PROGRAM", args->program, "Program to place, '-' = standard input")->required();
  command.add_option("-o,--output", args->output, "Write the placed program to FILE")->type_name("FILE");
  command
      .add_option("--emit", args->emit,
                  "Form of the placed program: text (default), json (export schema) or dot; or request: the line that an\n"
                  "implementation in another process is sent for the program")
      ->check(CLI::IsMember({"text", "json", "dot", "request"}));
  command.add_flag("--explain", args->explain, "Print the table of copies: end slot, earliest slot, reason");
  command.add_flag("--forward", args->savings.forward,
                   "Later readers of a value take the state that it was copied to, so that it dies early");
  command.add_flag("--coalesce", args->savings.coalesce,
                   "Values are born in their targets where the op allows it, and need no copy ('# born_in:' lines)");
  command.add_option("--impl", args->implementation, std::string("Who places: ") + kImplementations)->type_name("NAME");
  command.add_flag("--batch", args->batch,
                   "Read requests from standard input, a JSON object {\"program\"} a line; answer each by its placement");
  command.add_option("--html", args->html, "Write a page with the copies, their reasons and hazard arcs to FILE")
      ->type_name("FILE");
  args->meaning.add_to(command);
  command.callback([args, &session] {
    session.status = args->batch ? place_batch(*args) : naming(args->program, [&] { return place_command(*args); });
  });
}

}  // namespace writeback::cli
