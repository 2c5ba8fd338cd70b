// The domain of concrete runs: a cell holds a number where kernels know it, and a term where they do not, so that a run of any
// program prints as far as it can be computed.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "ref/interpreter.h"
#include "ref/kernels.h"
#include "ref/terms.h"

namespace writeback::ref {

struct Number {
  std::int64_t value = 0;
  bool known = true;  ///< else `term` is what it is
  Term term{};
  bool operator==(const Number&) const = default;
};

class ConcreteDomain {
 public:
  using Cell = Number;

  ConcreteDomain(Terms& terms, Symbols& symbols, Regions& regions) : terms_(terms), symbols_(symbols), regions_(regions) {}

  /// Gives a storage its contents; the rest is drawn by `seed`.
  void set_contents(Name storage, std::vector<std::int64_t> cells) { contents_[storage] = std::move(cells); }

  Cell initial(Name storage, std::uint32_t cell) const;
  Cell unspecified(Name node, std::uint32_t cell);
  Cell cast(Cell, DType from, DType to);
  void evaluate(const Call<Cell>&);
  Cell part(RegionId, Cell whole) { return whole; }  // one-cell mode has no numbers
  Cell update(RegionId, Cell, Cell value) { return value; }

  std::string text(Cell) const;

 private:
  void run_kernels(const Call<Cell>&, std::vector<bool>& done);
  Term term_of(Cell);

  Terms& terms_;
  Symbols& symbols_;
  Regions& regions_;
  std::map<Name, std::vector<std::int64_t>> contents_;
};

}  // namespace writeback::ref
