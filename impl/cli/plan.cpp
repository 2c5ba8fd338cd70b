// `writeback plan PROGRAM`: the memory that each placement needs, by ExecuTorch's planner and by a better one, with the bound that
// none can beat; and a picture of the arena over time.
#include <fmt/core.h>

#include <algorithm>
#include <filesystem>
#include <memory>

#include "impl/cli/command.h"
#include "impl/coalesce.h"
#include "impl/place.h"
#include "impl/plan/executorch.h"
#include "impl/report/plan_report.h"
#include "ref/graph/error.h"
#include "ref/graph/sizes.h"

namespace writeback::cli {
namespace {

struct PlanArguments {
  MeaningFlags meaning;
  std::string program, svg, html, picture = "earliest";
  std::int64_t alignment = 16;
  double search = 0;
  std::vector<std::string> sizes, planners;
};

constexpr const char* kFooter =
    "Examples:\n"
    "  writeback plan model.pt2                     bytes by placement and planner\n"
    "  writeback plan model.pt2 --html plan.html    the same with the arena over time, before and after\n"
    "  writeback plan model.pt2 --size s0=128       a value for a symbolic size (else its upper bound)\n"
    "  writeback plan model.pt2 --search 5          five seconds more for each best arena\n";

std::vector<impl::NamedMeasurement> measured(const PlanArguments& args, const Program& program) {
  const Options options = args.meaning.options_for(program);
  impl::plan::MeasureOptions settings;
  settings.alignment = args.alignment;
  settings.symbols = symbol_values(args.sizes);
  check_sizes(program, settings.symbols);
  settings.search_seconds = args.search;
  const auto measurement = [&](const Program& placed) { return impl::plan::measure(placed, options, settings); };
  const Placement earliest = impl::place(program, options).placement;
  const auto rewritten = [&](impl::Savings savings) { return impl::rewrite(program, earliest, savings, options).program; };
  std::vector<impl::NamedMeasurement> all;
  all.push_back({"end", measurement(with_explicit_copies(program, impl::plan::released_placement(program)))});
  all.push_back({"earliest", measurement(rewritten({}))});
  all.push_back({"forwarded", measurement(rewritten({.forward = true}))});
  all.push_back({"coalesced", measurement(rewritten({.forward = true, .coalesce = true}))});
  return all;
}

std::vector<impl::plan::Planner> planners_of(const std::vector<std::string>& names) {
  std::vector<impl::plan::Planner> chosen;
  for (const impl::plan::Planner p : impl::plan::kPlanners) {
    const bool wanted = std::find(names.begin(), names.end(), name_of(p)) != names.end();
    if (wanted || names == std::vector<std::string>{"all"}) chosen.push_back(p);
  }
  return chosen.empty() ? impl::kShownPlanners : chosen;
}

const impl::NamedMeasurement& named(const std::vector<impl::NamedMeasurement>& all, const std::string& name) {
  for (const impl::NamedMeasurement& m : all) {
    if (m.name == name) return m;
  }
  throw InputError("--picture", "no placement is named '" + name + "'");
}

Status plan_command(const PlanArguments& args) {
  const Program program = load(args.program);
  const std::vector<impl::NamedMeasurement> all = measured(args, program);
  for (const std::string& warning : all.back().measurement.warnings) fmt::print(stderr, "writeback: warning: {}\n", warning);
  if (!args.svg.empty()) write_file(args.svg, impl::plan_svg(named(all, args.picture)));
  if (!args.html.empty()) write_file(args.html, impl::plan_html(std::filesystem::path(args.program).filename().string(), all));
  if (args.meaning.json) {
    print_json(impl::plan_json(all));
  } else {
    fmt::print("{}", impl::plan_table(all, planners_of(args.planners)));
  }
  return Status::holds;
}

}  // namespace

void add_plan(CLI::App& app, Session& session) {
  const auto args = std::make_shared<PlanArguments>();
  CLI::App& command = *app.add_subcommand("plan", "Measure the memory of each placement");
  command.footer(kFooter);
  command.add_option("PROGRAM", args->program, "Program to measure, '-' = standard input")->required();
  command.add_option("--html", args->html, "Write one self-contained page with pictures to FILE")->type_name("FILE");
  command.add_option("--svg", args->svg, "Write the arena of one placement to FILE")->type_name("FILE");
  command.add_option("--picture", args->picture, "Which placement --svg shows (default: earliest)")->type_name("NAME");
  command.add_option("--alignment", args->alignment, "Bytes to which storages are rounded up (default 16)")
      ->check(CLI::Range(1, 65536));
  command.add_option("--search", args->search, "Let the best planner search on for each placement, where the bound is not met")
      ->check(CLI::Range(0.0, 1e6))
      ->type_name("SECONDS");
  command.add_option("--planner", args->planners, "Show this planner (repeatable), or all: they are always in --json")
      ->check(CLI::IsMember({"executorch", "executorch-fixed", "naive", "first-fit", "best", "all"}))
      ->expected(1)
      ->take_all();
  add_sizes(command, args->sizes);
  args->meaning.add_to(command);
  command.callback([args, &session] { session.status = naming(args->program, [&] { return plan_command(*args); }); });
}

}  // namespace writeback::cli
