// A model of the bounded encoding as a program in our text with a placement, so that the reference can judge it.
//
// Storages of two cells become f32[2, 2] whose off-diagonal elements are the two cells: a flipped view is `t`, one cell is a
// `diagonal`. The ops are of a namespace `my` that the program trusts, each with a number of its own, and of one, `your`, that it
// does not trust. Choices need no decoding: the reference tries them all.
#pragma once

#include <string>

#include "proofs/encoding.h"
#include "ref/graph/placement.h"
#include "ref/graph/program.h"

namespace writeback::proofs {

struct Counterexample {
  Program program;
  Placement placement;
};

Counterexample decode(const Encoding&, const z3::model&);

}  // namespace writeback::proofs
