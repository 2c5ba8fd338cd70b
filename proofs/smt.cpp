#include "proofs/smt.h"

#include <fmt/format.h>

#include <stdlib.h>

#include <chrono>
#include <fstream>
#include <future>
#include <sstream>
#include <stdexcept>

#include "proofs/drat.h"
#include "proofs/process.h"

namespace writeback::proofs {
namespace {

unsigned milliseconds(double seconds) { return static_cast<unsigned>(seconds * 1000); }

bool is_propositional(const z3::expr_vector& formulas) {
  z3::goal goal(formulas.ctx());
  for (const z3::expr& f : formulas) goal.add(f);
  return z3::probe(formulas.ctx(), "is-propositional")(goal) == 1;
}

std::string text_of(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

/// What a process that ended without an answer says of itself.
std::string trouble(const std::string& program, const Outcome& outcome) {
  switch (outcome.kind) {
    case Outcome::Kind::missing:
      return program + " is not installed";
    case Outcome::Kind::timed_out:
      return program + ": time-out";
    case Outcome::Kind::killed:
      return program + " was killed";
    case Outcome::Kind::exited:
      return program + " gave no answer: " + outcome.output.substr(0, 200);
  }
  return {};
}

Sat sat_from_word(const std::string& output) {
  if (output.starts_with("unsat")) return Sat::unsat;
  return output.starts_with("sat") ? Sat::sat : Sat::unknown;
}

/// The exit statuses of the SAT competitions.
Sat sat_from_status(int status) { return status == 10 ? Sat::sat : status == 20 ? Sat::unsat : Sat::unknown; }

/// The tally of one row: every solver must give the expected answer to every question.
class Tally {
 public:
  explicit Tally(std::string claim) { row_.claim = std::move(claim); }

  void count(const std::string& solver, const Answer& answer, Sat expected) {
    if (row_.solver.find(solver) == std::string::npos) row_.solver += (row_.solver.empty() ? "" : "+") + solver;
    row_.seconds += answer.seconds;
    if (answer.sat == Sat::unknown) note(answer.note);
    if (expected == Sat::sat) {
      row_.vacuous |= answer.sat == Sat::unsat;
      all_proved_ &= answer.sat == Sat::sat;
      all_refuted_ &= answer.sat == Sat::sat;
    } else {
      all_proved_ &= answer.sat == Sat::unsat;
      all_refuted_ &= answer.sat == Sat::sat;
    }
  }

  Row row() {
    if (row_.vacuous) note("the assumptions contradict one another");
    row_.verdict = all_proved_ ? Verdict::proved : all_refuted_ ? Verdict::refuted : Verdict::unknown;
    if (row_.verdict == Verdict::unknown && row_.note.empty()) note("the solvers disagree");
    return row_;
  }

 private:
  void note(const std::string& text) { row_.note += (row_.note.empty() ? "" : "; ") + text; }

  Row row_;
  bool all_proved_ = true, all_refuted_ = true;
};

}  // namespace

z3::expr_vector Query::negated() const {
  z3::expr_vector formulas(assumptions.ctx());
  for (const z3::expr& a : assumptions) formulas.push_back(a);
  formulas.push_back(!claim);
  return formulas;
}

Answer ask_z3(const z3::expr_vector& formulas, double seconds, std::optional<z3::model>* model) {
  const auto start = std::chrono::steady_clock::now();
  // Z3's default solver gets lost in large propositional formulas; its SAT solver does not.
  z3::solver solver = is_propositional(formulas) ? z3::solver(formulas.ctx(), "QF_FD") : z3::solver(formulas.ctx());
  solver.set("timeout", milliseconds(seconds));
  for (const z3::expr& f : formulas) solver.add(f);
  Answer answer;
  switch (solver.check()) {
    case z3::sat:
      answer.sat = Sat::sat;
      if (model != nullptr) *model = solver.get_model();
      break;
    case z3::unsat:
      answer.sat = Sat::unsat;
      break;
    case z3::unknown:
      answer.note = "z3: " + solver.reason_unknown();
      break;
  }
  answer.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return answer;
}

Answer ask_cvc5(const std::filesystem::path& smt2, double seconds) {
  const Outcome outcome = run({"cvc5", "--lang=smt2", smt2.string()}, seconds);
  Answer answer{sat_from_word(outcome.output), outcome.seconds, {}};
  if (answer.sat == Sat::unknown) answer.note = trouble("cvc5", outcome);
  return answer;
}

Answer ask_cadical(const std::filesystem::path& dimacs, double seconds, const std::filesystem::path& proof) {
  std::vector<std::string> command{"cadical", "-q", "-n", "--no-binary", dimacs.string()};
  if (!proof.empty()) command.push_back(proof.string());
  const Outcome outcome = run(command, seconds);
  Answer answer{outcome.kind == Outcome::Kind::exited ? sat_from_status(outcome.status) : Sat::unknown, outcome.seconds, {}};
  if (answer.sat == Sat::unknown) answer.note = trouble("cadical", outcome);
  return answer;
}

Answer ask_checker(const std::filesystem::path& dimacs, const std::filesystem::path& proof) {
  const auto start = std::chrono::steady_clock::now();
  const DratAnswer checked = check_drat(text_of(dimacs), text_of(proof));
  Answer answer;
  if (checked.refutes) answer.sat = Sat::unsat;
  if (!checked.refutes) answer.note = "cadical's proof: " + checked.flaw;
  answer.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return answer;
}

std::string smt_lib(const z3::expr_vector& formulas) {
  z3::solver solver(formulas.ctx());
  for (const z3::expr& f : formulas) solver.add(f);
  return "(set-logic ALL)\n" + solver.to_smt2();
}

std::string dimacs(const z3::expr_vector& formulas) {
  z3::goal goal(formulas.ctx());
  for (const z3::expr& f : formulas) goal.add(f);
  const z3::tactic to_cnf = z3::tactic(formulas.ctx(), "simplify") & z3::tactic(formulas.ctx(), "tseitin-cnf");
  const z3::goal clauses = to_cnf(goal)[0];
  // Z3 prints a contradiction as a clause of one fresh variable; the empty clause says what is meant.
  return clauses.is_decided_unsat() ? "p cnf 0 1\n0\n" : clauses.dimacs();
}

void write_file(const std::filesystem::path& path, const std::string& text) {
  std::ofstream file(path, std::ios::binary);
  file << text;
  if (!file.flush()) throw std::runtime_error("cannot write " + path.string());
}

namespace {

std::filesystem::path make_folder(const std::string& wanted) {
  if (!wanted.empty()) {
    std::filesystem::create_directories(wanted);
    return wanted;
  }
  std::string name = std::filesystem::temp_directory_path() / "writeback-XXXXXX";
  if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("cannot make a folder like " + name);
  return name;
}

}  // namespace

Workspace::Workspace(const std::string& wanted)
    : folder_(make_folder(wanted)), kept_(!wanted.empty()), interrupted_([this] {
        end_all();
        remove();
      }) {}

Workspace::~Workspace() { remove(); }

void Workspace::remove() const {
  if (kept_) return;
  std::error_code failed;
  do std::filesystem::remove_all(folder_, failed);
  while (failed == std::errc::directory_not_empty);  // interrupted, while a last file was written
}

std::filesystem::path Workspace::file(const std::string& claim, const std::string& extension) const {
  std::string name;
  for (const char c : claim)
    if (std::isalnum(static_cast<unsigned char>(c)) != 0)
      name += c;
    else if (!name.empty() && name.back() != '-')
      name += '-';
  while (!name.empty() && name.back() == '-') name.pop_back();
  return folder_ / (name.substr(0, 100) + extension);
}

Row decide(const Query& query, Second second, const ProveOptions& options, const Workspace& workspace) {
  Tally tally(query.name);
  const bool propositional = second == Second::cadical;
  const std::string extension = propositional ? ".cnf" : ".smt2";
  const auto ask = [&](const z3::expr_vector& formulas, const std::string& name, Sat expected) {
    const std::filesystem::path file = workspace.file(name, extension);
    if (workspace.kept() || options.solver != Solver::z3) write_file(file, propositional ? dimacs(formulas) : smt_lib(formulas));
    const bool proof_wanted = expected == Sat::unsat && (workspace.kept() || options.check_proofs);
    const std::filesystem::path proof = proof_wanted ? workspace.file(name, ".drat") : std::filesystem::path();
    const auto outside = [&] {
      return propositional ? ask_cadical(file, options.seconds, proof) : ask_cvc5(file, options.seconds);
    };
    std::future<Answer> other;  // a process of its own, beside Z3
    if (options.solver != Solver::z3) other = std::async(std::launch::async, outside);
    if (options.solver != Solver::cvc5) tally.count("z3", ask_z3(formulas, options.seconds), expected);
    if (!other.valid()) return;
    const Answer answer = other.get();
    tally.count(propositional ? "cadical" : "cvc5", answer, expected);
    if (propositional && options.check_proofs && expected == Sat::unsat && answer.sat == Sat::unsat)
      tally.count("drat", ask_checker(file, proof), expected);
    if (!workspace.kept() && !proof.empty()) std::filesystem::remove(proof);  // proofs are long
  };
  if (query.alone) ask(query.assumptions, query.name + " assumptions", Sat::sat);
  ask(query.negated(), query.name, Sat::unsat);
  return tally.row();
}

}  // namespace writeback::proofs
