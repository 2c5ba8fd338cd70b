// `writeback prove`: the theorems, a row each. With PROGRAM: its placement (ours, or --placement's) is proved for all choices at
// once, by SMT (proofs/one_program.h); where that has no answer, by the rules, which accept it over the cells of all choices, and
// the lemmas, which say that what they accept has the meaning.
#include <fmt/core.h>

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <map>
#include <memory>

#include "impl/cli/command.h"
#include "impl/import/import.h"
#include "impl/place.h"
#include "impl/report/place_report.h"
#include "proofs/least.h"
#include "proofs/one_program.h"
#include "proofs/prove.h"
#include "ref/graph/error.h"

namespace writeback::cli {
namespace {

struct ProveArguments {
  MeaningFlags meaning;
  proofs::ProveOptions options;
  std::string program, placement;
  bool steps = false;
};

constexpr const char* kFooter =
    "Examples:\n"
    "  writeback prove                                the lemmas, and all programs of up to 3 nodes\n"
    "  writeback prove --bound 4 --smt2 queries       with every query as SMT-LIB or DIMACS, and the DRAT proofs\n"
    "  writeback prove --bound 4 --check-proofs       what CaDiCaL refutes counts only with a proof that we have checked\n"
    "  writeback prove model.pt2                      our placement of a program, for all choices at once\n"
    "  writeback prove model.pt2 --placement p.json   another placement (as `place --json` prints it)\n";

void print(const proofs::Row& r) {
  fmt::print("{:8} {:12} {:8.2f} s  {}{}{}{}\n", proofs::name_of(r.verdict), r.solver, r.seconds, r.claim,
             r.vacuous ? " (vacuous)" : "", r.note.empty() ? "" : ": ", r.note);
  std::fflush(stdout);
}

void print_list(const std::vector<proofs::Row>& rows) {
  Json list = Json::array();
  for (const proofs::Row& r : rows)
    list.push_back({{"claim", r.claim},
                    {"verdict", proofs::name_of(r.verdict)},
                    {"solver", r.solver},
                    {"seconds", r.seconds},
                    {"vacuous", r.vacuous},
                    {"note", r.note}});
  print_json({{"rows", list}});
}

/// The rows of the answer. As text they are printed when they come: the bounded theorem can take minutes.
class Rows {
 public:
  explicit Rows(bool json) : json_(json) {}

  void add(proofs::Row row) {
    if (!json_) print(row);
    rows_.push_back(std::move(row));
  }
  void add(std::vector<proofs::Row> rows) {
    for (proofs::Row& row : rows) add(std::move(row));
  }
  const std::vector<proofs::Row>& all() const { return rows_; }

 private:
  bool json_;
  std::vector<proofs::Row> rows_;
};

std::string blocker(const Program& program, const impl::Conflict& conflict) {
  return fmt::format("{}{}", impl::name_of(conflict.rule),
                     conflict.node ? " at %" + program.graph.node(*conflict.node).name : std::string());
}

/// What the rules say where SMT has no answer: too coarse, or not modelled.
proofs::Row by_rules(const std::vector<impl::Conflict>& conflicts, const std::vector<proofs::Row>& lemmas, const proofs::Row& smt) {
  proofs::Row row = smt;
  row.solver = "rules+lemmas";
  const auto open = std::ranges::find_if(lemmas, [](const proofs::Row& r) { return r.verdict != proofs::Verdict::proved; });
  if (!conflicts.empty()) return row;
  row.verdict = open == lemmas.end() ? proofs::Verdict::proved : proofs::Verdict::unknown;
  row.note = (open == lemmas.end() ? "accepted by the rules over the cells of all choices" : "a lemma is open: " + open->claim) +
             " (" + smt.note + ")";
  return row;
}

/// The lemmas, and rows of one program: its placement is safe; where it is ours, it is the least one.
void prove_program(const ProveArguments& args, Rows& rows) {
  const Program program = load(args.program);
  const Options options = args.meaning.options_for(program);
  const Placement placement = args.placement.empty()
                                  ? impl::place(program, options).placement
                                  : impl::placement_from_json(program, nlohmann::json::parse(impl::read_file(args.placement)));
  const std::vector<impl::Conflict> conflicts = impl::accept(program, placement, options);
  rows.add(proofs::prove_lemmas(args.options));
  proofs::Row row = proofs::prove_placement(program, placement, options, args.options);
  if (row.verdict == proofs::Verdict::unknown) row = by_rules(conflicts, rows.all(), row);
  if (!conflicts.empty() && row.verdict != proofs::Verdict::refuted)
    row.note += fmt::format("; the rules refuse it ({}){}", blocker(program, conflicts.front()),
                            row.verdict == proofs::Verdict::proved ? ": the blocker is unobserved" : "");
  row.claim = fmt::format("{}: the placement has the meaning, for all choices", args.program);
  rows.add(std::move(row));
  if (!args.placement.empty()) return;
  if (auto least = proofs::prove_least(program, placement, options, args.options)) {
    least->claim = fmt::format("{}: no placement is earlier", args.program);
    rows.add(*std::move(least));
  }
}

Status status_of(const std::vector<proofs::Row>& rows) {
  const auto any = [&](proofs::Verdict v) {
    return std::ranges::any_of(rows, [&](const proofs::Row& r) { return r.verdict == v; });
  };
  if (any(proofs::Verdict::refuted)) return Status::failure;
  return any(proofs::Verdict::unknown) ? Status::undecided : Status::holds;
}

/// The lemmas and the bounded theorem; its steps are rows of their own where they are asked for, else a line on a terminal counts
/// them.
void prove_bounded(const ProveArguments& args, Rows& rows) {
  rows.add(proofs::prove_lemmas(args.options));
  proofs::ProveOptions options = args.options;
  const bool counts = !args.steps && isatty(STDERR_FILENO) != 0;
  std::size_t done = 0;
  options.progress = [&](const proofs::Row& step, std::size_t steps) {
    if (args.steps) rows.add(step);
    if (counts) fmt::print(stderr, "\r\033[K{} of {} steps: {}", ++done, steps, step.claim);
  };
  proofs::Row theorem = proofs::prove_bounded(options);
  if (counts) fmt::print(stderr, "\r\033[K");
  rows.add(std::move(theorem));
}

Status prove_command(const ProveArguments& args) {
  if (args.options.check_proofs && args.options.solver == proofs::Solver::z3)
    throw CLI::ValidationError("--check-proofs", "the proofs are CaDiCaL's, which --solver z3 does not ask");
  Rows rows(args.meaning.json);
  if (args.program.empty())
    prove_bounded(args, rows);
  else
    prove_program(args, rows);
  if (args.meaning.json) print_list(rows.all());
  return status_of(rows.all());
}

}  // namespace

void add_prove(CLI::App& app, Session& session) {
  const auto args = std::make_shared<ProveArguments>();
  CLI::App& command = *app.add_subcommand("prove", "Prove that what the rules accept is safe");
  command.footer(kFooter);
  command.add_option("PROGRAM", args->program, "Prove the placement of this program");
  command.add_option("--placement", args->placement, "The placement in FILE instead of ours")->type_name("FILE");
  command.add_option("--bound", args->options.bound, "All programs of up to N nodes (default 3)")
      ->check(CLI::Range(1, 12))
      ->type_name("N");
  command.add_flag("--steps", args->steps, "A row for each step of the bounded theorem too");
  const std::map<std::string, proofs::Solver> solvers{
      {"z3", proofs::Solver::z3}, {"cvc5", proofs::Solver::cvc5}, {"both", proofs::Solver::both}};
  command
      .add_option_function<std::string>(
          "--solver", [args, solvers](const std::string& name) { args->options.solver = solvers.at(name); },
          "z3, cvc5 (CaDiCaL for the bounded theorem) or both, which must agree (default)")
      ->check(CLI::IsMember({"z3", "cvc5", "both"}));
  command.add_flag("--check-proofs", args->options.check_proofs,
                   "Check CaDiCaL's DRAT proof of each query of the bounded theorem; without a good one it is unknown");
  command.add_option("--smt2", args->options.smt2, "Leave every query in DIR: SMT-LIB, DIMACS, DRAT proofs")->type_name("DIR");
  command.add_option("--seconds", args->options.seconds, "Time-out of one query and solver (default 600)")->type_name("S");
  args->meaning.add_to(command);
  command.callback([args, &session] { session.status = prove_command(*args); });
}

}  // namespace writeback::cli
