// Small numbers found again by hash, for tables that give equal things one id: open addressing, no allocation an entry.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace writeback::impl {

class HashIndex {
 public:
  /// The number that was added with this hash and for which is(number).
  template <typename F>
  std::optional<std::uint32_t> find(std::size_t hash, F&& is) const {
    if (slots_.empty()) return std::nullopt;
    for (std::size_t i = start(hash); slots_[i].number != kFree; i = next(i)) {
      if (slots_[i].hash == hash && is(slots_[i].number)) return slots_[i].number;
    }
    return std::nullopt;
  }

  void add(std::size_t hash, std::uint32_t number) {
    if (2 * (count_ + 1) > slots_.size()) grow();
    place({hash, number});
    ++count_;
  }

 private:
  static constexpr std::uint32_t kFree = 0xffffffff;
  struct Slot {
    std::size_t hash = 0;
    std::uint32_t number = kFree;
  };

  std::size_t start(std::size_t hash) const { return (hash ^ hash >> 32) & (slots_.size() - 1); }
  std::size_t next(std::size_t i) const { return (i + 1) & (slots_.size() - 1); }
  void place(Slot slot) {
    std::size_t i = start(slot.hash);
    while (slots_[i].number != kFree) i = next(i);
    slots_[i] = slot;
  }
  void grow() {
    std::vector<Slot> old(slots_.empty() ? 64 : 2 * slots_.size());
    old.swap(slots_);
    for (const Slot& slot : old) {
      if (slot.number != kFree) place(slot);
    }
  }

  std::vector<Slot> slots_;  ///< a power of two of them, at most half of them taken
  std::size_t count_ = 0;
};

}  // namespace writeback::impl
