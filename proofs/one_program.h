// One program and one placement of its copies, for all choices at once: its meaning and its placed, lowered run side by side in
// SMT (symbolic_run.h), each "may" a variable.
//
// Equal there is a proof for all choices, all contents and all kernels. Different there is a counterexample only if the reference's
// interpreter confirms it, because a storage is one cell here.
#pragma once

#include "proofs/prove.h"
#include "ref/graph/options.h"
#include "ref/graph/placement.h"
#include "ref/graph/program.h"

namespace writeback::proofs {

/// proved: every run ends as the meaning says. refuted: a run does not, and the interpreter says so too; the note has both.
/// unknown: neither, and why.
Row prove_placement(const Program&, const Placement&, const Options&, const ProveOptions& = {});

}  // namespace writeback::proofs
