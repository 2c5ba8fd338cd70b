// Topological order by a queue of the events whose predecessors are all placed, smallest slot first. A successor never has a
// smaller slot, so events leave the queue in placed order. Where a temporary took away a constraint between two copies, the order
// that it demanded is still preferred within a slot: the copy that reads first goes first if nothing speaks against it.
#include "impl/schedule.h"

#include <algorithm>
#include <set>
#include <tuple>

namespace writeback::impl {
inline namespace WRITEBACK_BUILD {
namespace {

/// Events are numbered: reader r's temporary is r, copy k is (number of readers) + k.
class Scheduler {
 public:
  Scheduler(const CopyGraph& graph, const std::vector<bool>& cloned)
      : graph_(graph), cloned_(cloned), first_copy_(graph.readers.size()) {
    const std::size_t events = first_copy_ + graph.copies.size();
    later_.resize(events);
    waiting_.assign(events, 0);
    preferred_.resize(graph.copies.size());
    yielding_.assign(events, 0);
    slot_.assign(events, 0);
    for (std::uint32_t r = 0; r < first_copy_; ++r) {
      if (cloned[r]) add_temporary(r);
    }
    for (std::uint32_t k = 0; k < graph.copies.size(); ++k) add_copy(k);
  }

  std::optional<Schedule> run() {
    Schedule schedule{std::vector<Position>(graph_.copies.size()), std::vector<std::optional<Position>>(first_copy_)};
    for (std::uint32_t e = 0; e < later_.size(); ++e) {
      if ((e >= first_copy_ || cloned_[e]) && waiting_[e] == 0) ready_.insert(key(e));
    }
    std::size_t copies_placed = 0;
    std::uint32_t slot = 0, order = 0;
    while (!ready_.empty()) {
      const auto [at, yields, e] = *ready_.begin();
      ready_.erase(ready_.begin());
      if (at != slot) slot = at, order = 0;
      const Position position{slot_at(slot), order++};
      if (e < first_copy_) {
        schedule.temporaries[e] = position;
      } else {
        schedule.copies[e - first_copy_] = position;
        ++copies_placed;
        for (const std::uint32_t next : preferred_[e - first_copy_]) stop_yielding(next);
      }
      for (const std::uint32_t next : later_[e]) {
        slot_[next] = std::max(slot_[next], at);
        if (--waiting_[next] == 0) ready_.insert(key(next));
      }
    }
    if (copies_placed != graph_.copies.size()) return std::nullopt;
    return schedule;
  }

 private:
  std::uint32_t event_of_copy(std::uint32_t k) const { return static_cast<std::uint32_t>(first_copy_) + k; }

  using Key = std::tuple<std::uint32_t, bool, std::uint32_t>;
  Key key(std::uint32_t e) const { return {slot_[e], yielding_[e] != 0, e}; }

  void stop_yielding(std::uint32_t e) {
    const bool ready = waiting_[e] == 0 && ready_.erase(key(e)) != 0;
    --yielding_[e];
    if (ready) ready_.insert(key(e));
  }

  void precede(std::uint32_t first, std::uint32_t second) {
    later_[first].push_back(second);
    ++waiting_[second];
  }

  void add_temporary(std::uint32_t r) {
    slot_[r] = graph_.readers[r].earliest;
    if (planted(Fault::temporary_too_late)) return;
    for (const std::uint32_t j : graph_.readers[r].before) precede(r, event_of_copy(j));
    for (const std::uint32_t j : graph_.readers[r].after) precede(event_of_copy(j), r);
  }

  void add_copy(std::uint32_t k) {
    const Writer& copy = graph_.copies[k];
    const Reader& reader = graph_.readers[copy.reader];
    slot_[event_of_copy(k)] = copy.earliest;
    for_each_later_copy(graph_, cloned_, k, [&](std::uint32_t j) { precede(event_of_copy(k), event_of_copy(j)); });
    if (cloned_[copy.reader]) {
      if (planted(Fault::temporary_too_late)) slot_[copy.reader] = std::max(slot_[copy.reader], copy.earliest);
      precede(copy.reader, event_of_copy(k));
      for (const std::uint32_t j : reader.before) {
        if (j == k) continue;
        preferred_[k].push_back(event_of_copy(j));
        ++yielding_[event_of_copy(j)];
      }
      return;
    }
    slot_[event_of_copy(k)] = std::max(copy.earliest, reader.earliest);
    for (const std::uint32_t j : reader.after) {
      if (j != k) precede(event_of_copy(j), event_of_copy(k));
    }
  }

  const CopyGraph& graph_;
  const std::vector<bool>& cloned_;
  const std::size_t first_copy_;
  std::vector<std::vector<std::uint32_t>> later_;
  std::vector<std::uint32_t> waiting_;  ///< predecessors not placed yet
  std::vector<std::uint32_t> slot_;
  std::vector<std::vector<std::uint32_t>> preferred_;  ///< per copy: the copies' events that had better come after it
  std::vector<std::uint32_t> yielding_;                ///< events not placed yet that had better come before
  std::set<Key> ready_;
};

}  // namespace

std::optional<Schedule> least_schedule(const CopyGraph& graph, const std::vector<bool>& cloned) {
  return Scheduler(graph, cloned).run();
}

std::vector<std::uint32_t> late_readers(const CopyGraph& graph, const Schedule& schedule) {
  std::vector<std::uint32_t> late;
  const auto check = [&](std::uint32_t r, Position at) {
    if (index_of(at.slot) > graph.readers[r].deadline) late.push_back(r);
  };
  for (std::uint32_t r = 0; r < graph.readers.size(); ++r) {
    if (schedule.temporaries[r]) check(r, *schedule.temporaries[r]);
  }
  for (std::uint32_t k = 0; k < graph.copies.size(); ++k) {
    if (const std::uint32_t r = graph.copies[k].reader; !schedule.temporaries[r]) check(r, schedule.copies[k]);
  }
  std::ranges::sort(late);
  late.erase(std::unique(late.begin(), late.end()), late.end());
  return late;
}

}  // namespace WRITEBACK_BUILD
}  // namespace writeback::impl
