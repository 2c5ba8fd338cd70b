// The conflicts that show when the interpreter runs: which cells every node, every write-back and every user output touches, under
// one choice vector or under many. Everything here is read off runs; no alias is followed by reasoning.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "ref/choices.h"
#include "ref/domain.h"
#include "ref/graph/placement.h"
#include "ref/meaning.h"
#include "ref/steps.h"

namespace writeback::ref {

/// A slot and the node that forces it. For lower bounds the slot is directly after the node, for deadlines directly before it.
struct Bound {
  std::uint32_t slot = 0;
  std::optional<NodeId> node;
  void raise(NodeId n) {
    if (slot <= index_of(n)) slot = static_cast<std::uint32_t>(index_of(n)) + 1, node = n;
  }
  void lower(NodeId n) {
    if (slot > index_of(n)) slot = static_cast<std::uint32_t>(index_of(n)), node = n;
  }
};
constexpr std::uint32_t kNever = std::numeric_limits<std::uint32_t>::max();

/// A value that is read at the end: by write-backs, by user outputs, or both.
struct Source {
  ValueId value{};
  std::uint32_t leaf = 0;
  Bound computed;                              ///< rule 1
  Bound written;                               ///< the last true write, if any: a temporary stands behind it
  Bound deadline{kNever, {}};                  ///< the first write after its birth that reaches it by lowering only
  std::vector<std::uint8_t> overlaps;          ///< per write-back: may share a cell with its target
  std::vector<std::uint8_t> lowered_overlaps;  ///< per write-back: does so under some lowering, but not in the unlowered run
  std::uint32_t ready() const { return std::max(computed.slot, written.slot); }
  /// No slot suits: it must be read after a true write and before a write that lowering brings.
  bool hopeless() const { return deadline.slot < ready(); }
};

struct CopyConflicts {
  WriteBack write_back;
  std::uint32_t target_leaf = 0, source = 0;
  // Rules 2, 3 and 4, over the choices under which the value is not the target itself: where it is, the copy changes nothing.
  Bound target_read, target_written, value_written;
  bool always_exact = true;              ///< the value is the target's very region under every choice
  bool overlaps_itself = false;          ///< under some choice it overlaps the target without being it
  std::vector<std::uint8_t> same_cells;  ///< per write-back: the targets may share a cell
};

struct OutputSource {
  std::uint32_t output = 0;  ///< index into outputs
  std::uint32_t source = 0;
};

struct Conflicts {
  std::vector<CopyConflicts> copies;  ///< in output order
  std::vector<Source> sources;
  std::vector<OutputSource> outputs;  ///< user outputs that are tensors
  std::uint32_t slots = 0;            ///< the last slot: the number of nodes
  bool exhaustive = true;             ///< all choices were run
};

/// The write-backs and outputs of a program with no conflict seen yet.
/// Under sequential semantics each copy and output reads for itself, so each copy is a source of its own.
Conflicts no_conflicts(const Steps&, Semantics);

/// Runs a program under choices and keeps what it saw.
class Tracer {
 public:
  /// `definite`: where a path of views hides whether two regions overlap, take it that they do not.
  /// `returned` as in Interpreter::start.
  Tracer(const Steps&, Regions&, Semantics, std::vector<std::uint8_t> returned, bool definite = false);

  void trace(std::span<const std::uint8_t> choices, bool semantics_changed);
  /// All choices up to a limit.
  void trace_all(std::uint64_t limit);
  const Conflicts& conflicts() const { return found_; }

 private:
  struct Event {
    enum class Kind : std::uint8_t { read, write, rebind } kind;
    NodeId node{};
    Tensor tensor;
    std::uint32_t identity = 0;
  };
  struct Recorder {
    std::vector<Event> events;
    void read(NodeId n, Tensor t) { events.push_back({Event::Kind::read, n, t, 0}); }
    void write(NodeId n, Tensor t) { events.push_back({Event::Kind::write, n, t, 0}); }
    void rebind(NodeId n, std::uint32_t identity) { events.push_back({Event::Kind::rebind, n, {}, identity}); }
  };

  void run(std::span<const std::uint8_t> choices);
  void look(bool lowered);
  void look_at_source(std::size_t source, bool lowered);
  void look_at_copy(CopyConflicts&, bool lowered);
  bool touches(const Event&, Tensor, std::uint32_t identity) const;
  bool share_a_cell(Tensor a, Tensor b) const {
    return a.storage == b.storage && regions_.overlap(a.region, b.region).value_or(!definite_);
  }

  const Steps& steps_;
  Regions& regions_;
  const bool definite_;
  NoValues domain_;
  Recorder recorder_;
  Interpreter<NoValues, Recorder> interpreter_;
  std::vector<std::uint8_t> live_, returned_;
  // Per source, per node and per write-back: under the semantic choices at hand, not lowered.
  std::vector<std::vector<std::uint8_t>> truly_written_, truly_overlaps_;
  std::vector<std::uint32_t> born_;  ///< per source: the slot after which the storage of its content exists, unlowered
  Conflicts found_;
};

/// Conflicts of all choices at once, storage by storage: whatever may share a storage under some choice is taken to overlap. A
/// placement without violations of these is safe; one with violations may be. nullopt where a node writes what a lowering joins,
/// so that there may be lowering hazards.
std::optional<Conflicts> coarse_conflicts(const Steps&, Regions&, Semantics);

/// Nodes whose reading counts: they write, are opaque, return nothing, are observed, or their result goes to an output or to such
/// a node. A use of metadata alone is no use.
std::vector<std::uint8_t> live_nodes(const Program&, const Effects&);

/// Nodes whose result itself stands among the outputs once the copies are placed, so that their view_copy is not replaced.
std::vector<std::uint8_t> returned_nodes(const Program&, const Placement* = nullptr);

/// Rule 7: which copies can be dropped.
std::vector<std::uint8_t> in_place(const Conflicts&);

/// A pair of events that a placement puts in the wrong order, with the rule that says so (the names of the design, section 4).
struct Violation {
  std::optional<std::uint32_t> copy;    ///< index of a write-back, or
  std::optional<std::uint32_t> output;  ///< index of an output
  std::string rule;
  std::optional<NodeId> node;
  std::optional<std::uint32_t> other_copy;
};
std::vector<Violation> violations(const Conflicts&, const Placement&, Semantics);

/// The least placement that respects the conflicts: fewest temporaries, then the smallest slots in output order.
Placement least_placement(const Program&, const Conflicts&, Semantics);

std::vector<Clobbered> clobbered(const Conflicts&);

}  // namespace writeback::ref
