// `writeback prove`: the theorems, a row each. With PROGRAM: its placement (ours, or --placement's) is proved for all choices at
// once: the rules accept it over the cells of all choices, and the lemmas say that what they accept has the meaning. Where they do
// not accept it, the reference looks for a run that ends differently.
#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <memory>

#include "impl/cli/command.h"
#include "impl/import/import.h"
#include "impl/place.h"
#include "impl/report/place_report.h"
#include "proofs/prove.h"
#include "ref/graph/error.h"
#include "ref/meaning.h"

namespace writeback::cli {
namespace {

struct ProveArguments {
  MeaningFlags meaning;
  proofs::ProveOptions options;
  std::string program, placement;
};

constexpr const char* kFooter =
    "Examples:\n"
    "  writeback prove                                the lemmas, and all programs of up to 3 nodes\n"
    "  writeback prove --bound 4 --smt2 queries       with every query as SMT-LIB or DIMACS, and the DRAT proofs\n"
    "  writeback prove model.pt2                      our placement of a program, for all choices at once\n"
    "  writeback prove model.pt2 --placement p.json   another placement (as `place --json` prints it)\n";

/// The row of a program whose placement the rules refuse.
proofs::Row refused(const Program& program, const Placement& placement, const Options& options, const impl::Conflict& conflict) {
  proofs::Row row;
  const ref::Judgement judgement = ref::judge(program, placement, options);
  const std::string blocker = conflict.node ? " at %" + program.graph.node(*conflict.node).name : std::string();
  if (judgement.verdict == ref::Verdict::unsafe) {
    row.verdict = proofs::Verdict::refuted;
    row.note = judgement.witness ? judgement.witness->sentence : "a run ends differently";
  } else {
    row.note = fmt::format("the rules refuse it ({}{}), but the reference sees no difference: the blocker is unobserved",
                           impl::name_of(conflict.rule), blocker);
  }
  row.solver = "rules+reference";
  return row;
}

proofs::Row prove_program(const ProveArguments& args, const std::vector<proofs::Row>& lemmas) {
  const Program program = load(args.program);
  const Options options = args.meaning.options_for(program);
  const Placement placement = args.placement.empty()
                                  ? impl::place(program, options).placement
                                  : impl::placement_from_json(program, nlohmann::json::parse(impl::read_file(args.placement)));
  const std::vector<impl::Conflict> conflicts = impl::accept(program, placement, options);
  proofs::Row row;
  if (!conflicts.empty()) {
    row = refused(program, placement, options, conflicts.front());
  } else {
    const auto open = std::ranges::find_if(lemmas, [](const proofs::Row& r) { return r.verdict != proofs::Verdict::proved; });
    row.verdict = open == lemmas.end() ? proofs::Verdict::proved : proofs::Verdict::unknown;
    row.solver = "rules+lemmas";
    row.note = open == lemmas.end() ? "accepted by the rules over the cells of all choices" : "a lemma is open: " + open->claim;
  }
  row.claim = fmt::format("{}: the placement has the meaning, for all choices", args.program);
  return row;
}

void print(const std::vector<proofs::Row>& rows, bool json) {
  if (!json) {
    for (const proofs::Row& r : rows)
      fmt::print("{:8} {:12} {:8.2f} s  {}{}{}{}\n", proofs::name_of(r.verdict), r.solver, r.seconds, r.claim,
                 r.vacuous ? " (vacuous)" : "", r.note.empty() ? "" : ": ", r.note);
    return;
  }
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

Status status_of(const std::vector<proofs::Row>& rows) {
  const auto any = [&](proofs::Verdict v) {
    return std::ranges::any_of(rows, [&](const proofs::Row& r) { return r.verdict == v; });
  };
  if (any(proofs::Verdict::refuted)) return Status::failure;
  return any(proofs::Verdict::unknown) ? Status::undecided : Status::holds;
}

Status prove_command(const ProveArguments& args) {
  std::vector<proofs::Row> rows = proofs::prove_lemmas(args.options);
  rows.push_back(args.program.empty() ? proofs::prove_bounded(args.options) : prove_program(args, rows));
  print(rows, args.meaning.json);
  return status_of(rows);
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
  const std::map<std::string, proofs::Solver> solvers{
      {"z3", proofs::Solver::z3}, {"cvc5", proofs::Solver::cvc5}, {"both", proofs::Solver::both}};
  command
      .add_option("--solver", args->options.solver,
                  "z3, cvc5 (CaDiCaL for the bounded theorem) or both, which must agree (default)")
      ->transform(CLI::CheckedTransformer(solvers))
      ->type_name("NAME");
  command.add_option("--smt2", args->options.smt2, "Leave every query in DIR: SMT-LIB, DIMACS, DRAT proofs")->type_name("DIR");
  command.add_option("--seconds", args->options.seconds, "Time-out of one query and solver (default 600)")->type_name("S");
  args->meaning.add_to(command);
  command.callback([args, &session] { session.status = prove_command(*args); });
}

}  // namespace writeback::cli
