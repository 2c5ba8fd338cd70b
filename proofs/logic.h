// Propositional formulas over Z3, folded while they are built: most of a symbolic program's formulas meet a constant soon, and what
// is folded here is never sent to a solver.
#pragma once

#include <z3++.h>

#include <cstdint>
#include <string>
#include <vector>

namespace writeback::proofs {

using Bool = z3::expr;

class Logic {
 public:
  explicit Logic(z3::context& context) : context_(context) {}

  z3::context& context() const { return context_; }
  Bool constant(bool b) const { return context_.bool_val(b); }
  Bool variable(const std::string& name) const { return context_.bool_const(name.c_str()); }
  std::vector<Bool> variables(const std::string& name, std::size_t count) const;

  Bool no(const Bool& a) const;
  Bool both(const Bool& a, const Bool& b) const;
  Bool either(const Bool& a, const Bool& b) const;
  Bool differ(const Bool& a, const Bool& b) const;
  Bool same(const Bool& a, const Bool& b) const { return no(differ(a, b)); }
  Bool choose(const Bool& condition, const Bool& yes, const Bool& otherwise) const;
  Bool implies(const Bool& a, const Bool& b) const { return either(no(a), b); }
  Bool all(const std::vector<Bool>& terms) const;
  Bool any(const std::vector<Bool>& terms) const;
  /// No two of them.
  Bool at_most_one(const std::vector<Bool>& terms) const;
  Bool exactly_one(const std::vector<Bool>& terms) const { return both(any(terms), at_most_one(terms)); }

 private:
  z3::context& context_;
};

}  // namespace writeback::proofs
