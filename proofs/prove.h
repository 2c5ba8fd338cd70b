// The theorems of the design's section 5 as rows: what is claimed, whether it is proved, by whom, how long it took.
//
// Nothing counts as proved that a solver did not answer with "unsat", that two solvers answer differently, or whose assumptions
// contradict one another (a vacuous claim). A solver that is not installed is said in the row and makes it `unknown`.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ref/graph/options.h"
#include "ref/graph/placement.h"
#include "ref/graph/program.h"

namespace writeback::proofs {

enum class Verdict : std::uint8_t { proved, refuted, unknown };
std::string_view name_of(Verdict);

/// z3: Z3 alone. cvc5: the second solver alone (cvc5 for lemmas, CaDiCaL for propositional claims). both: both, and they must
/// agree.
enum class Solver : std::uint8_t { z3, cvc5, both };

struct Row {
  std::string claim;
  Verdict verdict = Verdict::unknown;
  std::string solver;    ///< "z3", "z3+cvc5", "z3+cadical+drat", ...
  double seconds = 0;    ///< of all solvers together
  bool vacuous = false;  ///< the assumptions alone are unsatisfiable: never a proof
  std::string note;      ///< why unknown, where the counterexample is
};

struct ProveOptions {
  int bound = 3;  ///< the bounded theorem is proved for all programs of 0 to `bound` nodes
  Solver solver = Solver::both;
  /// Each "unsat" of CaDiCaL counts only with a DRAT proof that checks (drat.h); the row's solver then names "drat" too.
  bool check_proofs = false;
  std::string smt2;      ///< folder for the queries as SMT-LIB and DIMACS, and DRAT proofs; empty = keep none
  double seconds = 600;  ///< time-out of one query and solver
  /// Hears of each step of the bounded theorem when it is decided, and of how many there are.
  std::function<void(const Row& step, std::size_t steps)> progress;
};

/// The unbounded lemmas (lemmas.h), a row each.
std::vector<Row> prove_lemmas(const ProveOptions& = {});

/// The bounded theorem: for all programs up to `bound` nodes at once, graph, effects, choices and slots symbolic.
Row prove_bounded(const ProveOptions& = {});

}  // namespace writeback::proofs
