// Runs a program and tells every value: what the command `run` shows, and what is compared with PyTorch.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "ref/graph/options.h"
#include "ref/graph/placement.h"
#include "ref/graph/program.h"

namespace writeback::ref {

/// Elements in row-major order; a number, or a term where no kernel knows the number.
using Values = std::vector<std::string>;

struct RunOptions {
  /// Initial contents by placeholder, row-major. Placeholders that are left out are drawn by `seed`.
  std::map<std::string, std::vector<std::int64_t>> inputs;
  std::uint64_t seed = 0;
  /// May-alias results are aliases where the view exists, as in PyTorch; else they are copies.
  bool alias = true;
  /// Every view_copy that may become an alias is one, every shared allocation is shared. Only under Lowering::executorch.
  bool lowered = false;
};

struct TraceEntry {
  std::string name;    ///< of the node, of the temporary, or "copy_" for a write-back
  std::string op;      ///< "aten::add.Tensor", "clone", "copy_"
  std::string target;  ///< write-backs: the placeholder that is written
  std::vector<Values> results;
};

struct RunResult {
  std::map<std::string, Values> inputs;  ///< by placeholder, before the run
  std::vector<Values> outputs;           ///< the user outputs in order; a scalar is one element
  std::vector<std::string> output_names;
  std::map<std::string, Values> state;  ///< every tensor placeholder after the run
  std::vector<TraceEntry> trace;
  bool trapped = false;  ///< a copy's value overlapped its target without being it
};

/// The placed run; without a placement the meaning itself (values and outputs read after the last node, then the targets written;
/// under sequential semantics one copy after the other, outputs last). Throws InputError where sizes are not known or too large,
/// or where given contents do not fit.
RunResult run(const Program&, const Placement*, const Options&, const RunOptions&);

}  // namespace writeback::ref
