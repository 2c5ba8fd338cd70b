// Which values are cloned: the fewest that break every cycle and keep every deadline; of as many, those that give the smallest
// vector of slots in output order. Exact where at most 12 values are in question in one connected part of the graph, or in one
// cycle of a larger part; beyond that greedy, and `greedy` says so.
#pragma once

#include <cstdint>
#include <vector>

#include "impl/planted.h"
#include "impl/schedule.h"

namespace writeback::impl {
inline namespace WRITEBACK_BUILD {

struct Temporaries {
  std::vector<bool> cloned;  ///< per reader
  bool greedy = false;
};

/// `forced` readers are cloned in any case. Readers that are late even so stay late.
Temporaries fewest_temporaries(const CopyGraph&, std::vector<bool> forced);

}  // namespace WRITEBACK_BUILD
}  // namespace writeback::impl
