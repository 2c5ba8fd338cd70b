// Every program of N nodes at once, with every placement of its copies, as propositional formulas: graph, operands, effects,
// choices, lowering and slots are variables. The bounded theorem asks a solver for values of them that break the meaning.
//
// What is modelled. Placeholders a, b (targets; b may lie in a's storage: the whole, flipped or half), x. Storages of two cells; a
// tensor covers both, both flipped, or one. Nodes read and write two operands; kinds below. Two write-backs of any values to a or b
// (one target twice as well), up to two user outputs; each copy dropped, direct or through a temporary; outputs read first or last.
//
// How runs are compared. Contents are free bits: two runs differ if some contents make them differ. In the placed run a live node
// writes the same contents as in the run as written: up to the first live node that reads something else that is exactly what
// happens, so one claim a node ("it is not the first to read something else") is enough, and no functions are needed. Dead nodes
// write poison. `Writes::assumed` goes step by step: from any two memories that an invariant relates, over one slot or one node,
// to two that it relates again. `Writes::faithful` runs from start to end, a node that reads something else writes poison, and the
// end alone is claimed: it looks for counterexamples, and where it finds none it says the same without the invariant.
//
// It errs to "unsafe": the lowering choices are more than ExecuTorch has (a view_copy may be re-based or not, turned or not), and
// `accept` is given the cells that the nodes touch in this very run, where the real one has those of all runs.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "impl/rules.h"
#include "proofs/logic.h"

namespace writeback::proofs {

enum class Kind : std::uint8_t { fresh, view, in_place, may_alias, opaque, view_copy };
constexpr std::size_t kKinds = 6;
constexpr std::size_t kPlaceholders = 3;  ///< a, b, x
constexpr std::size_t kCopies = 2;
constexpr std::size_t kOutputs = 2;
constexpr std::size_t kReaders = kCopies + kOutputs;  ///< the values of the copies, then the user outputs

/// A tensor: the storage that it lies in (one-hot), whether it is one cell, and the cell of its first element (false: cell 0).
struct Tensor {
  std::vector<Bool> storage;
  Bool half, first;
  std::vector<Bool> chain;  ///< the nodes whose choice (may_alias, view_copy) makes it lie there
};

/// Cells of one tensor for the rules, with the storage in which it lies as written.
struct Entry {
  std::vector<Bool> cells;    ///< cell c of storage s at 2 s + c
  std::vector<Bool> storage;  ///< one-hot
  std::vector<Bool> chain;    ///< of the tensor
};

/// The domain in which rules.h becomes formulas.
struct BoundedDomain {
  using Bool = proofs::Bool;
  using Set = std::vector<Entry>;
  const Logic& logic;
  std::optional<impl::Clause> dropped;  ///< taken out of the rules, to see a proof fail

  Bool clause(impl::Clause c, const Bool& holds) const { return c == dropped ? logic.constant(false) : holds; }
  Bool meet(const Set& a, const Set& b) const;
  Bool meet_anew(const Set& a, const Set& b) const;
  Bool either(const Bool& a, const Bool& b) const { return logic.either(a, b); }
  Bool both(const Bool& a, const Bool& b) const { return logic.both(a, b); }
  Bool negate(const Bool& a) const { return logic.no(a); }
};

struct SymbolicNode {
  std::vector<Bool> kind;   ///< one-hot over Kind
  std::vector<Bool> a, b;   ///< operands, one-hot over earlier values
  Bool reads_a, reads_b;    ///< fresh, in_place: it reads the operand's cells
  Bool half, flip;          ///< geometry of a view or region: one cell; the other cell first
  Bool writes_a, writes_b;  ///< opaque choice
  Bool result_a, result_b;  ///< opaque choice: the result lies in operand a's or b's region
  Bool aliases;             ///< may_alias choice
  Bool lowered, rebased;    ///< view_copy: lowered to an alias of its chain's root; a copy that reads the root
  Bool shares;              ///< fresh: lowered to write its result where operand a lies
  const Bool& is(Kind k) const { return kind[static_cast<std::size_t>(k)]; }
};

struct SymbolicCopy {
  Bool target_b;  ///< the target is b, else a
  Bool dropped, has_temporary;
};

/// A value that the placement reads: of a copy, or a user output.
struct SymbolicReader {
  std::vector<Bool> value;  ///< one-hot over all values; all false: there is no output
};

/// A moment of the placed run, order-encoded: `by[p]` says that it is over at point p. A slot has five points: temporaries are read
/// at points 0, 2 and 4, copies are done at 1 and 3.
using Moment = std::vector<Bool>;
constexpr std::size_t kPoints = 5;
constexpr bool is_copy_point(std::size_t point) { return point % kPoints % 2 == 1; }

enum class Writes : std::uint8_t { assumed, faithful };

/// A time of the run between its steps: before the slot of node `node` (or the last slot), or after it and before the node.
struct Time {
  std::size_t node = 0;
  bool slot_is_over = false;
};
constexpr Time before_slot(std::size_t n) { return {n, false}; }
constexpr Time after_slot(std::size_t n) { return {n, true}; }

/// Something that must never hold beside the assumptions.
struct Claim {
  std::string name;
  std::vector<Bool> given;  ///< what earlier claims have shown, as far as this one builds on it
  Bool broken;
};

class Encoding {
 public:
  Encoding(const Logic&, std::size_t nodes, Writes, std::optional<impl::Clause> dropped = {});

  std::size_t nodes() const { return count_; }
  /// Well-formed, accepted, without lowering hazard.
  const std::vector<Bool>& assumptions() const { return assumptions_; }
  /// Things that may go wrong, in the order of the placed run: a live node or a reader reads something else than as written; a copy
  /// is a trap, a placeholder's cell or the output ends differently.
  const std::vector<Claim>& claims() const { return claims_; }

  // The variables, for whoever decodes a model.
  std::vector<SymbolicNode> node;
  std::vector<SymbolicCopy> copy;
  std::vector<SymbolicReader> reader;
  std::vector<Moment> done;        ///< of the copies
  std::vector<Moment> read;        ///< of the temporaries, one a reader
  std::vector<Bool> output_first;  ///< of the outputs: it is read through its temporary
  Bool shared, b_half, b_first;    ///< b lies in a's storage; b is one cell; the cell of its first element

 private:
  using Pair = std::array<Bool, 2>;  ///< the two cells of a storage, or the two elements of a tensor
  using Memory = std::vector<Pair>;
  using Cells = impl::Cells<BoundedDomain>;
  using NodeCells = impl::NodeCells<BoundedDomain>;

  /// The two runs at one moment.
  struct State {
    Memory written, placed;
  };

  void declare();
  void require_well_formed();
  void require_canonical(const SymbolicNode&);
  void lay_out();
  void find_live();
  void run_whole();
  void run_by_steps();
  void establish_layout();
  void establish_order();
  void establish(std::string name, const Bool& fact);
  void run_slot(State&, std::size_t slot);
  void run_node(State&, std::size_t n);
  Bool needed(std::size_t r) const;
  Bool over(const Moment&, Time) const;
  Bool has_read(std::size_t r, Time) const;
  Bool stores(std::size_t k, std::size_t storage, std::size_t cell, Time) const;
  Bool tensors_differ(const State&, const std::vector<Bool>& value, Time) const;
  Bool operands_differ(const State&, std::size_t n, Time) const;
  Bool reader_differs(const State&, std::size_t r, Time) const;
  Bool inputs_differ(const State&) const;
  Bool targets_differ(const State&, Time) const;
  Bool value_differs(const State&, std::size_t r, Time) const;
  Bool values_differ(const State&, Time) const;
  Bool ends_differ(const State&) const;
  Bool is_trap(std::size_t k) const;
  Bool values_moved(const State&, Time) const;
  std::vector<std::pair<std::string, Bool>> invariant_broken(const State&, Time) const;
  Bool changed_by_lowering(std::size_t r, std::size_t end) const;
  void claim(std::string name, const Bool& broken);
  void claim_invariant(const State&, Time);
  void give(const std::vector<Bool>& more);
  void give_invariant(const State&, Time);
  void require_accepted();
  void require_readers_accepted(std::size_t r);
  void require_copy_accepted(std::size_t k);
  void require_no_lowering_hazard();
  void require(const Bool& b) { assumptions_.push_back(b); }
  /// An assumption that only the step of node n builds on.
  void require_at(std::size_t n, const Bool& b) { at_node_[n].push_back(b); }

  std::size_t values() const { return kPlaceholders + count_; }
  std::size_t points() const { return kPoints * (count_ + 1); }
  Moment moment(const std::string& name, bool is_copy);
  Bool before(const Moment& first, const Moment& second) const;
  /// Over before the node runs.
  Bool before_node(const Moment& m, std::size_t n) const { return m[kPoints * (n + 1) - 1]; }
  Bool at(const Moment& m, std::size_t point) const;
  Moment reader_moment(std::size_t r) const;

  Tensor own(std::size_t storage, const Bool& half) const;
  Tensor select(const std::vector<Bool>& which, const std::vector<Tensor>& from) const;
  Tensor select(const Bool& condition, const Tensor& yes, const Tensor& otherwise) const;
  Tensor view(const Tensor& base, const Bool& half, const Bool& flip) const;
  Tensor result(std::size_t n, const std::vector<Tensor>& tensors, const Tensor& copied) const;
  Tensor shared_with(const Tensor& base) const;
  Bool select(const std::vector<Bool>& which, const std::vector<Bool>& from) const;
  Bool cell_of(const Tensor& t, std::size_t element) const;
  Bool covers(const Tensor& t, std::size_t storage, std::size_t cell) const;
  Bool same(const Tensor& a, const Tensor& b) const;
  Entry entry(const Tensor& t, const std::vector<Bool>& storage, const Bool& enabled) const;
  Cells cells(const std::vector<Bool>& value, const Bool& enabled) const;
  Bool reads_a(std::size_t n) const;
  Bool reads_b(std::size_t n) const;
  Entry rebased(std::size_t n) const;
  Tensor through(Tensor, std::size_t n) const;
  NodeCells unless(NodeCells, const Bool& condition, const std::vector<Bool>& chain) const;
  Entry untouched(std::size_t storage) const;
  BoundedDomain::Set cells_of_target(std::size_t k) const;
  Bool is_view_copy(const std::vector<Bool>& value) const;
  Bool born_before(const std::vector<Bool>& value, std::size_t n) const;
  NodeCells node_cells(std::size_t n) const;

  Bool name(std::size_t index, std::size_t field, std::size_t element) const;
  Bool poison(std::size_t index, std::size_t element) const;
  Memory initial() const;
  State any_state(Time) const;
  Pair load(const Memory&, const Tensor&) const;
  void store(Memory&, const Tensor&, const Pair&, const Bool& enabled, std::size_t storages) const;
  Bool element_at(const Tensor& t, const Pair& elements, std::size_t cell) const;
  Bool differ(const Pair&, const Pair&) const;
  void step(Memory&, std::size_t n, const std::vector<Tensor>& tensors, const Pair& copied, const Bool& copies,
            const Bool& right) const;
  void step_as_written(Memory&, std::size_t n) const;

  const Logic& logic_;
  std::size_t count_;
  Writes writes_;
  BoundedDomain domain_;
  std::vector<Bool> assumptions_;
  std::vector<std::vector<Bool>> at_node_;
  std::vector<Claim> claims_;
  std::vector<Bool> facts_;  ///< what all later claims may build on
  std::vector<Bool> given_;  ///< for the next claim

  std::vector<Tensor> written_, placed_, root_;  ///< of each value: as written; as lowered in the placed run; its chain's root
  std::vector<Bool> by_lowering_;                ///< of each value: placed_ differs from written_ by a lowering choice
  std::vector<Bool> live_;
  std::vector<Pair> meant_;         ///< what each reader should read: its value at the end of the run as written
  std::vector<Pair> read_;          ///< what it does read
  std::vector<Tensor> target_;      ///< of each copy
  std::vector<NodeCells> touched_;  ///< by each node
};

}  // namespace writeback::proofs
