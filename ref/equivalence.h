// Compares two programs as wholes, whatever was done to turn one into the other: `after` runs as its nodes say, with nothing
// written back behind it, and must end as the meaning of `before` says.
#pragma once

#include "ref/arena.h"
#include "ref/meaning.h"

namespace writeback::ref {

/// Inputs are matched by name and place, user outputs by place, mutations by their targets; choices by node name. Throws InputError
/// where inputs or outputs do not match.
Judgement equivalent_as_whole(const Program& before, const Program& after, const Options&, const Limits&, Arena&);

}  // namespace writeback::ref
