// A thin layer over Z3's C++ API and the outside solvers: a query, its two questions (do the assumptions have a model? does the
// claim follow?), and its text for bare solvers.
//
// Outside solvers (cvc5 on SMT-LIB, CaDiCaL on DIMACS) run as processes on the files that `--smt2` leaves behind, so what they
// answer is what anybody gets who runs them by hand. It errs to `unknown`: a time-out, a crash, a solver that is missing, a
// disagreement, and a claim whose assumptions contradict one another are no proofs.
#pragma once

#include <z3++.h>

#include <filesystem>
#include <optional>
#include <string>

#include "proofs/interrupt.h"
#include "proofs/prove.h"

namespace writeback::proofs {

enum class Sat : std::uint8_t { sat, unsat, unknown };

struct Answer {
  Sat sat = Sat::unknown;
  double seconds = 0;
  std::string note;  ///< why unknown
};

/// `claim` follows from `assumptions`.
struct Query {
  std::string name;  ///< as in the row
  z3::expr_vector assumptions;
  z3::expr claim;
  bool alone = true;  ///< false: that the assumptions have a model is asked elsewhere, of several queries at once

  /// The assumptions and the negated claim: unsatisfiable if the claim is proved.
  z3::expr_vector negated() const;
};

/// Asks Z3. `model`, if given, is set where the answer is sat.
Answer ask_z3(const z3::expr_vector& formulas, double seconds, std::optional<z3::model>* model = nullptr);
Answer ask_cvc5(const std::filesystem::path& smt2, double seconds);
/// `proof`, if not empty, gets the DRAT proof where the answer is unsat.
Answer ask_cadical(const std::filesystem::path& dimacs, double seconds, const std::filesystem::path& proof = {});
/// unsat where the proof checks (drat.h), else unknown.
Answer ask_checker(const std::filesystem::path& dimacs, const std::filesystem::path& proof);

std::string smt_lib(const z3::expr_vector& formulas);
/// Propositional formulas only. Variable names stand in comment lines ("c NUMBER NAME").
std::string dimacs(const z3::expr_vector& formulas);

/// A folder for the files of outside solvers: the one that the user wants, or one that is removed again, even where the program is
/// interrupted. (Of folders that live side by side only one is then removed.)
class Workspace {
 public:
  explicit Workspace(const std::string& wanted);
  ~Workspace();
  Workspace(const Workspace&) = delete;
  Workspace& operator=(const Workspace&) = delete;
  bool kept() const { return kept_; }
  /// A file for a claim: letters, digits and dashes of its name, plus `extension`.
  std::filesystem::path file(const std::string& claim, const std::string& extension) const;

 private:
  void remove() const;

  std::filesystem::path folder_;
  bool kept_;
  WhenInterrupted interrupted_;
};

/// Writes a file, whole. Throws std::runtime_error where that fails.
void write_file(const std::filesystem::path&, const std::string& text);

/// Who gives the second opinion: cvc5 on SMT-LIB, or CaDiCaL on DIMACS (propositional queries only), which leaves a proof.
enum class Second : std::uint8_t { cvc5, cadical };

/// Both questions to every solver that the options ask for, the outside one beside Z3; the row says what came of it.
Row decide(const Query&, Second, const ProveOptions&, const Workspace&);

}  // namespace writeback::proofs
