// What the readers of one graph share: the names of its values, and where warnings go.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "ref/graph/ids.h"
#include "ref/graph/text_cursor.h"

namespace writeback::text {

/// Names are slices of the text that is read.
class Names {
 public:
  std::optional<ValueId> find(std::string_view name) const {
    const auto found = known_.find(name);
    if (found == known_.end()) return std::nullopt;
    return found->second;
  }
  /// False where the name is taken.
  bool add(std::string_view name, ValueId value) { return known_.try_emplace(name, value).second; }

 private:
  std::unordered_map<std::string_view, ValueId> known_;
};

/// What a reader could not understand but left opaque or out; the first few, with their places.
class Warnings {
 public:
  void add(const Cursor& cursor, std::size_t position, const std::string& message) {
    constexpr std::size_t kMost = 20;
    if (++count_ <= kMost) list_.push_back(cursor.place(position) + ": " + message);
  }
  void add(const Cursor& cursor, const std::string& message) { add(cursor, cursor.position(), message); }
  /// Without a place.
  void add(const std::string& message) {
    list_.push_back(message);
    ++count_;
  }
  std::vector<std::string> list() const {
    std::vector<std::string> all = list_;
    if (count_ > all.size()) all.push_back("and " + std::to_string(count_ - all.size()) + " more warnings");
    return all;
  }

 private:
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
