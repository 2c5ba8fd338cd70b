// Which inputs of a program share a storage, as far as its archive tells. Weights and constants are read only as far as that needs:
// their configuration or pickle, never their bytes.
//
// What the formats lose: a storage that is seen with two element types, or by weights and by constants, is written twice, and
// records without bytes (fake tensors) tell nothing. Such pairs are taken for distinct storages; where one of them is written
// to, a warning says so.
#pragma once

#include <string>

#include "impl/import/archive.h"
#include "ref/graph/program.h"

namespace writeback::impl {

/// Where an archive keeps the tensors of one model.
struct TensorEntries {
  const Archive::Entry* weights = nullptr;  ///< a configuration (JSON) or a torch.save file; nullptr = absent
  const Archive::Entry* constants = nullptr;
};

/// Adds the alias groups that the entries tell of, and warnings for what they cannot tell. Throws InputError where an entry is
/// damaged.
void add_alias_groups(const Archive&, const TensorEntries&, Program&);

}  // namespace writeback::impl
