// A program made ready for the interpreter: every value resolved to the tensors that it holds (a tuple holds several, `getitem` is
// but a second name for some of them), every node to a step with its operands, its results and its function symbol, and every
// "may" of an effect to a choice point. Steps know one op at a time; what aliases what is found by running them.
//
//   leaf     a tensor, or a scalar, that a value holds: placeholders first, then node after node
//   step     one per node, also for the nodes that do nothing at run time (getitem, get_attr of a subgraph)
//   choice   a number below ChoicePoint::options; 0 is always the plain reading: a copy, fresh, not written, not lowered
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "ref/graph/effects.h"
#include "ref/graph/program.h"
#include "ref/memory.h"
#include "ref/terms.h"

namespace writeback::ref {

struct LeafRange {
  std::uint32_t first = 0, count = 0;
};

struct Leaf {
  DType dtype = DType::unknown;
  RegionId shape = kNoRegion;  ///< its geometry where it is a fresh tensor; kNoRegion: a scalar, one cell
};

/// Ops that move cells and change none (but for casts), so that their results are no uninterpreted terms.
enum class Movement : std::uint8_t {
  none,
  view,   ///< a view op that copies: view_copy, and reshape and the like where they do not alias
  clone,  ///< clone, _to_copy: the same elements in a fresh storage
  copy    ///< copy_ and copy: operand 1, cast and broadcast to operand 0
};

struct OperandStep {
  LeafRange leaves;
  bool reads = false, writes = false;
  bool cellwise = false;  ///< of nodes that are born in a placeholder: the result may be written over it while it is read
};

struct ResultStep {
  LeafRange leaves;
  ResultKind kind = ResultKind::fresh;
  bool elementwise = false;
  std::uint32_t first_source = 0, source_count = 0;  ///< operands of the step by number
};

struct Step {
  NodeId node{};
  Name symbol{}, name{};  ///< the function, and the node's own name
  std::uint32_t first_operand = 0, operand_count = 0, first_result = 0, result_count = 0, first_scalar = 0, scalar_count = 0;
  std::uint32_t first_leaf = 0, leaf_count = 0;  ///< all leaves of all results
  Movement movement = Movement::none;
  bool idle = false;  ///< nothing to run
  bool random = false, uninitialized = false, observed = false, rebinds = false, opaque = false;
  std::uint32_t group = 0;      ///< _foreach_ ops: so many elements; operands k, k + group, ... belong together
  std::int32_t shares = -1;     ///< operand whose storage the result may take
  std::int32_t born_leaf = -1;  ///< `# born_in:`: the leaf in whose storage the result is born
  std::int32_t root_leaf = -1;  ///< view_copy: the leaf at the root of its chain
  std::int32_t choice = -1;     ///< its first choice point among the semantic ones
  std::int32_t lowering = -1;   ///< its choice point among the lowering ones
};

struct ChoicePoint {
  enum class Kind : std::uint8_t { may_alias, which_operand, opaque_write, opaque_result, view, share } kind = Kind::may_alias;
  NodeId node{};
  std::uint32_t options = 2, part = 0;  ///< part: the result or operand of the node that it is about
};

/// A placeholder's tensor at the start.
struct InputTensor {
  std::uint32_t storage = 0;
  RegionId region = kNoRegion;
};

struct InputStorage {
  Name name{};  ///< of its first placeholder: initial contents are the same for equal names
  std::uint32_t cells = 0;
  RegionId birth = kNoRegion;  ///< one-cell mode: the region that is the whole storage, where there is one
};

using Sizes = std::map<std::string, std::int64_t>;  ///< values of symbols

class Steps {
 public:
  /// `regions` and `symbols` are shared by all programs whose runs are to be compared. Throws InputError as Effects does.
  Steps(const Program&, const Options&, Regions& regions, Symbols& symbols, const Sizes& sizes = {});

  const Program& program() const { return program_; }
  const Effects& effects() const { return effects_; }
  std::span<const Step> steps() const { return steps_; }
  const Step& step(NodeId n) const { return steps_[index_of(n)]; }
  std::span<const OperandStep> operands(const Step& s) const { return {operands_.data() + s.first_operand, s.operand_count}; }
  std::span<const ResultStep> results(const Step& s) const { return {results_.data() + s.first_result, s.result_count}; }
  std::span<const std::uint32_t> sources(const ResultStep& r) const { return {sources_.data() + r.first_source, r.source_count}; }
  std::span<const std::uint32_t> scalars(const Step& s) const { return {scalars_.data() + s.first_scalar, s.scalar_count}; }
  const Leaf& leaf(std::uint32_t i) const { return leaves_[i]; }
  std::size_t leaf_count() const { return leaves_.size(); }
  LeafRange leaves_of(ValueId v) const { return ranges_[index_of(v)]; }

  std::span<const InputTensor> inputs() const { return inputs_; }
  std::span<const InputStorage> input_storages() const { return input_storages_; }

  /// A choice vector holds the semantic choices first (the meaning's run needs these alone), then the lowering ones.
  std::span<const ChoicePoint> semantic_choices() const { return semantic_; }
  std::span<const ChoicePoint> lowering_choices() const { return lowering_; }
  /// "y", "y: writes argument 1": the same for the same node and question in another program.
  std::string name_of(const ChoicePoint&) const;
  std::string describe(const ChoicePoint&, std::uint8_t choice) const;

  /// Region of element `element` of the view node over `base`; kNoRegion where the view does not exist.
  RegionId view(const Step&, std::uint32_t element, RegionId base) const;

  /// Symbols whose value was needed and not given.
  const std::vector<std::string>& unknown_sizes() const { return unknown_; }

 private:
  friend class StepsBuilder;
  struct ViewMemo {
    std::uint32_t element;
    RegionId base, result;
  };
  RegionId compute_view(const Step&, std::uint32_t element, RegionId base) const;

  const Program& program_;
  Effects effects_;
  Regions& regions_;
  Symbols& symbols_;
  Sizes sizes_;
  std::vector<Step> steps_;
  std::vector<OperandStep> operands_;
  std::vector<ResultStep> results_;
  std::vector<std::uint32_t> sources_, scalars_;
  std::vector<Leaf> leaves_;
  std::vector<LeafRange> ranges_;
  std::vector<InputTensor> inputs_;
  std::vector<InputStorage> input_storages_;
  std::vector<ChoicePoint> semantic_, lowering_;
  std::vector<std::string> unknown_;
  mutable std::vector<std::vector<ViewMemo>> views_;  // a list per node
};

/// What each choice point of a vector was settled to, by name.
std::map<std::string, std::string> describe_choices(const Steps&, std::span<const std::uint8_t> choices);
/// The name of an output's value, or its number.
std::string output_name(const Program&, std::uint32_t output);
/// Is the program larger than so many cells, or are its sizes not all numbers?
bool needs_one_cell(const Program&, std::uint64_t most_cells);

}  // namespace writeback::ref
