// What many programs' runs can share: symbols, terms and regions. One arena serves one thread; clear it between programs whose runs
// are not compared.
#pragma once

#include "ref/memory.h"
#include "ref/terms.h"

namespace writeback::ref {

struct Arena {
  Symbols symbols;
  Terms terms;
  Regions regions{false}, one_cell_regions{true};

  /// Forgets the terms; the rest only when it has grown large.
  void clear() {
    terms.clear();
    if (symbols.size() > kMany || regions.size() > kMany || one_cell_regions.size() > kMany) *this = Arena();
  }

 private:
  static constexpr std::size_t kMany = 1 << 16;
};

}  // namespace writeback::ref
