// The copies of a program as events to be ordered, and the least schedule of them once it is settled which values are cloned first.
//
// A reader is a value that is read before the end: by copies, by a temporary, or as an output. A copy reads its reader's value and
// writes its target. Without a temporary it reads where it writes; with one, the temporary reads, and serves all copies of the
// reader. Slots are bounds from the nodes; the lists say what must come first among copies. The least schedule gives each event the
// smallest slot that its bounds and predecessors allow, so where there is a schedule at all there is one least one.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "impl/planted.h"
#include "ref/graph/placement.h"

namespace writeback::impl {
inline namespace WRITEBACK_BUILD {

constexpr std::uint32_t kNever = std::numeric_limits<std::uint32_t>::max();

struct Reader {
  std::uint32_t earliest = 0;         ///< slot
  std::uint32_t deadline = kNever;    ///< latest slot
  std::vector<std::uint32_t> before;  ///< copies that overwrite the value: their writes come after the read
  std::vector<std::uint32_t> after;   ///< copies whose writes come before the read (sequential semantics)
};

struct Writer {
  std::uint32_t reader = 0;
  std::uint32_t earliest = 0;         ///< slot
  std::vector<std::uint32_t> before;  ///< copies whose writes come after this write
};

/// Copies in output order. Copies named in a list of the very reader that they read are passed over, unless a temporary reads.
struct CopyGraph {
  std::vector<Reader> readers;
  std::vector<Writer> copies;
};

struct Schedule {
  std::vector<Position> copies;                      ///< per copy
  std::vector<std::optional<Position>> temporaries;  ///< per reader
};

/// The least schedule in which exactly the readers of `cloned` have temporaries. Within a slot temporaries come first, and copies
/// in output order as far as their constraints allow. nullopt = a cycle. Deadlines are not looked at.
std::optional<Schedule> least_schedule(const CopyGraph&, const std::vector<bool>& cloned);

/// Readers that are read after their deadlines.
std::vector<std::uint32_t> late_readers(const CopyGraph&, const Schedule&);

/// The copies that must come after the read or write of copy `k`, f(copy), where it reads its value itself if `!cloned`.
template <typename F>
void for_each_later_copy(const CopyGraph& graph, const std::vector<bool>& cloned, std::uint32_t k, F&& f) {
  const Writer& copy = graph.copies[k];
  for (const std::uint32_t j : copy.before) f(j);
  if (cloned[copy.reader]) return;
  for (const std::uint32_t j : graph.readers[copy.reader].before) {
    if (j != k) f(j);
  }
}

}  // namespace WRITEBACK_BUILD
}  // namespace writeback::impl
