// Training IR: what torch.export.export gives since torch 2.6, before run_decompositions(). In-place ops stay in the graph and
// write buffers, parameters and user inputs without any mutation output. Here those writes become outputs: each mutated placeholder
// is listed as a write-back in place.
//
// Assumes that an op writes what its schema says: an op without a schema is not taken to write anything here (its effect is
// opaque, which the placement knows by itself).
#pragma once

#include <vector>

#include "ref/graph/program.h"

namespace writeback::impl {

/// The placeholders that nodes write, through views too, in order; each with the value that holds its final state: the last
/// in-place result on the placeholder's own region, or the placeholder itself where only parts or views were written. The sets of
/// views are followed one op at a time, so the time is linear in the sum of their sizes. Throws InputError where an op is refused
/// (set_, resize_) or its arguments do not fit its schema.
std::vector<WriteBack> in_place_writes(const Program&);

/// What a program writes: its write-backs, or in_place_writes where it has none (nothing where those cannot be told).
std::vector<WriteBack> writes_of(const Program&);

/// Puts a mutation output in front of the others for each placeholder of in_place_writes that is a buffer, parameter or user
/// input. Does nothing where the program has mutation outputs already or no signature.
void list_in_place_writes(Program&);

}  // namespace writeback::impl
