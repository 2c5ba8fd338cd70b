#include "proofs/bounded.h"

#include <fmt/format.h>

#include "proofs/smt.h"

namespace writeback::proofs {
namespace {

z3::expr_vector vector_of(z3::context& context, const std::vector<Bool>& formulas) {
  z3::expr_vector result(context);
  for (const Bool& f : formulas) result.push_back(f);
  return result;
}

}  // namespace

std::vector<Row> prove_steps(std::size_t nodes, const ProveOptions& options) {
  z3::context context;
  const Logic logic(context);
  const Encoding encoding(logic, nodes, Writes::assumed);
  const Workspace workspace(options.smt2);
  z3::expr_vector all = vector_of(context, encoding.assumptions());
  std::vector<Row> rows;
  const auto add = [&](const Query& query) {
    rows.push_back(decide(query, Second::cadical, options, workspace));
    if (options.progress) options.progress(rows.back(), encoding.claims().size() + 1);
  };
  for (const Claim& claim : encoding.claims()) {
    z3::expr_vector assumptions = vector_of(context, encoding.assumptions());
    for (const Bool& given : claim.given) {
      assumptions.push_back(given);
      all.push_back(given);
    }
    add({fmt::format("bounded {}, {}", nodes, claim.name), assumptions, !claim.broken, false});
  }
  // Not vacuous: what each step assumes is a part of what a run of some program satisfies.
  add({fmt::format("bounded {}, some program", nodes), all, logic.constant(true)});
  return rows;
}

Row prove_bounded(const ProveOptions& options) {
  Row all;
  all.claim = fmt::format("every program of up to {} nodes: an accepted placement has the meaning", options.bound);
  all.verdict = Verdict::proved;
  const std::vector<Row> steps = prove_steps(static_cast<std::size_t>(options.bound), options);
  for (const Row& step : steps) {
    all.solver = step.solver;
    all.seconds += step.seconds;
    all.vacuous |= step.vacuous;
    if (step.verdict == Verdict::proved || all.verdict == Verdict::refuted) continue;
    all.verdict = step.verdict;
    all.note = step.claim + (step.note.empty() ? "" : ": " + step.note);
  }
  if (all.note.empty()) all.note = fmt::format("{} steps", steps.size());
  return all;
}

std::optional<Counterexample> refute(std::size_t nodes, impl::Clause dropped, double seconds) {
  z3::context context;
  const Logic logic(context);
  const Encoding encoding(logic, nodes, Writes::faithful, dropped);
  z3::expr_vector formulas = vector_of(context, encoding.assumptions());
  formulas.push_back(encoding.claims().back().broken);
  std::optional<z3::model> model;
  ask_z3(formulas, seconds, &model);
  if (!model) return std::nullopt;
  return decode(encoding, *model);
}

}  // namespace writeback::proofs
