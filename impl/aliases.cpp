#include "impl/aliases.h"

#include <algorithm>
#include <unordered_map>

#include "impl/liveness.h"
#include "ref/graph/error.h"
#include "ref/graph/view_geometry.h"

namespace writeback::impl {
inline namespace WRITEBACK_BUILD {
namespace {

constexpr std::size_t kMaxEntriesOfSet = 1024;
constexpr std::size_t kMaxEntriesTouched = std::size_t{1} << 24;

/// The sizes as numbers; nullopt where one is symbolic.
std::optional<std::vector<std::int64_t>> numbers(const std::vector<SymInt>& from) {
  std::vector<std::int64_t> result;
  result.reserve(from.size());
  for (const SymInt& x : from) {
    if (!x.is_number()) return std::nullopt;
    result.push_back(x.number());
  }
  return result;
}

/// The region of a tensor that begins its storage: contiguous unless its strides are told.
std::optional<Region> region_from_meta(const ValueMeta& meta) {
  const TensorMeta* tensor = tensor_meta(meta);
  if (tensor == nullptr) return std::nullopt;
  auto sizes = numbers(tensor->sizes);
  if (!sizes) return std::nullopt;
  if (!tensor->strides || tensor->strides->size() != sizes->size()) return Region::contiguous(std::move(*sizes));
  auto strides = numbers(*tensor->strides);
  if (!strides) return std::nullopt;
  return Region{0, std::move(*sizes), std::move(*strides)};
}

/// Planted: operands that a careless walk does not see.
bool overlooked(const Program& program, const Effects& effects, NodeId n, ValueId operand) {
  if (!planted(Fault::lists_not_flattened) && !planted(Fault::keywords_missed)) return false;
  if (effects.has(n, Trait::getitem)) return false;
  const bool lists = planted(Fault::lists_not_flattened);
  bool direct = false, keyword = false;
  for (const Argument& a : program.graph.node(n).args) direct = direct || (as_value(a) != nullptr && *as_value(a) == operand);
  for (const KeywordArgument& k : program.graph.node(n).kwargs)
    for_each_value(k.value, [&](ValueId v) { keyword = keyword || v == operand; });
  return !direct && keyword != lists;
}

class Walk {
 public:
  Walk(const Program& program, const Effects& effects, const Options& options, const std::vector<WriteBack>& write_backs,
       const std::vector<bool>& returned, bool coarse)
      : program_(program),
        graph_(program.graph),
        effects_(effects),
        lowering_(options.lowering == Lowering::executorch),
        interest_(program, effects, write_backs, lowering_),
        returned_(returned) {
    const std::size_t values = graph_.value_count();
    out_.coarse = coarse;
    out_.cells.assign(values, SetId::empty);
    out_.tensor.resize(values);
    for (std::size_t v = 0; v < values; ++v) out_.tensor[v] = value_id(v);
    out_.birth.assign(values, 0);
    out_.settled.assign(values, 0);
    root_ = out_.base = out_.tensor;
    unknown_ = out_.regions.unknown();
    out_.live = live_nodes(program, effects);
    list_getitems();
  }

  /// False where the sets grow beyond measure.
  bool run() {
    place_placeholders();
    for (std::size_t n = 0; n < graph_.nodes.size() && !overgrown_; ++n) visit(node_id(n));
    for (std::size_t v = 0; v < out_.cells.size(); ++v) {  // a re-bound tensor has its last geometry under all its names
      const std::size_t first = index_of(out_.tensor[v]);
      out_.cells[v] = out_.cells[first];
      if (v != first && rebound_) out_.settled[v] = std::max(out_.settled[v], out_.settled[first]);
    }
    return !overgrown_;
  }

  Aliases take() { return std::move(out_); }

 private:
  // getitems of one producer: a list through next_getitem_, starting at first_getitem_, by value.
  void list_getitems() {
    for (std::size_t i = graph_.nodes.size(); i-- > 0;) {
      const NodeId n = node_id(i);
      if (!effects_.has(n, Trait::getitem) || effects_.operands(n).empty()) continue;
      if (first_getitem_.empty()) {
        first_getitem_.assign(graph_.value_count(), kNone);
        next_getitem_.assign(graph_.value_count(), kNone);
      }
      const std::size_t from = index_of(effects_.operands(n)[0].value), self = index_of(graph_.result_of(n));
      next_getitem_[self] = first_getitem_[from];
      first_getitem_[from] = static_cast<std::uint32_t>(self);
    }
  }

  template <typename F>
  void for_each_getitem(ValueId of, F&& f) const {
    if (first_getitem_.empty()) return;
    for (std::uint32_t g = first_getitem_[index_of(of)]; g != kNone; g = next_getitem_[g]) {
      f(value_id(g), effects_.getitem_index(graph_.producer_of(value_id(g))));
    }
  }

  // Entries are collected in entries_ and then given to a value.

  void assign(ValueId v) {
    if (entries_.size() > kMaxEntriesOfSet) overgrown_ = true;
    if (out_.coarse) {
      for (Entry& e : entries_) e = {interest_.class_of(v), unknown_, e.lowered() ? kHomeless : kPlain, CauseId::none};
    }
    out_.cells[index_of(v)] = out_.sets.intern(entries_);
    entries_.clear();
  }

  RegionId own_region(ValueId v) {
    if (const auto region = region_from_meta(graph_.meta_of(v))) return out_.regions.intern(*region);
    return out_.regions.add_symbolic();
  }

  void place_placeholders() {
    for (std::size_t i = 0; i < graph_.placeholders.size(); ++i) {
      if (!interest_.in(value_id(i))) continue;
      entries_.push_back({value_id(i), own_region(value_id(i))});
      assign(value_id(i));
    }
    for (const auto& group : program_.alias_groups) place_group(group);
  }

  /// Members of one group share the first one's storage. Where their elements differ in size, cells cannot be told apart.
  void place_group(const std::vector<AliasMember>& group) {
    if (planted(Fault::alias_group_lost)) return;
    const auto width = [&](const AliasMember& m) {
      const TensorMeta* meta = tensor_meta(graph_.meta_of(m.value));
      return meta != nullptr ? byte_size(meta->dtype) : 0;
    };
    const bool one_width = std::ranges::all_of(group, [&](const AliasMember& m) { return width(m) == width(group.front()); });
    for (const AliasMember& m : group) {
      if (!interest_.in(m.value)) continue;
      RegionId region = out_.regions.add_symbolic();
      if (one_width) {
        region =
            m.geometry ? out_.regions.intern({m.geometry->offset, m.geometry->sizes, m.geometry->strides}) : own_region(m.value);
      }
      entries_.push_back({group.front().value, region});
      assign(m.value);
    }
  }

  void visit(NodeId n) {
    const ValueId self = graph_.result_of(n);
    out_.settled[index_of(self)] = static_cast<std::uint32_t>(index_of(n)) + 1;
    if (!effects_.has(n, Trait::getitem)) out_.birth[index_of(self)] = out_.settled[index_of(self)];
    const auto operands = effects_.operands(n);
    if (std::ranges::none_of(operands, [&](const OperandEffect& o) { return interest_.in(o.value); }) && !interest_.in(self))
      return;
    for (const OperandEffect& o : operands) {
      if (!overlooked(program_, effects_, n, o.value)) touch(n, o.value, cells_of(o.value), reads(n, o), o.writes && !pure(n));
    }
    if (effects_.has(n, Trait::getitem)) return;  // done with its producer
    if (lowering_ && effects_.has(n, Trait::later_alias) && interest_.in(self)) note_chain(n);
    if (interest_.in(self)) give_results(n, self);
    if (const std::int32_t o = effects_.shares_allocation_of(n); o >= 0)
      share_allocation(n, operands[static_cast<std::size_t>(o)].value);
    if (effects_.has(n, Trait::rebinds)) rebind(n, self);
  }

  bool pure(NodeId n) const { return planted(Fault::opaque_is_pure) && effects_.has(n, Trait::opaque); }
  bool reads(NodeId n, const OperandEffect& o) const {
    if (planted(Fault::subgraph_reads_missed) && effects_.has(n, Trait::subgraph)) return false;
    return o.reads || (planted(Fault::metadata_readers_hold) && !o.writes);
  }

  SetId cells_of(ValueId v) const { return out_.cells[index_of(out_.tensor[index_of(v)])]; }

  void touch(NodeId n, ValueId value, SetId cells, bool reads, bool writes) {
    reads = reads && out_.live[index_of(n)];
    if (cells == SetId::empty || !(reads || writes)) return;
    if (writes) refuse_self_overlap(n, cells);
    out_.touches.push_back({n, value, cells, reads, writes});
    touched_ += out_.sets[cells].size();
    if (touched_ > kMaxEntriesTouched) overgrown_ = true;
  }

  void refuse_self_overlap(NodeId n, SetId cells) const {
    const auto entries = out_.sets[cells];
    if (entries.size() != 1 || entries[0].lowered()) return;
    if (out_.regions.find(entries[0].region) != nullptr && !out_.regions.injective(entries[0].region)) {
      throw InputError("node %" + graph_.node(n).name, "writes a tensor that overlaps itself");
    }
  }

  void give_results(NodeId n, ValueId self) {
    const auto results = effects_.results(n);
    if (results.size() == 1 && !results[0].list) return give_result(n, results[0], 0, self);
    give_tuple(n, results, self);
  }

  /// The first getitem of each index.
  using Picked = std::unordered_map<std::int64_t, ValueId>;

  /// Two getitems of one index are the very same tensor.
  bool is_picked_again(Picked& picked, std::int64_t index, ValueId item) {
    const auto [at, first] = picked.emplace(index, item);
    if (first) return false;
    out_.tensor[index_of(item)] = out_.tensor[index_of(at->second)];
    out_.birth[index_of(item)] = out_.birth[index_of(at->second)];
    const ValueId base = out_.base[index_of(at->second)];
    out_.base[index_of(item)] = base == at->second ? at->second : base;
    return true;
  }

  /// A tuple or list, and the getitems that pick from it. What no getitem picks is a storage of the tuple's own or an unknown part
  /// of an operand.
  void give_tuple(NodeId n, std::span<const ResultEffect> results, ValueId self) {
    std::vector<Entry> all{{self, unknown_}};
    const auto include = [&](ValueId v) { all.insert(all.end(), entries_of(v).begin(), entries_of(v).end()); };
    Picked picked;
    for_each_getitem(self, [&](ValueId item, std::int64_t index) {
      if (planted(Fault::getitem_index_ignored)) index = 0;
      const bool is_list = results.size() == 1;
      const bool there = is_list || (index >= 0 && static_cast<std::size_t>(index) < results.size());  // else it is not well-formed
      if (is_picked_again(picked, index, item) || !there) return;
      if (is_list) {
        give_result(n, results[0], index, item);
      } else if (const ResultEffect& result = results[static_cast<std::size_t>(index)]; !result.list) {
        give_result(n, result, 0, item);
      } else {
        Picked elements;
        for_each_getitem(item, [&](ValueId element, std::int64_t j) {
          if (!is_picked_again(elements, j, element)) give_result(n, result, j, element);
        });
        give_whole_list(n, result, item);
      }
      include(item);
    });
    for (const ResultEffect& result : results) {
      for (const std::uint32_t o : result.operands) add_parts(effects_.operands(n)[o].value);
    }
    entries_.insert(entries_.end(), all.begin(), all.end());
    assign(self);
  }

  /// A list inside a tuple, as a whole.
  void give_whole_list(NodeId n, const ResultEffect& result, ValueId item) {
    std::vector<Entry> all{{item, unknown_}};
    for_each_getitem(item, [&](ValueId v, std::int64_t) { all.insert(all.end(), entries_of(v).begin(), entries_of(v).end()); });
    for (const std::uint32_t o : result.operands) add_parts(effects_.operands(n)[o].value);
    entries_.insert(entries_.end(), all.begin(), all.end());
    assign(item);
  }

  std::span<const Entry> entries_of(ValueId v) const { return out_.sets[cells_of(v)]; }

  void give_result(NodeId n, const ResultEffect& result, std::int64_t element, ValueId self) {
    out_.birth[index_of(self)] = static_cast<std::uint32_t>(index_of(n)) + 1;
    // Element i of an element-wise list relates to one operand only.
    auto related = result.operands;
    if (result.elementwise && element >= 0 && static_cast<std::size_t>(element) < related.size()) {
      related = related.subspan(static_cast<std::size_t>(element), 1);
    }
    const auto operands = effects_.operands(n);
    if (result.kind == ResultKind::fresh || result.kind == ResultKind::may_alias || result.kind == ResultKind::opaque) {
      entries_.push_back({self, own_region(self)});
    }
    for (const std::uint32_t o : related) relate(n, result, element, operands[o].value, self);
    if (effects_.has(n, Trait::later_alias)) lower_to_root(n, self);
    if (result.kind == ResultKind::same && related.size() == 1) {
      out_.tensor[index_of(self)] = out_.tensor[index_of(operands[related[0]].value)];
      entries_.clear();
    } else {
      assign(self);
    }
  }

  void relate(NodeId n, const ResultEffect& result, std::int64_t element, ValueId operand, ValueId self) {
    switch (result.kind) {
      case ResultKind::none:
      case ResultKind::fresh:
        return;
      case ResultKind::same: {
        inherit_birth(self, operand);
        const auto entries = entries_of(operand);
        entries_.insert(entries_.end(), entries.begin(), entries.end());
        return;
      }
      case ResultKind::may_alias:
        if (planted(Fault::may_alias_is_copy)) return;
        [[fallthrough]];
      case ResultKind::alias:
        inherit_birth(self, operand);
        for (Entry e : copy_of(entries_of(operand))) {
          if (result.kind == ResultKind::may_alias && must_copy(n, element, e)) continue;
          if (result.kind == ResultKind::may_alias) e.cause = out_.causes.extend(e.cause, self);
          add_view(n, element, e);
        }
        return;
      case ResultKind::opaque:
        if (planted(Fault::opaque_is_pure)) return;
        inherit_birth(self, operand);
        add_parts(operand);
    }
  }

  /// The base is the first operand that the walk knows anything about.
  void set_base(ValueId self, ValueId operand) {
    ValueId& base = out_.base[index_of(self)];
    if (base == self && cells_of(operand) != SetId::empty) base = operand;
  }

  /// Content is as old as the storage that it lies in.
  void inherit_birth(ValueId self, ValueId operand) {
    set_base(self, operand);
    out_.birth[index_of(self)] = std::min(out_.birth[index_of(self)], out_.birth[index_of(operand)]);
  }

  static std::vector<Entry> copy_of(std::span<const Entry> entries) { return {entries.begin(), entries.end()}; }

  void add_view(NodeId n, std::int64_t element, Entry e) {
    const Region* base = out_.regions.find(e.region);
    if (const auto region = base != nullptr ? view_region(program_, n, *base, element) : std::nullopt) {
      e.region = out_.regions.intern(planted(Fault::stride_ignored) ? Region::contiguous(region->sizes, region->offset) : *region);
    } else {  // as_strided alone leaves the region of its base
      e.region = program_.target(n).name.starts_with("as_strided") ? unknown_ : out_.regions.part_of(e.region);
    }
    entries_.push_back(e);
  }

  /// A reshape whose view does not exist, though it would if the base were contiguous: such an op copies.
  bool must_copy(NodeId n, std::int64_t element, const Entry& e) const {
    const Region* base = out_.regions.find(e.region);
    return base != nullptr && !view_region(program_, n, *base, element) &&
           view_region(program_, n, Region::contiguous(base->sizes), element);
  }

  void add_parts(ValueId operand) {
    for (const Entry& e : entries_of(operand)) entries_.push_back({e.storage, out_.regions.part_of(e.region), e.home, e.cause});
  }

  // view_copy.

  /// A view_copy of a view_copy is re-based on the root of the chain before it is lowered.
  void note_chain(NodeId n) {
    const ValueId self = graph_.result_of(n), base = effects_.operands(n)[0].value;
    const bool chain = !graph_.is_placeholder(base) && effects_.has(graph_.producer_of(base), Trait::later_alias);
    const ValueId root = chain && !planted(Fault::chains_not_rebased) ? root_[index_of(base)] : base;
    root_[index_of(self)] = root;
    if (!chain || !out_.live[index_of(n)]) return;
    touch(n, base, as_lowered(root), true, false);
    for (const ValueId v : {base, root}) entries_.insert(entries_.end(), entries_of(v).begin(), entries_of(v).end());
    out_.rebased.push_back({n, base, out_.sets.intern(entries_)});
    entries_.clear();
  }

  SetId as_lowered(ValueId v) {
    for (const Entry& e : entries_of(v)) entries_.push_back({e.storage, e.region, kHomeless, CauseId::none});
    const SetId set = out_.sets.intern(entries_);
    entries_.clear();
    return set;
  }

  void lower_to_root(NodeId n, ValueId self) {
    const bool stays_copy = returned_[index_of(self)] && !planted(Fault::lowered_though_output);
    if (!lowering_ || planted(Fault::view_copy_is_fresh)) return;
    set_base(self, effects_.operands(n)[0].value);
    if (stays_copy) return;
    for (const Entry& e : copy_of(entries_of(root_[index_of(self)]))) {
      const std::uint32_t home = out_.regions.injective(e.region) ? static_cast<std::uint32_t>(self) : kHomeless;
      out_.lowered = true;
      add_view(n, 0, {e.storage, e.region, home, out_.causes.extend(e.cause, self)});
    }
  }

  /// The result may be put where the argument lies: it is then written there when it is born.
  void share_allocation(NodeId n, ValueId argument) {
    if (planted(Fault::shared_allocation_ignored)) return;
    const ValueId self = graph_.result_of(n);
    const auto own = region_from_meta(graph_.meta_of(self));
    out_.lowered = true;
    set_base(self, argument);
    std::vector<Entry> shared;
    for (const Entry& e : copy_of(entries_of(argument))) {
      const Region* base = out_.regions.find(e.region);
      RegionId region = unknown_;
      if (own && base != nullptr) region = out_.regions.intern({base->offset + own->offset, own->sizes, own->strides});
      shared.push_back({e.storage, region, static_cast<std::uint32_t>(self), out_.causes.extend(e.cause, self)});
    }
    entries_ = shared;
    touch(n, self, out_.sets.intern(entries_), false, true);
    entries_ = std::move(shared);
    entries_.insert(entries_.end(), entries_of(self).begin(), entries_of(self).end());
    assign(self);
  }

  /// An in-place change of geometry: the operand, under all its names, is from now on what the result is.
  void rebind(NodeId n, ValueId self) {
    if (effects_.operands(n).empty()) return;
    const std::size_t tensor = index_of(out_.tensor[index_of(effects_.operands(n)[0].value)]);
    out_.cells[tensor] = cells_of(self);
    out_.tensor[index_of(self)] = value_id(tensor);
    out_.settled[tensor] = static_cast<std::uint32_t>(index_of(n)) + 1;
    rebound_ = true;
  }

  static constexpr std::uint32_t kNone = 0xffffffff;

  const Program& program_;
  const Graph& graph_;
  const Effects& effects_;
  const bool lowering_;
  const Interest interest_;
  const std::vector<bool>& returned_;
  Aliases out_;
  RegionId unknown_{};
  std::vector<ValueId> root_;  ///< per view_copy: the first base before it that is no view_copy
  std::vector<std::uint32_t> first_getitem_, next_getitem_;
  std::vector<Entry> entries_;
  std::size_t touched_ = 0;
  bool rebound_ = false, overgrown_ = false;
};

}  // namespace

std::vector<bool> user_outputs(const Program& program, const Placement* placement) {
  std::vector<bool> result(program.graph.value_count(), false);
  for (std::uint32_t i = 0; i < program.graph.outputs.size(); ++i) {
    if (i < program.output_specs.size() && is_mutation(program.output_specs[i].kind)) continue;
    if (placement != nullptr && placement->reads_first(i)) continue;
    for_each_value(program.graph.outputs[i], [&](ValueId v) { result[index_of(v)] = true; });
  }
  return result;
}

Aliases walk_aliases(const Program& program, const Effects& effects, const Options& options,
                     const std::vector<WriteBack>& write_backs, const std::vector<bool>& returned) {
  Walk walk(program, effects, options, write_backs, returned, false);
  if (walk.run()) return walk.take();
  Walk coarse(program, effects, options, write_backs, returned, true);
  coarse.run();
  return coarse.take();
}

}  // namespace WRITEBACK_BUILD
}  // namespace writeback::impl
