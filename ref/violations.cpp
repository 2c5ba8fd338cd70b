// Checks a placement against conflicts, pair by pair, and names the rule of each pair that stands in the wrong order.
#include <algorithm>

#include "ref/conflicts.h"

namespace writeback::ref {
namespace {

class Checker {
 public:
  Checker(const Conflicts& c, const Placement& p, Semantics semantics)
      : c_(c), p_(p), parallel_(semantics == Semantics::parallel) {}

  std::vector<Violation> run() {
    for (std::uint32_t i = 0; i < c_.copies.size(); ++i) {
      if (p_.copies[i].in_place)
        check_dropped(i);
      else
        check_copy(i);
      for (std::uint32_t j = 0; j < i; ++j) check_pair(j, i);
    }
    for (const OutputSource& o : c_.outputs) check_output(o);
    return std::move(found_);
  }

 private:
  void report(std::uint32_t copy, const char* rule, std::optional<NodeId> node, std::optional<std::uint32_t> other = {}) {
    found_.push_back({copy, {}, rule, node, other});
  }
  bool kept(std::uint32_t i) const { return !p_.copies[i].in_place; }
  Position written_at(std::uint32_t i) const { return p_.copies[i].at; }
  Position read_at(std::uint32_t i) const {
    return p_.copies[i].temporary ? p_.temporaries[*p_.copies[i].temporary].at : p_.copies[i].at;
  }
  const Source& source(std::uint32_t i) const { return c_.sources[c_.copies[i].source]; }

  void check_dropped(std::uint32_t i) {
    bool good = c_.copies[i].always_exact && source(i).deadline.slot == kNever;
    for (std::uint32_t j = 0; j < i; ++j) good &= !kept(j) || !c_.copies[i].same_cells[j];
    if (!good) report(i, "in_place", {});
  }

  void check_copy(std::uint32_t i) {
    const CopyConflicts& c = c_.copies[i];
    const std::uint32_t read = static_cast<std::uint32_t>(index_of(read_at(i).slot));
    const std::uint32_t write = static_cast<std::uint32_t>(index_of(written_at(i).slot));
    const bool other_value = p_.copies[i].temporary && p_.temporaries[*p_.copies[i].temporary].of != c.write_back.value;
    if (read < source(i).computed.slot || other_value || read_at(i) > written_at(i))
      report(i, "computes_value", source(i).computed.node);
    if (write < c.target_read.slot) report(i, "reads_target", c.target_read.node);
    if (write < c.target_written.slot) report(i, "writes_target", c.target_written.node);
    const Bound& written = p_.copies[i].temporary ? source(i).written : c.value_written;
    if (read < written.slot) report(i, "writes_value", written.node);
    if (read > source(i).deadline.slot) report(i, "deadline", source(i).deadline.node);
    if (c.overlaps_itself && !p_.copies[i].temporary) report(i, "copy_reads", {}, i);
  }

  /// i before j in output order.
  void check_pair(std::uint32_t i, std::uint32_t j) {
    if (!kept(i) || !kept(j)) return;
    if (c_.copies[i].same_cells[j] && written_at(i) > written_at(j)) report(j, "copy_writes", {}, i);
    if (source(i).overlaps[j] && read_at(i) > written_at(j)) report(j, "copy_reads", {}, i);
    if (!source(j).overlaps[i]) return;
    const bool first = parallel_ || source(j).lowered_overlaps[i];  // j reads what is there before i writes
    if (first && read_at(j) > written_at(i)) report(i, "copy_reads", {}, j);
    if (!first && read_at(j) < written_at(i)) report(j, "copy_writes", {}, i);
  }

  void check_output(const OutputSource& o) {
    const Source& s = c_.sources[o.source];
    const auto first = std::ranges::find(p_.outputs_read_first, o.output, &OutputReadFirst::output);
    const bool is_first = first != p_.outputs_read_first.end();

    const Position at = is_first ? p_.temporaries[first->temporary].at : Position{slot_at(kNever), 0};
    bool good = !is_first || p_.temporaries[first->temporary].of == s.value;
    std::optional<std::uint32_t> by;
    for (std::uint32_t j = 0; j < c_.copies.size(); ++j) {
      const bool first = parallel_ || s.lowered_overlaps[j];
      if (kept(j) && s.overlaps[j] && (written_at(j) < at) == first) good = false, by = j;
    }
    const auto slot = static_cast<std::uint32_t>(index_of(at.slot));
    std::optional<NodeId> node;
    if (is_first && slot < s.ready()) good = false, node = s.written.node ? s.written.node : s.computed.node;
    if (s.deadline.slot != kNever && slot > s.deadline.slot) good = false, node = s.deadline.node;
    if (!good) found_.push_back({{}, o.output, s.hopeless() ? "lowering" : "read_first", node, by});
  }

  const Conflicts& c_;
  const Placement& p_;
  const bool parallel_;
  std::vector<Violation> found_;
};

}  // namespace

std::vector<Violation> violations(const Conflicts& conflicts, const Placement& placement, Semantics semantics) {
  return Checker(conflicts, placement, semantics).run();
}

}  // namespace writeback::ref
