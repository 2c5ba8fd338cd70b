// The smallest program that fails in the same way. Reductions are tried until none on the list is left that keeps the failure's
// signature and makes the program smaller; then the result is 1-minimal by that list, and running it again changes nothing. Other
// failures met on the way are put aside, never followed.
//
// Smaller is an order, not a taste: fewer nodes, then fewer outputs, placeholders, annotations, cells, then simpler ops, earlier
// operands, canonical order. Each step goes down in it, so the search ends.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "fuzz/oracle.h"

namespace writeback::fuzz {

struct Minimized {
  Program program;
  Judged judged;                      ///< of the smallest program
  bool one_minimal = false;           ///< false where the time was up
  std::uint64_t tried = 0, kept = 0;  ///< candidates judged, and steps taken
  std::map<std::string, std::uint64_t> kept_by_reduction;
  std::map<Signature, Program> set_aside;  ///< other failures, the first program of each
};

/// Size of a program, most important part first.
std::vector<std::uint64_t> measure(const Program&);

/// `program` fails with `signature` under `checks`. The program's own `# options:` apply over `base`.
Minimized minimize(Implementation&, const Program&, const Options& base, const Signature&, const Checks&, double seconds = 30);

/// The names of all reductions, in the order in which they are tried.
std::vector<std::string> reductions();

}  // namespace writeback::fuzz
