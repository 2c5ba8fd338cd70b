#include "impl/copy_graph.h"

#include <algorithm>
#include <unordered_map>

namespace writeback::impl {
inline namespace WRITEBACK_BUILD {
namespace {

bool deadline_missed(const std::optional<Bound>& deadline, std::uint32_t slot) { return deadline && slot > deadline->slot; }

/// The kept write-backs, and their targets.
std::vector<WriteBack> only(const std::vector<WriteBack>& all, const std::vector<bool>& kept) {
  std::vector<WriteBack> result;
  for (std::size_t k = 0; k < all.size(); ++k) {
    if (kept[k]) result.push_back(all[k]);
  }
  return result;
}

class Builder {
 public:
  Builder(const Problem& problem, const std::vector<bool>& kept)
      : problem_(problem), copies_(only(problem.write_backs, kept)), targets_(problem.aliases, copies_) {
    for (std::uint32_t k = 0; k < kept.size(); ++k) {
      if (kept[k]) out_.write_back.push_back(k);
    }
  }

  PlacementGraph build() {
    for (std::uint32_t k = 0; k < copies_.size(); ++k) add_copy(k);
    add_outputs();
    return std::move(out_);
  }

 private:
  std::uint32_t add_reader(ValueId v) {
    const auto r = static_cast<std::uint32_t>(out_.value.size());
    Reader reader;
    reader.earliest = problem_.bounds.earliest_read(v).slot;
    const auto& deadline = problem_.bounds.deadline(v);
    const bool hopeless = deadline_missed(deadline, reader.earliest);
    if (deadline && !hopeless) reader.deadline = deadline->slot;
    hopeless_.push_back(hopeless);
    out_.graph.readers.push_back(std::move(reader));
    out_.value.push_back(v);
    out_.forced.push_back(false);
    out_.output.push_back(false);
    return r;
  }

  std::uint32_t reader_of(ValueId v) {
    const auto [found, added] = reader_of_value_.try_emplace(v, 0);
    if (added) {
      found->second = add_reader(v);
      list_overwriters(v, out_.graph.readers[found->second].before);
    }
    return found->second;
  }

  static Clause conflict_clause(const Entry& e) { return e.lowered() ? Clause::copy_reads_by_lowering : Clause::copy_reads; }

  /// Of each group the first two copies: the reader's own copy may be one of them.
  void list_overwriters(ValueId v, std::vector<std::uint32_t>& before) {
    for (const Entry& e : problem_.aliases.entries(v)) {
      if (!in_force(conflict_clause(e))) continue;
      if (planted(Fault::placeholder_values_safe) && problem_.program.graph.is_placeholder(v)) continue;
      targets_.for_each_group(e, [&](std::size_t g) {
        const auto& group = targets_.group(g);
        before.insert(before.end(), group.begin(), group.begin() + std::min<std::ptrdiff_t>(2, std::ssize(group)));
      });
    }
    std::ranges::sort(before);
    before.erase(std::unique(before.begin(), before.end()), before.end());
  }

  /// Sequential: the read of copy k comes after the last earlier and before the first later copy that writes its value. What only
  /// lowering lets another copy write is read before that.
  void list_neighbours(std::uint32_t k, Reader& reader) {
    for (const Entry& e : problem_.aliases.entries(copies_[k].value)) {
      if (!in_force(conflict_clause(e))) continue;
      targets_.for_each_group(e, [&](std::size_t g) {
        const auto& group = targets_.group(g);
        const auto here = e.lowered() ? group.begin() : std::ranges::lower_bound(group, k);
        if (here != group.begin()) reader.after.push_back(*(here - 1));
        const auto next = here != group.end() && *here == k ? here + 1 : here;
        if (next != group.end()) reader.before.push_back(*next);
      });
    }
  }

  void add_copy(std::uint32_t k) {
    const WriteBack& w = copies_[k];
    Writer writer;
    if (problem_.sequential()) {
      writer.reader = add_reader(w.value);
      list_neighbours(k, out_.graph.readers[writer.reader]);
    } else {
      writer.reader = reader_of(w.value);
    }
    writer.earliest = problem_.earliest_write(w).slot;
    const bool late = writer.earliest > out_.graph.readers[writer.reader].deadline;
    if (late || overlaps_itself(w)) out_.forced[writer.reader] = true;
    if (hopeless_[writer.reader]) {
      out_.hopeless.push_back(out_.write_back[k]);
      writer.earliest = static_cast<std::uint32_t>(problem_.program.graph.nodes.size());
    }
    list_later_writers(k, writer);
    out_.graph.copies.push_back(std::move(writer));
  }

  bool overlaps_itself(const WriteBack& w) const {
    const auto target = problem_.aliases.entries(w.target);
    return std::ranges::any_of(beside_target(problem_.program, problem_.aliases, w), [&](const Entry& e) {
      const Clause clause = e.lowered() ? Clause::overlaps_own_target_by_lowering : Clause::overlaps_own_target;
      return in_force(clause) && std::ranges::any_of(target, [&](const Entry& t) { return meet(problem_.aliases.regions, e, t); });
    });
  }

  /// Overlapping targets keep their output order: the next copy of each group that overlaps.
  void list_later_writers(std::uint32_t k, Writer& writer) {
    if (!in_force(Clause::copy_writes)) return;
    for (const Entry& e : problem_.aliases.entries(copies_[k].target)) {
      targets_.for_each_group(e, [&](std::size_t g) {
        const auto& group = targets_.group(g);
        const auto next = std::ranges::upper_bound(group, k);
        if (next != group.end()) writer.before.push_back(*next);
      });
    }
  }

  /// User outputs that a kept copy may overwrite, or that a write reaches by lowering only.
  void add_outputs() {
    const Program& program = problem_.program;
    for (std::size_t i = 0; i < program.graph.outputs.size(); ++i) {
      if (i < program.output_specs.size() && is_mutation(program.output_specs[i].kind)) continue;
      if (const ValueId* v = as_value(program.graph.outputs[i])) add_output(*v);
    }
  }

  /// An output that is read first, if it must be. Of each group the first copy stands for those that come after the read; in
  /// sequential semantics, where outputs are read last, the last one for those that come before it.
  void add_output(ValueId v) {
    std::vector<std::uint32_t> later, earlier;
    for (const Entry& e : problem_.aliases.entries(v)) {
      if (!in_force(e.lowered() ? Clause::output_read_first_by_lowering : Clause::output_read_first)) continue;
      targets_.for_each_group(e, [&](std::size_t g) {
        const bool read_last = problem_.sequential() && !e.lowered();
        (read_last ? earlier : later).push_back(read_last ? targets_.group(g).back() : targets_.group(g).front());
      });
    }
    const auto& deadline = problem_.bounds.deadline(v);
    const bool hopeless = deadline_missed(deadline, problem_.bounds.earliest_read(v).slot);
    if (later.empty() && (!deadline || hopeless)) return;
    const std::uint32_t r = reader_of_output(v);
    Reader& reader = out_.graph.readers[r];
    reader.after = std::move(earlier);
    reader.before.insert(reader.before.end(), later.begin(), later.end());
    std::ranges::sort(reader.before);
    reader.before.erase(std::unique(reader.before.begin(), reader.before.end()), reader.before.end());
    out_.forced[r] = out_.output[r] = true;
    for (const std::uint32_t k : later) {
      out_.graph.copies[k].earliest = std::max(out_.graph.copies[k].earliest, reader.earliest);
    }
  }

  /// In parallel semantics one read serves the copies and the output.
  std::uint32_t reader_of_output(ValueId v) {
    if (!problem_.sequential()) return reader_of(v);
    const auto [found, added] = reader_of_value_.try_emplace(v, 0);
    if (added) found->second = add_reader(v);
    return found->second;
  }

  const Problem& problem_;
  const std::vector<WriteBack> copies_;
  const Targets targets_;
  std::unordered_map<ValueId, std::uint32_t> reader_of_value_;
  std::vector<bool> hopeless_;  ///< per reader: its last writer comes after its deadline
  PlacementGraph out_;
};

/// Planted: what is mistaken for "in place".
bool lies_in_an_input(const Problem& problem, ValueId v) {
  const auto entries = problem.aliases.entries(v);
  return entries.size() == 1 && problem.program.graph.is_placeholder(entries[0].storage) &&
         !problem.program.graph.is_placeholder(v);
}
bool written_back_before(const Problem& problem, std::uint32_t k) {
  const auto& all = problem.write_backs;
  return std::any_of(all.begin(), all.begin() + k, [&](const WriteBack& w) { return w.value == all[k].value; });
}

}  // namespace

std::vector<bool> kept_copies(const Problem& problem, const Targets& targets) {
  std::vector<bool> kept(problem.write_backs.size(), true);
  std::vector<std::uint32_t> first_kept(targets.group_count(), kNever);
  for (std::uint32_t k = 0; k < kept.size(); ++k) {
    const WriteBack& w = problem.write_backs[k];
    bool copied = in_force(Clause::not_the_target) && !is_target(problem.program, problem.aliases, w);
    copied = copied || (in_force(Clause::deadline_in_place) && problem.bounds.deadline(w.value));
    for (const Entry& e : problem.aliases.entries(w.target)) {
      if (copied || !in_force(Clause::earlier_copy_writes)) break;
      targets.for_each_group(e, [&](std::size_t g) { copied = copied || first_kept[g] < k; });
    }
    if (planted(Fault::any_buffer_is_in_place)) copied = copied && !lies_in_an_input(problem, w.value);
    if (planted(Fault::one_copy_for_each_value)) copied = copied && !written_back_before(problem, k);
    kept[k] = copied;
    if (copied) first_kept[targets.group_of(k)] = std::min(first_kept[targets.group_of(k)], k);
  }
  return kept;
}

PlacementGraph placement_graph(const Problem& problem, const std::vector<bool>& kept) { return Builder(problem, kept).build(); }

std::vector<Clobbered> clobbered(const Problem& problem, const std::vector<bool>& kept) {
  const Targets targets(problem.aliases, problem.write_backs);
  std::vector<Clobbered> result;
  for (std::uint32_t k = 0; k < kept.size(); ++k) {
    if (!kept[k]) continue;
    std::vector<std::uint32_t> by;
    for (const Entry& e : problem.aliases.entries(problem.write_backs[k].value)) {
      targets.for_each_group(e, [&](std::size_t g) {
        for (const std::uint32_t j : targets.group(g)) {
          if (j >= k) break;
          if (kept[j]) by.push_back(j);
        }
      });
    }
    std::ranges::sort(by);
    by.erase(std::unique(by.begin(), by.end()), by.end());
    for (const std::uint32_t j : by) result.push_back(planted(Fault::clobbered_the_wrong_way) ? Clobbered{j, k} : Clobbered{k, j});
  }
  return result;
}

}  // namespace WRITEBACK_BUILD
}  // namespace writeback::impl
