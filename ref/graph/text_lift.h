// Unlifted modules read their state as attributes (`a: "f32[4]" = self.a`); a program has it as placeholders.
#pragma once

#include "ref/graph/program.h"
#include "ref/graph/text_names.h"

namespace writeback::text {

/// Turns every `get_attr` of the top graph that names a tensor into a placeholder in front of the others, with an input spec of
/// this kind whose target is the attribute. A get_attr is one of a subgraph where the graph has a subgraph of that name, or where a
/// higher-order op takes it and no annotation says that it is a tensor.
void lift_attributes(Program&, InputKind, Warnings&);

}  // namespace writeback::text
