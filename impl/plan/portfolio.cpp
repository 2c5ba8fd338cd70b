// First fit by several orders, the best of them: network-like programs need no more, and tighten() begins there.
#include <algorithm>
#include <numeric>

#include "impl/plan/allocation.h"
#include "impl/plan/first_fit.h"

namespace writeback::impl::plan {
namespace {

using Order = std::vector<std::uint32_t>;

template <typename Key>
Order order_by(std::span<const Buffer> buffers, Key key) {
  Order order(buffers.size());
  std::iota(order.begin(), order.end(), 0u);
  std::stable_sort(order.begin(), order.end(), [&](auto a, auto b) { return key(buffers[a]) > key(buffers[b]); });
  return order;
}

/// For each buffer the most bytes that live at one of its steps: crowded buffers first.
Order order_by_contention(std::span<const Buffer> buffers) {
  const std::vector<std::pair<std::int64_t, std::int64_t>> curve = live_bytes(buffers);
  std::vector<std::int64_t> contention(buffers.size(), 0);
  for (std::size_t b = 0; b < buffers.size(); ++b) {
    auto at = std::lower_bound(curve.begin(), curve.end(), std::pair(buffers[b].begin, INT64_MIN));
    for (; at != curve.end() && at->first < buffers[b].end; ++at) contention[b] = std::max(contention[b], at->second);
  }
  Order order = order_by(buffers, [](const Buffer& b) { return b.bytes; });
  std::stable_sort(order.begin(), order.end(), [&](auto a, auto b) { return contention[a] > contention[b]; });
  return order;
}

std::vector<Order> orders_of(std::span<const Buffer> buffers) {
  const auto length = [](const Buffer& b) { return b.end - b.begin; };
  std::vector<Order> orders;
  orders.push_back(order_by(buffers, [](const Buffer& b) { return b.bytes; }));
  orders.push_back(
      order_by(buffers, [&](const Buffer& b) { return static_cast<double>(b.bytes) * static_cast<double>(length(b)); }));
  orders.push_back(order_by(buffers, [&](const Buffer& b) { return std::pair(length(b), b.bytes); }));
  orders.push_back(order_by(buffers, [](const Buffer& b) { return std::pair(-b.begin, b.bytes); }));
  orders.push_back(order_by(buffers, [](const Buffer& b) { return std::pair(b.end, b.bytes); }));
  orders.push_back(order_by_contention(buffers));
  return orders;
}

}  // namespace

Allocation first_fit_by_size(std::span<const Buffer> buffers) {
  return FirstFit(buffers).run(order_by(buffers, [](const Buffer& b) { return b.bytes; }));
}

Allocation portfolio(std::span<const Buffer> buffers) {
  const std::int64_t bound = lower_bound(buffers).bytes;
  FirstFit fit(buffers);
  Allocation best = naive(buffers);
  for (const Order& order : orders_of(buffers)) {
    if (best.total <= bound) break;
    Allocation found = fit.run(order, best.total);
    if (found.total < best.total) best = std::move(found);
  }
  return best;
}

}  // namespace writeback::impl::plan
