#include "impl/temporaries.h"

#include <algorithm>
#include <numeric>
#include <optional>

#include "impl/cycles.h"

namespace writeback::impl {
inline namespace WRITEBACK_BUILD {
namespace {

constexpr std::size_t kExact = 12;                        // values in question
constexpr std::size_t kExactWork = std::size_t{1} << 20;  // copies placed in one exact search

/// A part of a copy graph, with its own numbering.
struct Part {
  CopyGraph graph;
  std::vector<bool> cloned;
  std::vector<std::uint32_t> readers;  ///< their numbers in the whole
};

/// Cuts parts out of a graph. Its tables are as long as the graph and are cleared behind each part, so that many parts stay cheap.
class Cutter {
 public:
  explicit Cutter(const CopyGraph& whole)
      : whole_(whole), copy_in_part_(whole.copies.size(), kNever), reader_in_part_(whole.readers.size(), kNever) {}

  /// The part of `copies` (sorted) and of their readers; what leads out of it is left out.
  Part cut(const std::vector<std::uint32_t>& copies, const std::vector<bool>& cloned) {
    Part part;
    for (std::uint32_t i = 0; i < copies.size(); ++i) copy_in_part_[copies[i]] = i;
    for (const std::uint32_t k : copies) {
      const Writer& copy = whole_.copies[k];
      std::uint32_t& reader = reader_in_part_[copy.reader];
      if (reader == kNever) {
        reader = static_cast<std::uint32_t>(part.readers.size());
        const Reader& r = whole_.readers[copy.reader];
        part.readers.push_back(copy.reader);
        part.graph.readers.push_back({r.earliest, r.deadline, within(r.before), within(r.after)});
        part.cloned.push_back(cloned[copy.reader]);
      }
      part.graph.copies.push_back({reader, copy.earliest, within(copy.before)});
    }
    for (const std::uint32_t k : copies) copy_in_part_[k] = kNever;
    for (const std::uint32_t r : part.readers) reader_in_part_[r] = kNever;
    return part;
  }

 private:
  std::vector<std::uint32_t> within(const std::vector<std::uint32_t>& copies) const {
    std::vector<std::uint32_t> result;
    for (const std::uint32_t k : copies) {
      if (copy_in_part_[k] != kNever) result.push_back(copy_in_part_[k]);
    }
    return result;
  }

  const CopyGraph& whole_;
  std::vector<std::uint32_t> copy_in_part_, reader_in_part_;
};

/// Calls f(subset) for the subsets of `size` of 0 ... n - 1, each in ascending order, in lexicographic order.
template <typename F>
void for_each_subset(std::uint32_t n, std::uint32_t size, F&& f) {
  std::vector<std::uint32_t> subset(size);
  std::iota(subset.begin(), subset.end(), 0u);
  while (true) {
    f(subset);
    std::uint32_t i = size;
    while (i > 0 && subset[i - 1] == n - size + i - 1) --i;
    if (i == 0) return;
    std::iota(subset.begin() + (i - 1), subset.end(), subset[i - 1] + 1);
  }
}

/// Clones the fewest of the candidates (readers of the part). False if not even all of them will do.
bool clone_fewest(Part& part, const std::vector<std::uint32_t>& candidates) {
  const auto n = static_cast<std::uint32_t>(candidates.size());
  for (std::uint32_t size = 0; size <= n; ++size) {
    std::optional<std::vector<Position>> best;
    std::vector<bool> best_cloned;
    for_each_subset(n, size, [&](const std::vector<std::uint32_t>& subset) {
      std::vector<bool> cloned = part.cloned;
      for (const std::uint32_t i : subset) cloned[candidates[i]] = true;
      auto schedule = least_schedule(part.graph, cloned);
      if (!schedule || !late_readers(part.graph, *schedule).empty()) return;
      const auto smaller = [](const Position& a, const Position& b) { return a.slot < b.slot; };
      if (best && !std::ranges::lexicographical_compare(schedule->copies, *best, smaller)) return;
      best = std::move(schedule->copies);
      best_cloned = std::move(cloned);
    });
    if (best) {
      part.cloned = std::move(best_cloned);
      return true;
    }
  }
  return false;
}

/// Connected parts: copies that constrain one another or read one value.
std::vector<std::vector<std::uint32_t>> connected_parts(const CopyGraph& graph) {
  std::vector<std::uint32_t> root(graph.copies.size());
  std::iota(root.begin(), root.end(), 0u);
  const auto find = [&](std::uint32_t k) {
    while (root[k] != k) k = root[k] = root[root[k]];
    return k;
  };
  const auto join = [&](std::uint32_t a, std::uint32_t b) { root[std::max(find(a), find(b))] = std::min(find(a), find(b)); };
  std::vector<std::uint32_t> first_of_reader(graph.readers.size(), kNever);
  for (std::uint32_t k = 0; k < graph.copies.size(); ++k) {
    std::uint32_t& first = first_of_reader[graph.copies[k].reader];
    if (first == kNever) {
      first = k;
      for (const auto* list : {&graph.readers[graph.copies[k].reader].before, &graph.readers[graph.copies[k].reader].after}) {
        for (const std::uint32_t j : *list) join(k, j);
      }
    }
    join(first, k);
    for (const std::uint32_t j : graph.copies[k].before) join(k, j);
  }
  std::vector<std::vector<std::uint32_t>> parts(graph.copies.size());
  for (std::uint32_t k = 0; k < graph.copies.size(); ++k) parts[find(k)].push_back(k);
  std::erase_if(parts, [](const auto& part) { return part.empty(); });
  return parts;
}

/// Readers whose cloning can matter, the earliest in a cycle first: those of copies in cycles, and, where there are deadlines, all.
std::vector<std::uint32_t> candidates(const Part& part) {
  std::vector<bool> listed = part.cloned;
  std::vector<std::uint32_t> result;
  const auto list = [&](std::uint32_t copy) {
    const std::uint32_t r = part.graph.copies[copy].reader;
    if (!listed[r]) result.push_back(r);
    listed[r] = true;
  };
  std::vector<std::uint32_t> in_cycles;
  for (const auto& group : cycles(part.graph, part.cloned)) in_cycles.insert(in_cycles.end(), group.begin(), group.end());
  std::ranges::sort(in_cycles);
  for (const std::uint32_t k : in_cycles) list(k);
  const bool deadlines = std::ranges::any_of(part.graph.readers, [](const Reader& r) { return r.deadline != kNever; });
  for (std::uint32_t k = 0; k < part.graph.copies.size() && deadlines; ++k) list(k);
  return result;
}

/// The reader whose cloning takes the most ways through the cycle: ways in times ways out.
std::uint32_t busiest_reader(const CopyGraph& graph, const std::vector<bool>& cloned) {
  std::vector<std::uint64_t> in(graph.copies.size(), 0), out(in), ways(graph.readers.size(), 0);
  for (std::uint32_t k = 0; k < graph.copies.size(); ++k) {
    for_each_later_copy(graph, cloned, k, [&](std::uint32_t j) { ++out[k], ++in[j]; });
  }
  for (std::uint32_t k = 0; k < graph.copies.size(); ++k) {
    const std::uint32_t r = graph.copies[k].reader;
    if (!cloned[r] && !graph.readers[r].before.empty()) ways[r] += in[k] * (out[k] - graph.copies[k].before.size());
  }
  return static_cast<std::uint32_t>(std::ranges::max_element(ways) - ways.begin());
}

/// Breaks the cycles of a part that is too large for one exact search: cycle by cycle, each exactly if it is small.
bool break_cycles(Part& part) {
  bool greedy = false;
  Cutter cutter(part.graph);
  for (auto groups = cycles(part.graph, part.cloned); !groups.empty(); groups = cycles(part.graph, part.cloned)) {
    for (const auto& group : groups) {
      Part cycle = cutter.cut(group, part.cloned);
      for (Reader& r : cycle.graph.readers) r.deadline = kNever;  // looked at when the cycles are gone
      std::vector<std::uint32_t> open;
      for (std::uint32_t r = 0; r < cycle.readers.size(); ++r) {
        if (!cycle.cloned[r]) open.push_back(r);
      }
      if (group.size() <= kExact) {
        // In sequential semantics no set may do, since a read must come after a write and before it: then nothing is left to break.
        if (!clone_fewest(cycle, open)) cycle.cloned.assign(cycle.cloned.size(), true);
      } else {
        cycle.cloned[busiest_reader(cycle.graph, cycle.cloned)] = true;
        greedy = true;
      }
      for (std::uint32_t r = 0; r < cycle.readers.size(); ++r) part.cloned[cycle.readers[r]] = cycle.cloned[r];
    }
  }
  return greedy;
}

/// A copy that comes too late for its value is served by a temporary.
void keep_deadlines(Part& part) {
  for (bool more = true; more;) {
    more = false;
    const auto schedule = least_schedule(part.graph, part.cloned);
    if (!schedule) return;
    for (const std::uint32_t r : late_readers(part.graph, *schedule)) {
      more = more || !part.cloned[r];
      part.cloned[r] = true;
    }
  }
}

}  // namespace

Temporaries fewest_temporaries(const CopyGraph& graph, std::vector<bool> forced) {
  Temporaries result{std::move(forced)};
  const auto schedule = least_schedule(graph, result.cloned);
  if (schedule && late_readers(graph, *schedule).empty()) return result;
  Cutter cutter(graph);
  for (const auto& copies : connected_parts(graph)) {
    Part part = cutter.cut(copies, result.cloned);
    const auto open = candidates(part);
    const bool small = open.size() <= kExact && copies.size() << open.size() <= kExactWork;
    if (!small || !clone_fewest(part, open)) {
      result.greedy = break_cycles(part) || result.greedy;
      keep_deadlines(part);
    }
    for (std::uint32_t r = 0; r < part.readers.size(); ++r) result.cloned[part.readers[r]] = part.cloned[r];
  }
  return result;
}

}  // namespace WRITEBACK_BUILD
}  // namespace writeback::impl
