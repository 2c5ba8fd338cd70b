#include "proofs/one_program.h"

#include <fmt/format.h>

#include <algorithm>

#include "proofs/smt.h"
#include "proofs/symbolic_run.h"
#include "ref/graph/error.h"
#include "ref/meaning.h"

namespace writeback::proofs {
namespace {

/// The two runs of one program over shared choices.
class Sides {
 public:
  Sides(z3::context& context, const Program& program, const Placement& placement, const Options& options)
      : steps_(program, options, regions_, symbols_), choices_(context, steps_), meaning_(run(context)), placed_(run(context)) {
    meaning_.run_meaning(options.semantics == Semantics::parallel);
    placed_.run_placed(ref::Schedule(program, placement));
  }

  Query query(const std::string& name) const {
    z3::context& context = placed_.trapped().ctx();
    z3::expr_vector assumptions(context), same(context);
    assumptions.push_back(choices_.well_formed());
    same.push_back(!placed_.trapped());
    for (std::size_t i = 0; i < meaning_.outcome().size(); ++i) same.push_back(meaning_.outcome()[i] == placed_.outcome()[i]);
    return {name, assumptions, z3::mk_and(same)};
  }
  std::string describe(const z3::model& model) const { return choices_.describe(steps_, model); }
  std::size_t choice_count() const { return steps_.semantic_choices().size() + steps_.lowering_choices().size(); }

 private:
  SymbolicRun run(z3::context& context) { return {context, steps_, regions_, choices_}; }

  ref::Regions regions_{true};
  ref::Symbols symbols_;
  const ref::Steps steps_;
  const SymbolicChoices choices_;
  SymbolicRun meaning_, placed_;
};

/// A copy or a temporary reads a value that is not computed yet: there is nothing to run.
bool reads_too_early(const Program& program, const Placement& placement) {
  const auto early = [&](ValueId v, Position at) {
    return !program.graph.is_placeholder(v) && at.slot < slot_after(program.graph.producer_of(v));
  };
  const std::vector<WriteBack> all = write_backs(program);
  for (std::size_t k = 0; k < all.size(); ++k) {
    const PlacedCopy& copy = placement.copies[k];
    if (!copy.in_place && !copy.temporary && early(all[k].value, copy.at)) return true;
  }
  return std::ranges::any_of(placement.temporaries, [&](const Temporary& t) { return early(t.of, t.at); });
}

/// The solvers see a difference: what does the interpreter say?
void confirm(Row& row, const std::string& choices, const ref::Judgement& judgement) {
  row.solver += "+interpreter";
  if (judgement.verdict == ref::Verdict::unsafe) {
    row.note = (judgement.witness ? judgement.witness->sentence : "a run ends differently") +
               (choices.empty() ? "" : " (the solvers' choices: " + choices + ")");
  } else {
    row.verdict = Verdict::unknown;
    row.note = "with one cell a storage the runs differ, in the interpreter they do not";
  }
}

}  // namespace

Row prove_placement(const Program& program, const Placement& placement, const Options& options, const ProveOptions& prove) {
  if (reads_too_early(program, placement)) {
    Row row;
    row.verdict = Verdict::refuted;
    row.solver = "order";
    row.note = "a value is read before it is computed";
    return row;
  }
  z3::context context;
  try {
    const Sides sides(context, program, placement, options);
    const Query query = sides.query("one program");
    Row row = decide(query, Second::cvc5, prove, Workspace(prove.smt2));
    if (row.verdict == Verdict::proved) row.note = fmt::format("all ways to settle {} choices at once", sides.choice_count());
    if (row.verdict == Verdict::refuted) {
      std::optional<z3::model> model;
      ask_z3(query.negated(), prove.seconds, &model);
      confirm(row, model ? sides.describe(*model) : "", ref::judge(program, placement, options));
    }
    return row;
  } catch (const NotModelled& e) {
    Row row;
    row.note = e.what();
    return row;
  }
}

}  // namespace writeback::proofs
