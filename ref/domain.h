// Domains of cell values that only look at names: terms, and none at all (for runs that ask which cells are touched). The integers
// are in integers.h. What a domain must give is written at the head of interpreter.h.
#pragma once

#include <string>
#include <vector>

#include "ref/interpreter.h"
#include "ref/terms.h"

namespace writeback::ref {

/// Every op is an uninterpreted function of all cells that it reads, in operand order.
class TermDomain {
 public:
  using Cell = Term;

  TermDomain(Terms& terms, Symbols& symbols, const Regions& regions)
      : terms_(terms),
        symbols_(symbols),
        regions_(regions),
        list_(symbols.intern("")),
        unspecified_(symbols.intern("unspecified")) {}

  Cell initial(Name storage, std::uint32_t cell) { return terms_.make(storage, {}, 0, cell); }
  Cell unspecified(Name node, std::uint32_t cell) {
    const Term of = terms_.make(node, {});
    return terms_.make(unspecified_, {&of, 1}, 0, cell);
  }
  Cell cast(Cell c, DType from, DType to) { return terms_.make(cast_name(from, to), {&c, 1}); }
  void evaluate(const Call<Cell>& call) {
    const Term all = terms_.make(list_, call.inputs);
    for (const Block& b : call.blocks) {
      for (std::uint32_t i = 0; i < b.count; ++i) call.outputs[b.first + i] = terms_.make(call.step.symbol, {&all, 1}, b.number, i);
    }
  }
  Cell part(RegionId region, Cell whole) { return terms_.make(region_name(region), {&whole, 1}); }
  Cell update(RegionId region, Cell whole, Cell value) {
    const Term both[] = {whole, value};
    return terms_.make(region_name(region), both);
  }

 private:
  Name cast_name(DType from, DType to) {
    return symbols_.intern(std::string(short_name(to)) + " of " + std::string(short_name(from)));
  }
  Name region_name(RegionId region) {
    const auto i = static_cast<std::uint32_t>(region);
    if (i >= region_names_.size()) region_names_.resize(i + 1, Name{0});
    if (region_names_[i] == Name{0}) region_names_[i] = symbols_.intern("part {" + regions_.text(region) + "}");
    return region_names_[i];
  }

  Terms& terms_;
  Symbols& symbols_;
  const Regions& regions_;
  Name list_, unspecified_;
  std::vector<Name> region_names_;
};

/// No values: the run goes through the motions.
struct NoValues {
  struct Cell {
    bool operator==(const Cell&) const = default;
  };
  Cell initial(Name, std::uint32_t) { return {}; }
  Cell unspecified(Name, std::uint32_t) { return {}; }
  Cell cast(Cell, DType, DType) { return {}; }
  void evaluate(const Call<Cell>&) {}
  Cell part(RegionId, Cell) { return {}; }
  Cell update(RegionId, Cell, Cell) { return {}; }
};

}  // namespace writeback::ref
