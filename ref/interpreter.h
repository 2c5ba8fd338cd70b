// The interpreter: storages of cells, tensors over them, one step at a time. A template over the domain of cell values, so that one
// text gives concrete runs, runs on terms and runs in a solver. It follows what effects.h says of each op and nothing else; what
// is uncertain it takes from the choice vector. Memory only grows during a run; nothing is ever freed or reused.
//
// A domain D gives
//   D::Cell                                             what a cell holds; cheap to copy, with a default
//   Cell initial(Name storage, uint32 cell)             the contents before the first node
//   Cell unspecified(Name node, uint32 cell)            what an uninitialised result holds
//   Cell cast(Cell, DType from, DType to)
//   void evaluate(const Call<Cell>&)                    fills call.outputs from call.inputs
//   Cell part(RegionId, Cell whole)                     one-cell mode: the region read out of a storage, and
//   Cell update(RegionId, Cell whole, Cell part)        the storage after the region was written
//
// In one-cell mode a cell stands for all elements of a tensor in row-major order, whatever its sizes, so that a reshape of a whole
// storage is the storage; function symbols tell the sizes of their operands.
//
// An observer sees what each step and each copy touches; the class Blind sees nothing.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "ref/graph/error.h"
#include "ref/steps.h"

namespace writeback::ref {

/// What a step writes: a fresh result or a written operand, `count` cells of the outputs from `first`.
struct Block {
  std::uint32_t number = 0;  ///< results' leaves by their place in the node, then the operands' leaves: the same in every run
  Tensor to;
  DType dtype = DType::unknown;
  std::uint32_t first = 0, count = 0;
};

/// A tensor that a step reads: `count` cells of the inputs from `first`.
struct Input {
  std::uint32_t leaf = 0;
  RegionId region = kNoRegion;
  std::uint32_t first = 0, count = 0;
};

template <typename Cell>
struct Call {
  const Steps& steps;
  const Step& step;
  std::span<const Input> operands;  ///< tensors and scalars read, in argument order, scalars behind
  std::span<const Cell> inputs;
  std::span<const Block> blocks;
  std::span<Cell> outputs;
};

/// Where a leaf's storage lies in an arena: the first byte, how many there are for it, and the bytes of one element.
struct Place {
  std::uint32_t offset = 0, bytes = 0, width = 0;
};

struct Blind {
  void read(NodeId, Tensor) {}
  void write(NodeId, Tensor) {}
  void rebind(NodeId, std::uint32_t /*identity of the tensor*/) {}
};

template <typename D, typename Observer = Blind>
class Interpreter {
 public:
  using Cell = typename D::Cell;

  Interpreter(const Steps& steps, Regions& regions, D& domain, Observer& observer)
      : steps_(steps), regions_(regions), domain_(domain), observer_(observer), one_cell_(regions.one_cell()) {}

  /// From now on the storages of these leaves lie in an arena of so many bytes, one cell a byte, an element at its first byte; the
  /// others have cells of their own. By leaf; a width of 0 = not in the arena. What the bytes of an element hold is lost as soon as
  /// one of them is written, or a result is born over it. Not in one-cell mode.
  void lay_out(std::vector<Place> places, std::uint32_t bytes) {
    places_ = std::move(places);
    arena_ = bytes;
  }

  /// Starts a run. `choices` holds the semantic choices and then the lowering ones (which may be left out: nothing is lowered);
  /// `returned[n]` tells that node n's result is returned as it is, so that its view_copy stays a copy.
  void start(std::span<const std::uint8_t> choices, std::span<const std::uint8_t> returned = {}) {
    choices_ = choices;
    returned_ = returned;
    trapped_ = false;
    overlapping_write_.reset();
    step_ = nullptr;
    cells_.clear();
    storages_.clear();
    tensors_.clear();
    tensor_of_.assign(steps_.leaf_count(), 0);
    observations_.clear();
    if (arena_ > 0) cells_.assign(arena_, lost_ = domain_.unspecified(Symbols::kGenerator, 0));
    for (std::uint32_t i = 0; i < steps_.input_storages().size(); ++i) add_input(i);
    std::uint32_t leaf = 0;
    for (const InputTensor& input : steps_.inputs()) bind(leaf++, {input.storage, input.region});
    generator_ = allocate(1, kNoRegion);
    cells_[storages_[generator_].first] = domain_.initial(Symbols::kGenerator, 0);
  }

  void run(const Step& s) {
    inputs_.clear();
    if (s.idle) return;
    step_ = &s;
    if (s.root_leaf >= 0 && lowered(s)) return run_lowered_view(s);
    if (s.born_leaf >= 0) write_early(s);
    if (arena_ > 0) write_over_places(s);
    gather(s);
    switch (s.movement) {
      case Movement::none:
        return s.group > 0 ? compute_element_by_element(s) : compute(s);
      case Movement::view:
      case Movement::clone:
        return move(s);
      case Movement::copy:
        return copy_into(s);
    }
  }

  /// A write-back: target.copy_(value). False where torch would raise, a trap: the value overlaps the target without being it, or,
  /// where an op changes a geometry in place, does not have its sizes yet.
  bool write_back(std::uint32_t target_leaf, Tensor value, std::uint32_t value_leaf) {
    const Tensor target = tensor(target_leaf);
    const Tensor source = broadcast(value, value_leaf, target, target_leaf);
    if (source.region == kNoRegion || overlap_wrongly(source, target)) trapped_ = true;
    if (source.region == kNoRegion) return false;
    inputs_.clear();
    read_cells(source, inputs_);
    cast_all(inputs_, steps_.leaf(value_leaf).dtype, steps_.leaf(target_leaf).dtype);
    write_cells(target, inputs_);
    return !trapped_;
  }

  /// A fresh copy of a tensor.
  Tensor clone(Tensor value, std::uint32_t leaf) {
    inputs_.clear();
    read_cells(value, inputs_);
    const Tensor result = fresh(dense(value.region, leaf));
    write_cells(result, inputs_);
    return result;
  }

  /// Writes cells as they are: the meaning's last act.
  void write_cells(Tensor to, std::span<const Cell> values) {
    const Storage& s = storages_[to.storage];
    if (one_cell_) {
      Cell& cell = cells_[s.first];
      cell = is_whole(s, to.region) ? values[0] : domain_.update(to.region, cell, values[0]);
      return;
    }
    const std::span<const std::uint32_t> at = regions_.cells(to.region);
    for (std::size_t i = 0; i < at.size(); ++i) {
      const std::size_t element = s.first + std::size_t{at[i]} * s.width;
      cells_[element] = values[i];
      for (std::size_t byte = 1; byte < s.width; ++byte) cells_[element + byte] = lost_;
    }
  }

  void read_cells(Tensor from, std::vector<Cell>& out) {
    const Storage& s = storages_[from.storage];
    if (one_cell_) return out.push_back(is_whole(s, from.region) ? cells_[s.first] : domain_.part(from.region, cells_[s.first]));
    for (const std::uint32_t cell : regions_.cells(from.region)) out.push_back(cells_[s.first + std::size_t{cell} * s.width]);
  }

  /// The cells of `value` as they would arrive in `target`: broadcast and cast.
  void read_for(std::uint32_t target_leaf, Tensor value, std::uint32_t value_leaf, std::vector<Cell>& out) {
    const Tensor source = broadcast(value, value_leaf, tensor(target_leaf), target_leaf);
    if (source.region == kNoRegion) throw InputError("", "a value cannot be broadcast to the tensor that it is copied to");
    read_cells(source, out);
    cast_all(out, steps_.leaf(value_leaf).dtype, steps_.leaf(target_leaf).dtype);
  }

  Tensor tensor(std::uint32_t leaf) const { return tensors_[tensor_of_[leaf]]; }
  /// Leaves with equal identity are names of one tensor.
  std::uint32_t identity(std::uint32_t leaf) const { return tensor_of_[leaf]; }
  std::span<const Cell> storage(std::uint32_t s) const { return {cells_.data() + storages_[s].first, storages_[s].count}; }
  /// First cell of a storage, in a numbering of all cells of the run.
  std::uint32_t first_cell(std::uint32_t storage) const { return storages_[storage].first; }
  /// The slot after which a storage exists: 0 for those of the inputs.
  std::uint32_t born(std::uint32_t storage) const { return storages_[storage].born; }
  std::size_t cell_count() const { return cells_.size(); }
  /// What the last step read, and what asserts and the like saw.
  std::span<const Cell> last_inputs() const { return inputs_; }
  std::span<const Cell> observations() const { return observations_; }
  bool trapped() const { return trapped_; }
  /// The first node that wrote a tensor that overlaps itself, which torch refuses. (A part that an opaque op returns may be such a
  /// one under some choice; that is no fault of the program.)
  std::optional<NodeId> overlapping_write() const { return overlapping_write_; }

 private:
  struct Storage {
    std::uint32_t first, count;
    RegionId birth;           ///< one-cell mode: the region that is all of it
    std::uint32_t born;       ///< the slot after which it exists
    std::uint32_t width = 1;  ///< cells from one element to the next
  };

  static constexpr std::uint32_t kNoLeaf = ~0u;
  static std::uint32_t size32(const auto& list) { return static_cast<std::uint32_t>(list.size()); }

  std::uint8_t choice(const Step& s, std::uint32_t nth) const { return choices_[static_cast<std::uint32_t>(s.choice) + nth]; }
  bool lowered(const Step& s) const {
    const std::size_t at = steps_.semantic_choices().size() + static_cast<std::uint32_t>(s.lowering);
    return s.lowering >= 0 && at < choices_.size() && choices_[at] != 0;
  }

  void bind(std::uint32_t leaf, Tensor t) {
    tensor_of_[leaf] = size32(tensors_);
    tensors_.push_back(t);
  }

  /// So many cells, where the arena has a place for the leaf or behind all others.
  std::uint32_t allocate(std::uint32_t count, RegionId birth, std::uint32_t leaf = kNoLeaf) {
    const std::uint32_t born = step_ == nullptr ? 0 : static_cast<std::uint32_t>(index_of(step_->node)) + 1;
    if (const Place* place = place_for(leaf, count)) {
      storages_.push_back({place->offset, count, birth, born, place->width});
    } else {
      storages_.push_back({size32(cells_), count, birth, born});
      cells_.resize(cells_.size() + count);
    }
    return size32(storages_) - 1;
  }

  /// Where the arena has room for so many elements of a leaf; nullptr where it has none.
  const Place* place_for(std::uint32_t leaf, std::uint32_t count) const {
    if (leaf >= places_.size() || places_[leaf].width == 0) return nullptr;
    const Place& place = places_[leaf];
    return std::uint64_t{count} * place.width <= place.bytes && place.bytes <= arena_ - place.offset ? &place : nullptr;
  }

  void add_input(std::uint32_t number) {
    const InputStorage& input = steps_.input_storages()[number];
    const auto leaf_of = [&] {  // none: its placeholder lies in the storage of another
      const auto first = std::ranges::find(steps_.inputs(), number, &InputTensor::storage);
      return first == steps_.inputs().end() ? kNoLeaf : static_cast<std::uint32_t>(first - steps_.inputs().begin());
    };
    const std::uint32_t leaf = arena_ == 0 ? kNoLeaf : leaf_of();
    const Storage& s = storages_[allocate(one_cell_ ? 1 : input.cells, input.birth, leaf)];
    for (std::uint32_t i = 0; i < s.count; ++i) cells_[s.first + i * s.width] = domain_.initial(input.name, i);
  }

  /// A new storage for a tensor of this shape; its cells are unspecified until they are written.
  Tensor fresh(RegionId shape, std::uint32_t leaf = kNoLeaf) {
    const Region* geometry = shape == kNoRegion || one_cell_ ? nullptr : regions_.geometry(shape);
    const auto count = geometry != nullptr ? static_cast<std::uint32_t>(geometry->end()) : 1;
    const std::uint32_t storage = allocate(count, shape, leaf);
    const bool gaps = geometry != nullptr && step_ != nullptr && geometry->numel() != geometry->end();
    for (std::uint32_t k = 0; gaps && k < count; ++k) {
      cells_[storages_[storage].first + k * storages_[storage].width] = domain_.unspecified(step_->name, 0);
    }
    return {storage, shape == kNoRegion ? scalar_region() : shape};
  }
  RegionId scalar_region() { return scalar_ == kNoRegion ? scalar_ = regions_.intern({}) : scalar_; }
  /// The shape of a fresh copy of a region.
  RegionId dense(RegionId region, std::uint32_t leaf) {
    const Region* geometry = regions_.geometry(region);
    if (geometry == nullptr) return steps_.leaf(leaf).shape;
    return regions_.intern(Region::contiguous(geometry->sizes));
  }

  bool is_whole(const Storage& s, RegionId region) const {
    return s.birth == kNoRegion ? region == scalar_ : regions_.same_elements(s.birth, region);
  }

  bool share_a_cell(Tensor a, Tensor b) { return a.storage == b.storage && regions_.may_overlap(a.region, b.region); }
  bool overlap_wrongly(Tensor source, Tensor target) {
    return source.storage == target.storage && !regions_.same(source.region, target.region) && share_a_cell(source, target);
  }

  /// Without a region where the sizes do not fit.
  Tensor broadcast(Tensor value, std::uint32_t value_leaf, Tensor target, std::uint32_t target_leaf) {
    if (regions_.geometry(value.region) == nullptr && steps_.leaf(value_leaf).shape == steps_.leaf(target_leaf).shape) return value;
    return {value.storage, regions_.expand(value.region, target.region)};
  }

  void cast_all(std::vector<Cell>& cells, DType from, DType to) {
    if (from == to || from == DType::unknown || to == DType::unknown) return;
    for (Cell& cell : cells) cell = domain_.cast(cell, from, to);
  }

  void read_leaf(std::uint32_t leaf) {
    const Tensor t = tensor(leaf);
    const std::uint32_t first = size32(inputs_);
    read_cells(t, inputs_);
    operands_.push_back({leaf, t.region, first, size32(inputs_) - first});
  }

  /// A result that is born over an operand: the kernel may have written any of it before it reads, but for operands that it reads
  /// cell by cell at the very same place.
  void write_early(const Step& s) {
    const Tensor target = tensor(static_cast<std::uint32_t>(s.born_leaf));
    bool overwrites = false;
    for (const OperandStep& operand : steps_.operands(s)) {
      for (std::uint32_t i = 0; i < operand.leaves.count && operand.reads; ++i) {
        const Tensor read = tensor(operand.leaves.first + i);
        overwrites |= share_a_cell(read, target) && !(operand.cellwise && regions_.same(read.region, target.region));
      }
    }
    if (!overwrites) return;
    std::vector<Cell> anything(regions_.cells(target.region).size());
    for (std::uint32_t i = 0; i < anything.size(); ++i) anything[i] = domain_.unspecified(s.name, i);
    write_cells(target, anything);
  }

  /// On an arena: a kernel may have written any of its fresh results before it reads.
  void write_over_places(const Step& s) {
    if (s.born_leaf >= 0 || (s.shares >= 0 && lowered(s))) return;
    for (std::uint32_t i = 0; i < s.leaf_count; ++i) {
      const Place* place = place_for(s.first_leaf + i, 0);
      if (place != nullptr) std::fill_n(cells_.begin() + place->offset, place->bytes, lost_);
    }
  }

  void gather(const Step& s) {
    inputs_.clear();
    operands_.clear();
    for (const OperandStep& operand : steps_.operands(s)) {
      if (!operand.reads) continue;
      for (std::uint32_t i = 0; i < operand.leaves.count; ++i) {
        read_leaf(operand.leaves.first + i);
      }
    }
    for (const std::uint32_t scalar : steps_.scalars(s)) read_leaf(scalar);
    if (s.random) inputs_.push_back(cells_[storages_[generator_].first]);
  }

  /// Tells the observer of the reads; views that turn out as aliases read nothing, so this is not done in gather.
  void observe_reads(const Step& s) {
    for (const Input& input : operands_) observer_.read(s.node, tensor(input.leaf));
  }

  /// A result under the current choices: an existing tensor, or fresh.
  void compute(const Step& s) {
    blocks_.clear();
    std::uint32_t nth = 0;
    bool computed = s.result_count == 0;
    for (const ResultStep& r : steps_.results(s)) {
      for (std::uint32_t i = 0; i < r.leaves.count; ++i) computed |= bind_result(s, r, i, nth);
      nth += choices_of(r);
    }
    std::uint32_t number = s.leaf_count;
    for (const OperandStep& operand : steps_.operands(s)) {
      const bool writes = operand.writes && (!s.opaque || choice(s, nth) != 0);
      nth += s.opaque && operand.writes;
      for (std::uint32_t i = 0; i < operand.leaves.count; ++i, ++number) {
        if (writes) write_later(number, tensor(operand.leaves.first + i), steps_.leaf(operand.leaves.first + i).dtype);
      }
      computed |= operand.writes;
    }
    if (!computed && !s.opaque && !s.observed) return inputs_.clear();  // views alone: nothing was read
    observe_reads(s);
    evaluate(s);
  }

  /// _foreach_ ops: element i of the result, or of the written list, from element i of every list, one after the other.
  void compute_element_by_element(const Step& s) {
    const std::span<const OperandStep> operands = steps_.operands(s);
    for (std::uint32_t i = 0; i < s.group; ++i) {
      inputs_.clear();
      operands_.clear();
      blocks_.clear();
      for (std::size_t k = i; k < operands.size(); k += s.group) {
        if (operands[k].reads) read_leaf(operands[k].leaves.first);
      }
      for (const std::uint32_t scalar : steps_.scalars(s)) read_leaf(scalar);
      observe_reads(s);
      const std::uint32_t self = operands[i].leaves.first;
      if (operands[i].writes)
        write_later(s.leaf_count + i, tensor(self), steps_.leaf(self).dtype);
      else
        bind_fresh(s, s.first_leaf + i);
      evaluate(s);
    }
  }

  std::uint32_t choices_of(const ResultStep& r) const {
    switch (r.kind) {
      case ResultKind::may_alias:
      case ResultKind::opaque:
        return r.leaves.count;
      case ResultKind::alias:
        return r.source_count > 1 && !r.elementwise ? r.leaves.count : 0;
      case ResultKind::none:
      case ResultKind::fresh:
      case ResultKind::same:
        return 0;
    }
    return 0;
  }

  std::uint32_t source_leaf(const Step& s, const ResultStep& r, std::uint32_t i, std::uint32_t which) const {
    const std::span<const std::uint32_t> sources = steps_.sources(r);
    const OperandStep& operand = steps_.operands(s)[sources[r.elementwise ? std::min<std::size_t>(i, sources.size() - 1) : which]];
    return operand.leaves.first + (r.elementwise && sources.size() == 1 ? std::min(i, operand.leaves.count - 1) : 0);
  }

  /// Binds leaf i of a result; true where it is fresh and must be computed.
  bool bind_result(const Step& s, const ResultStep& r, std::uint32_t i, std::uint32_t nth) {
    const std::uint32_t leaf = r.leaves.first + i, element = r.elementwise ? 0 : i;
    if (s.rebinds) return bind_rebound(s, leaf, source_leaf(s, r, i, 0));
    switch (r.kind) {
      case ResultKind::none:
      case ResultKind::fresh:
        return bind_fresh(s, leaf);
      case ResultKind::same:
        tensor_of_[leaf] = tensor_of_[source_leaf(s, r, i, 0)];
        return false;
      case ResultKind::alias: {
        const std::uint32_t which = choices_of(r) > 0 ? choice(s, nth + i) : 0;
        return bind_view(s, leaf, element, tensor(source_leaf(s, r, i, which)));
      }
      case ResultKind::may_alias: {
        const std::uint8_t which = choice(s, nth + i);
        if (which == 0) return bind_fresh(s, leaf);
        return bind_view(s, leaf, element, tensor(source_leaf(s, r, i, which - 1u)));
      }
      case ResultKind::opaque: {
        const std::uint8_t which = choice(s, nth + i);
        if (which == 0) return bind_fresh(s, leaf);
        return bind_part(s, leaf, tensor(source_leaf(s, r, 0, (which - 1u) / 2)), which % 2 == 0);
      }
    }
    return false;
  }

  bool bind_fresh(const Step& s, std::uint32_t leaf) {
    if (s.born_leaf >= 0) {
      tensor_of_[leaf] = tensor_of_[static_cast<std::uint32_t>(s.born_leaf)];
      write_later(leaf - s.first_leaf, tensor(leaf), steps_.leaf(leaf).dtype);
      return true;
    }
    if (s.shares >= 0 && lowered(s)) {
      const Tensor shared = shared_tensor(s, leaf);
      if (shared.region != kNoRegion) {
        bind(leaf, shared);
        write_later(leaf - s.first_leaf, shared, steps_.leaf(leaf).dtype);
        return true;
      }
    }
    bind(leaf, fresh(steps_.leaf(leaf).shape, leaf));
    blocks_.push_back({leaf - s.first_leaf, tensor(leaf), steps_.leaf(leaf).dtype, 0, 0});
    return true;
  }

  /// The result in the storage of the argument that it shares its allocation with: where that begins, if there is room.
  Tensor shared_tensor(const Step& s, std::uint32_t leaf) {
    const Tensor base = tensor(steps_.operands(s)[static_cast<std::uint32_t>(s.shares)].leaves.first);
    const Region *from = regions_.geometry(base.region), *to = regions_.geometry(steps_.leaf(leaf).shape);
    if (one_cell_ || from == nullptr || to == nullptr) return base;
    const Region placed{from->offset, to->sizes, to->strides};
    if (placed.end() > storages_[base.storage].count) return {};
    return {base.storage, regions_.intern(placed)};
  }

  /// t_ and the like: the operand itself, under all its names, gets another geometry.
  bool bind_rebound(const Step& s, std::uint32_t leaf, std::uint32_t source) {
    tensor_of_[leaf] = tensor_of_[source];
    observer_.rebind(s.node, tensor_of_[source]);
    const RegionId region = steps_.view(s, 0, tensor(source).region);
    if (region != kNoRegion) tensors_[tensor_of_[source]].region = region;
    return false;
  }

  bool bind_view(const Step& s, std::uint32_t leaf, std::uint32_t element, Tensor base) {
    const RegionId region = steps_.view(s, element, base.region);
    if (region == kNoRegion) return bind_fresh(s, leaf);  // the alias does not exist: torch copies
    bind(leaf, {base.storage, region});
    return false;
  }

  /// An opaque op returns all of an argument, or a part of it that is not the argument.
  bool bind_part(const Step& s, std::uint32_t leaf, Tensor base, bool part) {
    if (!one_cell_) {
      const Region& whole = *regions_.geometry(base.region);
      const Region* shape = regions_.geometry(steps_.leaf(leaf).shape == kNoRegion ? scalar_region() : steps_.leaf(leaf).shape);
      if (whole.is_empty()) return bind_fresh(s, leaf);
      if (part || shape->sizes != whole.sizes)
        base.region = regions_.intern(part ? part_of(whole, shape->sizes) : reshaped(whole, shape->sizes));
    } else if (part) {
      base.region = regions_.intern_path(base.region, fmt::format("part by node {}", index_of(s.node)));
    }
    bind(leaf, base);
    return false;
  }

  /// All of a contiguous region, in other sizes; else a part of it.
  static Region reshaped(const Region& whole, const std::vector<std::int64_t>& sizes) {
    Region r = Region::contiguous(sizes, whole.offset);
    return r.numel() == whole.numel() && whole.strides == contiguous_strides(whole.sizes) ? r : part_of(whole, sizes);
  }

  /// A region of the given sizes inside `whole`: along its last dimension where that is long enough, else one cell repeated.
  static Region part_of(const Region& whole, const std::vector<std::int64_t>& sizes) {
    Region r{whole.offset, sizes, std::vector<std::int64_t>(sizes.size(), 0)};
    const std::int64_t length = whole.sizes.empty() ? 1 : whole.sizes.back();
    if (std::int64_t numel = r.numel(); numel <= length && numel < whole.numel()) {
      for (std::size_t d = 0; d < sizes.size() && numel > 0; ++d) r.strides[d] = (numel /= sizes[d]) * whole.strides.back();
    }
    return r;
  }

  void write_later(std::uint32_t number, Tensor to, DType dtype) {
    if (regions_.overlaps_itself(to.region) && !overlapping_write_) overlapping_write_ = step_->node;
    observer_.write(step_->node, to);
    blocks_.push_back({number, to, dtype, 0, 0});
  }

  void evaluate(const Step& s) {
    std::uint32_t count = 0;
    for (Block& b : blocks_) {
      b.first = count;
      b.count = size32(regions_.cells(b.to.region));
      count += b.count;
    }
    if (outputs_.size() < count) outputs_.resize(count);
    if (s.uninitialized) {
      for (std::uint32_t i = 0; i < count; ++i) outputs_[i] = domain_.unspecified(s.name, i);
    } else if (count > 0 || s.observed) {
      if (s.observed) observations_.insert(observations_.end(), inputs_.begin(), inputs_.end());
      domain_.evaluate(Call<Cell>{steps_, s, operands_, inputs_, blocks_, {outputs_.data(), count}});
    }
    for (const Block& b : blocks_) write_cells(b.to, {outputs_.data() + b.first, b.count});
    if (s.random) cells_[storages_[generator_].first] = domain_.unspecified(s.name, count);
  }

  /// View ops that copy, and clones: the same elements in the same order, or as the view picks them.
  void move(const Step& s) {
    const ResultStep& r = steps_.results(s)[0];
    const std::uint32_t source = source_leaf(s, r, 0, 0), leaf = r.leaves.first;
    if (r.kind == ResultKind::may_alias && choice(s, 0) != 0) {
      const RegionId region = steps_.view(s, 0, tensor(source).region);
      if (region != kNoRegion) return inputs_.clear(), bind(leaf, {tensor(source).storage, region});
    }
    move_from(s, source, leaf);
  }

  void move_from(const Step& s, std::uint32_t source, std::uint32_t leaf) {
    const Tensor from = tensor(source);
    observer_.read(s.node, from);
    inputs_.clear();
    read_cells(from, inputs_);
    const RegionId logical = dense(from.region, source);
    RegionId picked = s.movement == Movement::view ? steps_.view(s, 0, logical) : logical;
    if (picked == kNoRegion) picked = logical;
    blocks_.clear();
    bind_fresh(s, leaf);
    if (one_cell_) {
      outputs_.assign(1, regions_.same_elements(picked, logical) ? inputs_[0] : domain_.part(picked, inputs_[0]));
    } else {
      outputs_.clear();
      for (const std::uint32_t cell : regions_.cells(picked)) outputs_.push_back(inputs_[cell]);
    }
    cast_all(outputs_, steps_.leaf(source).dtype, steps_.leaf(leaf).dtype);
    write_cells(tensor(leaf), outputs_);
  }

  /// A view_copy after lowering: the root's storage seen through it; where it is returned it stays a copy, but of the root.
  void run_lowered_view(const Step& s) {
    const ResultStep& r = steps_.results(s)[0];
    const auto root = static_cast<std::uint32_t>(s.root_leaf);
    const bool stays = index_of(s.node) < returned_.size() && returned_[index_of(s.node)] != 0;
    const RegionId region = stays ? kNoRegion : steps_.view(s, 0, tensor(root).region);
    if (region != kNoRegion) return bind(r.leaves.first, {tensor(root).storage, region});
    move_from(s, root, r.leaves.first);
  }

  /// copy_(self, src) writes self; copy(self, src) gives a fresh tensor of self's sizes.
  void copy_into(const Step& s) {
    const std::span<const OperandStep> operands = steps_.operands(s);
    const std::uint32_t self = operands[0].leaves.first, source = operands[1].leaves.first, leaf = s.first_leaf;
    observer_.read(s.node, tensor(source));
    inputs_.clear();
    read_for(self, tensor(source), source, inputs_);
    blocks_.clear();
    if (operands[0].writes) {
      write_later(s.leaf_count, tensor(self), steps_.leaf(self).dtype);
      if (s.leaf_count > 0) tensor_of_[leaf] = tensor_of_[self];
    } else {
      bind_fresh(s, leaf);
    }
    write_cells(operands[0].writes ? tensor(self) : tensor(leaf), inputs_);
  }

  const Steps& steps_;
  Regions& regions_;
  D& domain_;
  Observer& observer_;
  const bool one_cell_;
  std::span<const std::uint8_t> choices_, returned_;
  bool trapped_ = false;
  std::optional<NodeId> overlapping_write_;
  const Step* step_ = nullptr;
  std::vector<Place> places_;
  std::uint32_t arena_ = 0;
  Cell lost_{};  ///< in a byte whose element is no longer whole
  std::uint32_t generator_ = 0;
  RegionId scalar_ = kNoRegion;
  std::vector<Cell> cells_, inputs_, outputs_, observations_;
  std::vector<Storage> storages_;
  std::vector<Tensor> tensors_;
  std::vector<std::uint32_t> tensor_of_;
  std::vector<Input> operands_;
  std::vector<Block> blocks_;
};

}  // namespace writeback::ref
