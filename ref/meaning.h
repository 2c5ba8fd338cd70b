// The reference's answers: does a placement have the meaning, and which placement is earliest, by definition and not by
// cleverness. Small, slow and obviously right; never used in production.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "ref/graph/options.h"
#include "ref/graph/placement.h"
#include "ref/graph/program.h"

namespace writeback::ref {

enum class Verdict : std::uint8_t { safe, unsafe, undecided };
/// How a verdict is known. terms: uninterpreted terms, every choice, one run each. choices: terms, a sample of the choices.
/// one_cell: one cell a storage (large or symbolic programs).
enum class Method : std::uint8_t { terms, choices, smt, one_cell };

struct Hazard {
  std::string target, value;  ///< names of the write-back (empty for outputs and inputs)
  std::string rule;           ///< names of impl/place.h's rules, found here from the difference itself
  std::string node;           ///< the node, output or input that sees the difference
};

struct Witness {
  std::map<std::string, std::string> choices;  ///< node name -> "alias", "copy", "fresh", "lowered", ...
  std::string where;                           ///< the first thing that differs: "target b_a", "output z", "node y"
  std::string expected, got;                   ///< first differing cell, as terms
  std::string sentence;
};

struct Judgement {
  Verdict verdict = Verdict::undecided;
  Method method = Method::terms;
  std::vector<Hazard> hazards;
  std::optional<Witness> witness;
  std::string note;  ///< sizes sampled, choices not tried, why undecided
};

struct Limits {
  std::uint64_t cells = 4096;    ///< more cells than this in a program: one-cell mode
  std::uint64_t choices = 4096;  ///< more choice vectors than this: a sample, and at most "undecided" unless one-cell decides
};

/// Write-back `copy` has its value overwritten by write-back `by`, under some choice, when all stand at the end in output order.
struct Clobbered {
  std::uint32_t copy = 0, by = 0;
  bool operator==(const Clobbered&) const = default;
};

/// Does `after` (explicit copies, or any other rewriting with the same specs) have the meaning of `before`?
Judgement equivalent(const Program& before, const Program& after, const Options&, const Limits& = {});

/// Does the program with this placement have its meaning?
Judgement judge(const Program&, const Placement&, const Options&, const Limits& = {});

/// The least placement that respects the conflicts seen when the interpreter runs under every choice.
Placement earliest_by_trace(const Program&, const Options&, const Limits& = {});

/// What the usual placement at the end would overwrite before it is read; by copy, then by `by`.
std::vector<Clobbered> clobbered(const Program&, const Options&, const Limits& = {});

/// The least placement by trying slots and asking for safety. Exponential in the number of copies only where they interact.
Placement earliest_by_search(const Program&, const Options&, const Limits& = {});

}  // namespace writeback::ref
