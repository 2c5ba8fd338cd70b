// The judge: one program made ready, then as many placements of it as you like. The meaning's run is shared by all lowering
// choices. Use one for a whole campaign with one Arena; the functions of meaning.h are this class used once.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "ref/arena.h"
#include "ref/conflicts.h"
#include "ref/meaning.h"

namespace writeback::ref {

class Judge {
 public:
  /// Keeps references to the program and the arena; clears the arena. Throws InputError as Effects does.
  Judge(const Program&, const Options&, const Limits&, Arena&);
  ~Judge();

  /// `first`: choices to try before all others, as a witness names them; what it does not name is 0.
  Judgement judge(const Placement&, const std::map<std::string, std::string>& first = {});
  /// The conflicts of all choices within the limits, seen by running.
  const Conflicts& conflicts();
  Placement earliest_by_trace();
  Placement earliest_by_search();
  std::vector<Clobbered> clobbered();

  class Impl;

 private:
  std::unique_ptr<Impl> impl_;
};

}  // namespace writeback::ref
