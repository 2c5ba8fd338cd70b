// What the readers of one graph share: the names of its values, and where warnings go.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ref/graph/ids.h"
#include "ref/graph/text_cursor.h"

namespace writeback::text {

/// The values of one graph by name: a flat hash table with linear probing, because a reader of a million nodes spends its time
/// here. Names are slices of the text that is read.
class Names {
 public:
  std::optional<ValueId> find(std::string_view name) const {
    if (slots_.empty()) return std::nullopt;
    const Slot& slot = slots_[place_of(name)];
    return slot.name.data() == nullptr ? std::nullopt : std::optional(slot.value);
  }
  /// False where the name is taken.
  bool add(std::string_view name, ValueId value) {
    if (2 * (count_ + 1) > slots_.size()) grow();
    Slot& slot = slots_[place_of(name)];
    if (slot.name.data() != nullptr) return false;
    slot = {name, value};
    ++count_;
    return true;
  }

 private:
  struct Slot {
    std::string_view name;  // no data = free
    ValueId value{};
  };

  /// Where the name is, or the free slot where it would be.
  std::size_t place_of(std::string_view name) const {
    const std::size_t mask = slots_.size() - 1;
    std::size_t i = std::hash<std::string_view>()(name) & mask;
    while (slots_[i].name.data() != nullptr && slots_[i].name != name) i = (i + 1) & mask;
    return i;
  }
  void grow() {
    std::vector<Slot> old(slots_.empty() ? 64 : 2 * slots_.size());
    old.swap(slots_);
    for (const Slot& slot : old) {
      if (slot.name.data() != nullptr) slots_[place_of(slot.name)] = slot;
    }
  }

  std::vector<Slot> slots_;  // a power of two of them, at most half of them taken
  std::size_t count_ = 0;
};

/// What a reader could not understand but left opaque or out; the first few, with their places.
class Warnings {
 public:
  void add(const Cursor& cursor, std::size_t position, const std::string& message) {
    if (++count_ <= kMost) list_.push_back(cursor.place(position) + ": " + message);
  }
  void add(const Cursor& cursor, const std::string& message) { add(cursor, cursor.position(), message); }
  /// Without a place.
  void add(const std::string& message) {
    if (++count_ <= kMost) list_.push_back(message);
  }
  std::vector<std::string> list() const {
    std::vector<std::string> all = list_;
    if (count_ > all.size()) all.push_back("and " + std::to_string(count_ - all.size()) + " more warnings");
    return all;
  }

 private:
  static constexpr std::size_t kMost = 20;
  std::vector<std::string> list_;
  std::size_t count_ = 0;
};

/// How values are spelled. python: as in code (print_readable, print_tabular). graph: as print(graph) does, values as `%x`, strings
/// and devices without quotes.
enum class Spelling : unsigned char { python, graph };

struct ValueContext {
  const Names& names;
  Spelling spelling = Spelling::python;
  Warnings& warnings;
};

}  // namespace writeback::text
