// A checker of DRAT proofs: what CaDiCaL calls unsatisfiable need not be believed. Text form (`cadical --no-binary`).
//
// Every clause that the proof adds must follow from the clauses at hand by unit propagation (RUP), and one of them must be the
// empty clause. The wider RAT, which adds clauses that need not follow, is refused: CaDiCaL 1.5.3 to 2.1.3 uses none here. So
// whatever is at hand follows from the CNF, and a deletion cannot make a false step right: it is honoured for speed alone. A
// deletion of a clause that is not at hand is passed over, and a literal that has been propagated stays true when the clause that
// made it so is deleted. It may refuse a good proof (RAT, binary form), never accept a bad one.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace writeback::proofs {

struct DratAnswer {
  bool refutes = false;   ///< the proof shows that the CNF has no model
  std::string flaw;       ///< why not: what is wrong, and in which line of which text
  std::size_t added = 0;  ///< clauses of the proof that were checked
};

/// `cnf` is DIMACS, `proof` DRAT.
DratAnswer check_drat(std::string_view cnf, std::string_view proof);

}  // namespace writeback::proofs
