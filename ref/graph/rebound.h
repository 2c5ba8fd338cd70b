// Tensors that change their geometry after they were named: `t_(x)` transposes x itself, under all its names, while the metadata of
// the value x is that of its birth. Who inserts a node that reads x later needs the geometry that x has by then.
#pragma once

#include <utility>
#include <vector>

#include "ref/graph/placement.h"
#include "ref/graph/program.h"

namespace writeback {

class Rebound {
 public:
  explicit Rebound(const Program&);
  /// The metadata that the tensor has at this slot.
  const ValueMeta& meta_at(ValueId, Slot) const;

 private:
  const Program& program_;
  std::vector<ValueId> object_;                    ///< by value: the first name of the same tensor
  std::vector<std::pair<NodeId, ValueId>> since_;  ///< nodes that change a geometry, in order, and the tensor that each changes
};

}  // namespace writeback
