// The better planner: several orders of first fit, then a search that takes the best order and moves a buffer which reaches the top
// of the arena towards the front. A move that is no worse is kept, so that plateaus are crossed. All of it repeats for a seed.
#include <algorithm>
#include <numeric>

#include "impl/plan/allocation.h"
#include "impl/plan/first_fit.h"

namespace writeback::impl::plan {
namespace {

using Order = std::vector<std::uint32_t>;

/// Steele, Lea and Flood's SplitMix64: enough for a search, and the same on every platform.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}
  std::size_t below(std::size_t n) { return static_cast<std::size_t>(next() % n); }

 private:
  std::uint64_t next() {
    std::uint64_t z = (state_ += 0x9e3779b97f4a7c15ULL);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
    return z ^ (z >> 31);
  }
  std::uint64_t state_;
};

template <typename Key>
Order order_by(std::span<const Buffer> buffers, Key key) {
  Order order(buffers.size());
  std::iota(order.begin(), order.end(), 0u);
  std::stable_sort(order.begin(), order.end(), [&](auto a, auto b) { return key(buffers[a]) > key(buffers[b]); });
  return order;
}

/// For each buffer the most bytes that live at one of its steps: crowded buffers first.
Order order_by_contention(std::span<const Buffer> buffers, FirstFit& fit) {
  std::vector<std::int64_t> contention(buffers.size());
  for (std::uint32_t b = 0; b < buffers.size(); ++b) {
    std::vector<Buffer> together{buffers[b]};
    for (std::uint32_t n : fit.neighbours(b)) {
      together.push_back(
          {std::max(buffers[n].begin, buffers[b].begin), std::min(buffers[n].end, buffers[b].end), buffers[n].bytes});
    }
    contention[b] = lower_bound(together).bytes;
  }
  Order order = order_by(buffers, [](const Buffer& b) { return b.bytes; });
  std::stable_sort(order.begin(), order.end(), [&](auto a, auto b) { return contention[a] > contention[b]; });
  return order;
}

std::vector<Order> starting_orders(std::span<const Buffer> buffers, FirstFit& fit) {
  const auto length = [](const Buffer& b) { return b.end - b.begin; };
  std::vector<Order> orders;
  orders.push_back(order_by(buffers, [](const Buffer& b) { return b.bytes; }));
  orders.push_back(
      order_by(buffers, [&](const Buffer& b) { return static_cast<double>(b.bytes) * static_cast<double>(length(b)); }));
  orders.push_back(order_by(buffers, [&](const Buffer& b) { return std::pair(length(b), b.bytes); }));
  orders.push_back(order_by(buffers, [](const Buffer& b) { return std::pair(-b.begin, b.bytes); }));
  orders.push_back(order_by(buffers, [](const Buffer& b) { return std::pair(b.end, b.bytes); }));
  constexpr std::size_t kManyPairs = 4096;  // contention costs a sweep per buffer
  if (buffers.size() <= kManyPairs) orders.push_back(order_by_contention(buffers, fit));
  return orders;
}

class Search {
 public:
  Search(std::span<const Buffer> buffers, std::uint64_t seed)
      : buffers_(buffers), fit_(buffers), bound_(lower_bound(buffers).bytes), random_(seed) {}

  Allocation run(std::size_t rounds) {
    for (const Order& order : starting_orders(buffers_, fit_)) {
      if (try_order(order)) return best_;
    }
    for (std::size_t round = 0; round < rounds; ++round) {
      if (try_order(neighbour_of_best())) return best_;
    }
    return best_;
  }

 private:
  /// True when the lower bound is met. An order that is no worse than the best replaces it.
  bool try_order(const Order& order) {
    const std::int64_t limit = best_order_.empty() ? INT64_MAX : best_.total + 1;
    Allocation found = fit_.run(order, limit);
    if (found.total < limit) {
      best_ = std::move(found);
      best_order_ = order;
    }
    return best_.total <= bound_;
  }

  /// Moves one of the buffers that reach the top to a random place nearer the front.
  Order neighbour_of_best() {
    std::vector<std::size_t> tops;
    for (std::size_t i = 0; i < best_order_.size(); ++i) {
      const std::uint32_t b = best_order_[i];
      if (best_.offsets[b] + buffers_[b].bytes == best_.total) tops.push_back(i);
    }
    const std::size_t from = tops[random_.below(tops.size())], to = random_.below(from + 1);
    Order order = best_order_;
    std::rotate(order.begin() + static_cast<std::ptrdiff_t>(to), order.begin() + static_cast<std::ptrdiff_t>(from),
                order.begin() + static_cast<std::ptrdiff_t>(from) + 1);
    return order;
  }

  std::span<const Buffer> buffers_;
  FirstFit fit_;
  std::int64_t bound_;
  Random random_;
  Allocation best_;
  Order best_order_;
};

/// Depth-first over orders, cut where the arena reaches the best so far.
class Exact {
 public:
  explicit Exact(std::span<const Buffer> buffers) : fit_(buffers), bound_(lower_bound(buffers).bytes) {
    order_ = order_by(buffers, [](const Buffer& b) { return b.bytes; });
    best_ = fit_.run(order_);
  }
  Allocation run() {
    extend(0);
    return best_;
  }

 private:
  void extend(std::size_t depth) {
    if (best_.total <= bound_) return;
    const Allocation partial = fit_.run(std::span(order_).first(depth), best_.total);
    if (partial.total >= best_.total) return;
    if (depth == order_.size()) {
      best_ = partial;
      return;
    }
    for (std::size_t i = depth; i < order_.size(); ++i) {
      std::swap(order_[depth], order_[i]);
      extend(depth + 1);
      std::swap(order_[depth], order_[i]);
    }
  }

  FirstFit fit_;
  std::int64_t bound_;
  Order order_;
  Allocation best_;
};

}  // namespace

Allocation first_fit_by_size(std::span<const Buffer> buffers) {
  return FirstFit(buffers).run(order_by(buffers, [](const Buffer& b) { return b.bytes; }));
}

Allocation portfolio(std::span<const Buffer> buffers, const SearchLimits& limits) {
  return buffers.empty() ? Allocation{} : Search(buffers, limits.seed).run(limits.rounds);
}

std::optional<Allocation> exact(std::span<const Buffer> buffers, std::size_t most) {
  if (buffers.size() > most) return std::nullopt;
  return buffers.empty() ? Allocation{} : Exact(buffers).run();
}

}  // namespace writeback::impl::plan
