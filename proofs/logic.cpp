#include "proofs/logic.h"

#include <fmt/format.h>

namespace writeback::proofs {

std::vector<Bool> Logic::variables(const std::string& name, std::size_t count) const {
  std::vector<Bool> result;
  for (std::size_t i = 0; i < count; ++i) result.push_back(variable(fmt::format("{}.{}", name, i)));
  return result;
}

Bool Logic::no(const Bool& a) const {
  if (a.is_true()) return constant(false);
  if (a.is_false()) return constant(true);
  return a.is_not() ? a.arg(0) : !a;
}

Bool Logic::both(const Bool& a, const Bool& b) const {
  if (a.is_false() || b.is_true() || z3::eq(a, b)) return a;
  if (b.is_false() || a.is_true()) return b;
  return a && b;
}

Bool Logic::either(const Bool& a, const Bool& b) const {
  if (a.is_true() || b.is_false() || z3::eq(a, b)) return a;
  if (b.is_true() || a.is_false()) return b;
  return a || b;
}

Bool Logic::differ(const Bool& a, const Bool& b) const {
  if (z3::eq(a, b)) return constant(false);
  if (a.is_false()) return b;
  if (b.is_false()) return a;
  if (a.is_true()) return no(b);
  if (b.is_true()) return no(a);
  return a != b;
}

Bool Logic::choose(const Bool& condition, const Bool& yes, const Bool& otherwise) const {
  if (condition.is_true() || z3::eq(yes, otherwise)) return yes;
  if (condition.is_false()) return otherwise;
  if (yes.is_true()) return either(condition, otherwise);
  if (yes.is_false()) return both(no(condition), otherwise);
  if (otherwise.is_true()) return either(no(condition), yes);
  if (otherwise.is_false()) return both(condition, yes);
  return z3::ite(condition, yes, otherwise);
}

Bool Logic::all(const std::vector<Bool>& terms) const {
  z3::expr_vector kept(context_);
  for (const Bool& term : terms) {
    if (term.is_false()) return term;
    if (!term.is_true()) kept.push_back(term);
  }
  return kept.empty() ? constant(true) : kept.size() == 1 ? kept[0] : z3::mk_and(kept);
}

Bool Logic::any(const std::vector<Bool>& terms) const {
  z3::expr_vector kept(context_);
  for (const Bool& term : terms) {
    if (term.is_true()) return term;
    if (!term.is_false()) kept.push_back(term);
  }
  return kept.empty() ? constant(false) : kept.size() == 1 ? kept[0] : z3::mk_or(kept);
}

Bool Logic::at_most_one(const std::vector<Bool>& terms) const {
  std::vector<Bool> clauses;
  for (std::size_t i = 0; i < terms.size(); ++i)
    for (std::size_t j = 0; j < i; ++j) clauses.push_back(either(no(terms[i]), no(terms[j])));
  return all(clauses);
}

}  // namespace writeback::proofs
