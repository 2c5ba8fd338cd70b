// What a subgraph does to its placeholders, for the higher-order op that calls it.
#pragma once

#include <cstdint>
#include <vector>

#include "ref/graph/effects.h"
#include "ref/graph/program.h"

namespace writeback {

struct SubgraphEffect {
  std::vector<bool> reads, writes;  ///< by placeholder: by a live node, through whatever view
  /// By output: the placeholders that it may be, or be a view of.
  std::vector<std::vector<std::uint32_t>> output_roots;
  std::vector<bool> output_is_tensor;
  bool random = false;
  bool observed = false;
};

SubgraphEffect subgraph_effect(const Graph&, const Effects&);

}  // namespace writeback
