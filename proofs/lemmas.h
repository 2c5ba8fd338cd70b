// The unbounded theorem in lemmas: for all programs of any size, what `accept` accepts has the meaning. THEOREM.md beside this file
// has the induction that joins them, in English.
//
// A lemma speaks of one step (one event, one cell) over memory without bound and regions of any shape. "For all cells" in an
// assumption is used at named cells only, and "some cell" is a fresh constant, so no query has a quantifier and every solver ends,
// also when the answer is no. Where a lemma stands on a rule, it calls the predicate of impl/rules.h: Bool is a formula, Set is
// membership at the named cell, meet is "and".
//
// A lemma has conditions: clauses of the rules, or facts of its own. With one left out the query has a model: each is needed.
#pragma once

#include <string>
#include <vector>

#include "proofs/prove.h"
#include "proofs/smt.h"

namespace writeback::proofs {

class Goal;

struct Lemma {
  std::string name;      ///< as in THEOREM.md
  std::string sentence;  ///< what it says
  void (*state)(Goal&);
};

const std::vector<Lemma>& lemmas();

/// The names of a lemma's conditions.
std::vector<std::string> conditions_of(const Lemma&);

/// The lemma as a query; without the condition of that name if one is given.
Query query_of(z3::context&, const Lemma&, const std::string& left_out = {});

}  // namespace writeback::proofs
