// `writeback check BEFORE AFTER`: has AFTER, whose copies are explicit, the meaning of BEFORE? `writeback check PROGRAM`: are the
// copies that PROGRAM contains safe? (Without any, those that the end of the graph would get, in output order.)
#include <fmt/core.h>

#include <chrono>
#include <memory>
#include <optional>
#include <utility>

#include "fuzz/ci.h"
#include "impl/cli/command.h"
#include "impl/import/import.h"
#include "impl/place.h"
#include "impl/report/place_report.h"
#include "ref/graph/error.h"
#include "ref/meaning.h"

namespace writeback::cli {
namespace {

struct CheckArguments {
  MeaningFlags meaning;
  std::string before, after, placement, junit;
  bool github = false;
};

constexpr const char* kFooter =
    "Examples:\n"
    "  writeback place model.pt2 -o placed.txt && writeback check model.pt2 placed.txt\n"
    "  writeback check placed.txt                       copies in it against its own meaning\n"
    "  writeback check model.pt2                        what the usual end-of-graph copies would do\n"
    "  writeback check model.pt2 --placement p.json     p.json as `place --json` prints it\n";

const char* name_of(ref::Verdict v) {
  switch (v) {
    case ref::Verdict::safe:
      return "safe";
    case ref::Verdict::unsafe:
      return "unsafe";
    case ref::Verdict::undecided:
      return "undecided";
  }
  return "";
}

const char* name_of(ref::Method m) {
  switch (m) {
    case ref::Method::terms:
      return "terms";
    case ref::Method::choices:
      return "choices";
    case ref::Method::smt:
      return "smt";
    case ref::Method::one_cell:
      return "one-cell";
  }
  return "";
}

Status status_of(ref::Verdict v) {
  switch (v) {
    case ref::Verdict::safe:
      return Status::holds;
    case ref::Verdict::unsafe:
      return Status::failure;
    case ref::Verdict::undecided:
      return Status::undecided;
  }
  return Status::undecided;
}

Json judgement_json(const ref::Judgement& j) {
  Json hazards = Json::array();
  for (const ref::Hazard& h : j.hazards) {
    hazards.push_back({{"target", h.target}, {"value", h.value}, {"rule", h.rule}, {"node", h.node}});
  }
  Json json = {
      {"verdict", name_of(j.verdict)}, {"method", name_of(j.method)}, {"hazards", hazards}, {"witness", nullptr}, {"note", j.note}};
  if (j.witness) {
    json["witness"] = {{"choices", j.witness->choices},
                       {"where", j.witness->where},
                       {"expected", j.witness->expected},
                       {"got", j.witness->got},
                       {"sentence", j.witness->sentence}};
  }
  return json;
}

void print_judgement(const ref::Judgement& j) {
  fmt::print("{} (method: {}){}{}\n", name_of(j.verdict), name_of(j.method), j.note.empty() ? "" : ": ", j.note);
  for (const ref::Hazard& h : j.hazards) {
    const std::string pair = h.target.empty() ? "" : fmt::format("{} <- {}: ", h.target, h.value);
    fmt::print("hazard: {}{} at {}\n", pair, h.rule, h.node);
  }
  if (!j.witness) return;
  const ref::Witness& w = *j.witness;
  fmt::print("witness: {}\n  at        {}\n  expected  {}\n  got       {}\n", w.sentence, w.where, w.expected, w.got);
  for (const auto& [node, choice] : w.choices) fmt::print("  choice    {}: {}\n", node, choice);
}

Placement placement_file(const Program& program, const std::string& path) {
  try {
    return impl::placement_from_json(program, nlohmann::json::parse(impl::read_file(path)));
  } catch (const nlohmann::json::parse_error& e) {
    throw InputError(path, fmt::format("is no JSON (byte {})", e.byte));
  } catch (const InputError& e) {
    throw InputError(path, e.what());
  }
}

/// AFTER reads the value of write-backs before its definition: that is no program to run, but it is an answer.
std::optional<ref::Judgement> reads_too_early(const Program& before, const UndefinedValue& e) {
  ref::Judgement judgement;
  judgement.verdict = ref::Verdict::unsafe;
  judgement.method = ref::Method::terms;
  judgement.note = e.what();
  for (const WriteBack& w : write_backs(before)) {
    if (before.graph.name_of(w.value) != e.name()) continue;
    judgement.hazards.push_back({before.graph.name_of(w.target), e.name(), "computes_value", e.name()});
  }
  return judgement.hazards.empty() ? std::nullopt : std::optional(std::move(judgement));
}

ref::Judgement judgement_after(const Program& before, const std::string& after, const Options& options) {
  try {
    return ref::equivalent(before, load(after), options);
  } catch (const UndefinedValue& e) {
    if (auto judgement = reads_too_early(before, e)) return *std::move(judgement);
    throw;
  }
}

ref::Judgement judgement_of(const CheckArguments& args) {
  const Program program = load(args.before);
  const Options options = args.meaning.options_for(program);
  if (!args.placement.empty()) return ref::judge(program, placement_file(program, args.placement), options);
  if (!args.after.empty()) return judgement_after(program, args.after, options);
  const Program bare = without_explicit_copies(program);
  const bool has_copies = bare.graph.nodes.size() != program.graph.nodes.size();
  return has_copies ? ref::equivalent(bare, program, options) : ref::judge(program, end_placement(program), options);
}

/// The judgement as one test of somebody's CI.
std::vector<fuzz::TestCase> test_cases(const CheckArguments& args, const ref::Judgement& j, double seconds) {
  using Outcome = fuzz::TestCase::Outcome;
  const Outcome outcome = j.verdict == ref::Verdict::safe     ? Outcome::passed
                          : j.verdict == ref::Verdict::unsafe ? Outcome::failed
                                                              : Outcome::skipped;
  std::string detail;
  for (const ref::Hazard& h : j.hazards) detail += fmt::format("{} <- {}: {} at {}\n", h.target, h.value, h.rule, h.node);
  if (j.witness) detail += fmt::format("expected {}\ngot      {}\n", j.witness->expected, j.witness->got);
  return {{args.before + " keeps its meaning", seconds, outcome,
           j.witness ? j.witness->sentence : fmt::format("{} {}", name_of(j.verdict), j.note), detail}};
}

Status check_command(const CheckArguments& args) {
  const auto start = std::chrono::steady_clock::now();
  const ref::Judgement judgement = judgement_of(args);
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  const std::vector<fuzz::TestCase> cases = test_cases(args, judgement, seconds);
  if (!args.junit.empty()) write_file(args.junit, fuzz::junit_xml("writeback check", "writeback.check", seconds, cases));
  if (args.meaning.json) {
    print_json(judgement_json(judgement));
  } else {
    print_judgement(judgement);
  }
  if (args.github) fmt::print("{}", fuzz::github_annotations(cases));
  return status_of(judgement.verdict);
}

}  // namespace

void add_check(CLI::App& app, Session& session) {
  const auto args = std::make_shared<CheckArguments>();
  CLI::App& command = *app.add_subcommand("check", "Judge a placement by the reference");
  command.footer(kFooter);
  command.add_option("BEFORE", args->before, "The program, its mutations as outputs")->required();
  command.add_option("AFTER", args->after, "The same program with explicit copies, or rewritten");
  command.add_option("--placement", args->placement, "Judge the placement in FILE (as `place --json` prints it)")
      ->type_name("FILE");
  command.add_option("--junit", args->junit, "Write the result as JUnit XML")->type_name("FILE");
  command.add_flag("--github", args->github, "Print GitHub annotations too");
  args->meaning.add_to(command);
  command.callback([args, &session] { session.status = naming(args->before, [&] { return check_command(*args); }); });
}

}  // namespace writeback::cli
