// A lemma while it is being stated: its constants, its assumptions, its claim; and the domain in which the rules speak of one cell.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "impl/rules.h"
#include "proofs/smt.h"

namespace writeback::proofs {

class Goal {
 public:
  Goal(z3::context& context, std::string left_out)
      : left_out_(std::move(left_out)),
        assumptions_(context),
        claim_(context.bool_val(true)),
        content_(context.uninterpreted_sort("Content")) {}

  z3::expr yes() const { return context().bool_val(true); }
  z3::expr no() const { return context().bool_val(false); }
  z3::expr bit(const std::string& name) const { return context().bool_const(name.c_str()); }
  z3::expr integer(const std::string& name) const { return context().int_const(name.c_str()); }
  /// What a cell holds.
  z3::expr content(const std::string& name) const { return context().constant(name.c_str(), content_); }
  z3::expr constant(const std::string& name, const z3::sort& sort) const { return context().constant(name.c_str(), sort); }
  const z3::sort& content_sort() const { return content_; }
  z3::context& context() const { return assumptions_.ctx(); }

  void given(const z3::expr& fact) { assumptions_.push_back(fact); }
  /// A fact that the lemma needs: left out by name.
  void condition(const std::string& name, const z3::expr& fact) {
    if (keeps(name)) given(fact);
  }
  void claim(const z3::expr& claim) { claim_ = claim; }

  /// Notes a condition; true unless it is left out.
  bool keeps(const std::string& name) {
    if (std::find(conditions_.begin(), conditions_.end(), name) == conditions_.end()) conditions_.push_back(name);
    return name != left_out_;
  }

  const std::vector<std::string>& conditions() const { return conditions_; }
  Query query(const std::string& name) const { return {name, assumptions_, claim_}; }

 private:
  std::string left_out_;
  std::vector<std::string> conditions_;
  z3::expr_vector assumptions_;
  z3::expr claim_;
  z3::sort content_;
};

/// The rules at one cell: a set is whether the cell is in it.
struct CellDomain {
  using Bool = z3::expr;
  using Set = z3::expr;
  Goal& goal;
  z3::expr anew;  ///< the two tensors in question lie in different storages as written

  Bool meet(const Set& a, const Set& b) const { return a && b; }
  Bool meet_anew(const Set& a, const Set& b) const { return a && b && anew; }
  Bool either(const Bool& a, const Bool& b) const { return a || b; }
  Bool both(const Bool& a, const Bool& b) const { return a && b; }
  Bool negate(const Bool& a) const { return !a; }
  Bool clause(impl::Clause c, const Bool& holds) const { return goal.keeps(std::string(impl::name_of(c))) ? holds : goal.no(); }
};

using CellSets = impl::Cells<CellDomain>;
using NodeSets = impl::NodeCells<CellDomain>;

}  // namespace writeback::proofs
