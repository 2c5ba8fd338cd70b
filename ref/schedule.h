// A placement as one list: nodes, copies and temporaries in the order in which they run.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "ref/graph/placement.h"
#include "ref/graph/program.h"

namespace writeback::ref {

struct Item {
  enum class Kind : std::uint8_t { node, temporary, copy } kind = Kind::node;
  std::uint32_t index = 0;  ///< of the node, of the temporary, of the write-back
};

class Schedule {
 public:
  Schedule(const Program&, const Placement&);

  const Placement& placement() const { return placement_; }
  std::span<const Item> items() const { return items_; }
  /// Nodes whose result is itself an output of the placed program.
  std::span<const std::uint8_t> returned() const { return returned_; }

 private:
  Placement placement_;
  std::vector<Item> items_;
  std::vector<std::uint8_t> returned_;
};

}  // namespace writeback::ref
