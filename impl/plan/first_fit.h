// First fit: buffers are taken in an order, each into the lowest gap among those already placed that live with it. The interval
// structure is a list of neighbours in time per buffer, made once and used by every order.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "impl/plan/allocation.h"

namespace writeback::impl::plan {

class FirstFit {
 public:
  explicit FirstFit(std::span<const Buffer>);

  /// `order` is a permutation of the buffers. Gives up, with total = limit, as soon as the arena would reach `limit`.
  Allocation run(std::span<const std::uint32_t> order, std::int64_t limit = INT64_MAX);
  std::span<const std::uint32_t> neighbours(std::uint32_t buffer) const;

 private:
  std::int64_t lowest_gap(std::uint32_t buffer, const std::vector<std::int64_t>& offsets);

  std::span<const Buffer> buffers_;
  std::vector<std::uint32_t> first_, neighbours_;                // neighbours of b: [first_[b], first_[b + 1])
  std::vector<std::pair<std::int64_t, std::int64_t>> occupied_;  // scratch: [offset, end) of placed neighbours
};

}  // namespace writeback::impl::plan
