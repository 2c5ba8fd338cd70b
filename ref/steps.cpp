#include "ref/steps.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_set>

#include "ref/graph/cellwise.h"
#include "ref/graph/error.h"
#include "ref/graph/strides.h"
#include "ref/graph/view_geometry.h"

namespace writeback::ref {
namespace {

/// Ops that are a clone by another name; `_to_copy` casts besides.
bool is_clone(const Target& t) {
  static const std::unordered_set<std::string> kNames = {"clone",           "_to_copy",         "alias_copy",         "detach_copy",
                                                         "lift_fresh_copy", "_clone_dim_order", "_to_dim_order_copy", "to"};
  return t.is_op() && t.overload != "out" && (t.ns == "aten" || t.ns == "dim_order_ops") && kNames.contains(t.name);
}

bool is_view_copy(const Target& t) {
  return t.is_op() && t.ns == "aten" && t.name == "view_copy" && t.overload != "dtype" && t.overload != "out";
}

/// Ops that keep all elements in row-major order.
bool is_reshape(const Target& t) {
  static const std::unordered_set<std::string> kNames = {"view",         "view_copy", "reshape",        "_unsafe_view",
                                                         "flatten",      "unsqueeze", "unsqueeze_copy", "squeeze",
                                                         "squeeze_copy", "alias",     "detach"};
  return t.is_op() && t.ns == "aten" && t.overload != "dtype" && kNames.contains(t.name);
}

bool is_copy(const Target& t) {
  return t.is_op() && t.ns == "aten" && (t.name == "copy_" || t.name == "copy") && t.overload != "out";
}

/// Strides as far as they tell anything: whether the file names them makes no difference, and those of a contiguous tensor say no
/// more than its sizes. Guessed when first asked for, since few ops look at metadata alone.
class Strides {
 public:
  explicit Strides(const Program& program) : program_(program) {}

  std::vector<SymInt> that_tell(ValueId v) {
    TensorMeta meta = *tensor_meta(program_.graph.meta_of(v));
    if (!meta.strides) {
      if (!guessed_) guessed_ = guessed_strides(program_);
      const auto& strides = (*guessed_)[index_of(v)];
      if (strides) meta.strides.emplace(strides->begin(), strides->end());
    }
    return has_contiguous_strides(meta) ? std::vector<SymInt>() : *meta.strides;
  }

 private:
  const Program& program_;
  std::optional<std::vector<std::optional<std::vector<std::int64_t>>>> guessed_;
};

/// An argument with its tensors left out, for function symbols.
class SymbolText {
 public:
  SymbolText(const Steps& steps, Strides& strides, std::span<const OperandEffect> operands, std::vector<std::uint32_t>& scalars,
             bool tell_sizes)
      : steps_(steps), strides_(strides), operands_(operands), scalars_(scalars), tell_sizes_(tell_sizes) {}

  std::string of(const Target& target, const Node& node) {
    text_ = target.is_op()
                ? target.overload.empty() || target.overload == "default" ? target.name : target.name + "." + target.overload
                : target.name;
    if (target.is_op() && target.ns != "aten") text_.insert(0, target.ns + "::");
    const std::size_t plain = text_.size();
    text_ += '{';
    for (const Argument& a : node.args) add(a), text_ += ',';
    for (const KeywordArgument& k : node.kwargs) text_.append(k.name).append("="), add(k.value), text_ += ',';
    if (text_.ends_with(',')) text_.pop_back();
    text_ += '}';
    if (text_.find_first_not_of("{},%", plain) == std::string::npos) text_.resize(plain);
    return text_;
  }

 private:
  // A tensor that the op reads is "%", one that it only writes "!", one whose metadata alone counts is its metadata.
  void add_value(ValueId v) {
    if (next_ < operands_.size() && operands_[next_].value == v) {
      const OperandEffect& operand = operands_[next_++];
      text_ += operand.reads ? "%" : operand.writes ? "!" : metadata(v);
      if (tell_sizes_ && operand.reads) text_ += metadata(v);
      return;
    }
    const LeafRange range = steps_.leaves_of(v);
    for (std::uint32_t i = 0; i < range.count; ++i) scalars_.push_back(range.first + i);
    text_ += '$';
  }

  std::string metadata(ValueId v) {
    const TensorMeta* meta = tensor_meta(steps_.program().graph.meta_of(v));
    if (meta == nullptr) return steps_.program().graph.name_of(v);
    std::string text{short_name(meta->dtype)};
    for (const SymInt& size : meta->sizes) text.append("|").append(size.text());
    for (const SymInt& stride : strides_.that_tell(v)) text.append("/").append(stride.text());
    return text;
  }

  void add_list(const std::vector<Argument>& items) {
    text_ += '[';
    for (const Argument& item : items) add(item), text_ += ';';
    text_ += ']';
  }

  void add(const Argument& a) {
    if (const ValueId* v = as_value(a)) return add_value(*v);
    if (is_none(a)) text_ += "None";
    if (const std::int64_t* i = as_int(a)) text_ += std::to_string(*i);
    if (const double* d = std::get_if<double>(&a)) text_ += fmt::format("{}", *d);
    if (const bool* b = std::get_if<bool>(&a)) text_ += *b ? "True" : "False";
    if (const std::string* s = std::get_if<std::string>(&a)) text_.append("'").append(*s).append("'");
    if (const Symbol* s = std::get_if<Symbol>(&a)) text_ += s->text;
    if (const ListArgument* list = as_list(a)) add_list(list->items);
    if (const auto* slice = std::get_if<SliceArgument>(&a)) text_ += "slice", add_list(slice->parts);
    if (const auto* dict = std::get_if<DictArgument>(&a)) {
      for (const auto& [key, item] : dict->items) text_.append(key).append(":"), add(item), text_ += ';';
    }
  }

  const Steps& steps_;
  Strides& strides_;
  std::span<const OperandEffect> operands_;
  std::vector<std::uint32_t>& scalars_;
  const bool tell_sizes_;  ///< one-cell mode: the cells do not tell
  std::size_t next_ = 0;
  std::string text_;
};

bool has_meta(const ValueMeta& meta) { return !std::holds_alternative<std::monostate>(meta); }

/// Cells of all tensors together; saturates. nullopt where some size is not known as a number.
std::optional<std::uint64_t> count_cells(const Program& program) {
  std::uint64_t sum = 0;
  const auto add = [&](const ValueMeta& meta) {
    const TensorMeta* tensor = tensor_meta(meta);
    if (tensor == nullptr) return true;
    std::uint64_t cells = 1;
    for (const SymInt& size : tensor->sizes) {
      if (!size.is_number()) return false;
      const auto n = static_cast<std::uint64_t>(std::max<std::int64_t>(size.number(), 0));
      cells = n != 0 && cells > (std::uint64_t{1} << 40) / n ? std::uint64_t{1} << 40 : cells * n;
    }
    sum = std::min(sum + cells, std::uint64_t{1} << 41);
    return true;
  };
  for (std::size_t i = 0; i < program.graph.placeholders.size(); ++i) {
    const Placeholder& p = program.graph.placeholders[i];
    const InputKind kind = i < program.input_specs.size() ? program.input_specs[i].kind : InputKind::user_input;
    const bool tensor = kind == InputKind::user_input || kind == InputKind::parameter || kind == InputKind::buffer ||
                        kind == InputKind::constant_tensor;
    if ((tensor && !has_meta(p.meta)) || !add(p.meta)) return std::nullopt;
  }
  for (const Node& n : program.graph.nodes) {
    if (!add(n.meta)) return std::nullopt;
  }
  return sum;
}

}  // namespace

bool needs_one_cell(const Program& program, std::uint64_t most_cells) {
  const auto cells = count_cells(program);
  return !cells || *cells > most_cells;
}

/// Fills a Steps. Apart, so that Steps shows what it is and not how it comes to be.
class StepsBuilder {
 public:
  explicit StepsBuilder(Steps& s) : s_(s), graph_(s.program_.graph), strides_(s.program_) {}

  void build() {
    add_inputs();
    find_getitems();
    s_.steps_.resize(graph_.nodes.size());
    s_.views_.resize(graph_.nodes.size());
    for (std::size_t n = 0; n < graph_.nodes.size(); ++n) add_step(node_id(n));
  }

 private:
  std::optional<std::int64_t> number(const SymInt& size) {
    if (size.is_number()) return size.number();
    const auto value = size.evaluate([&](const std::string& name) -> std::optional<std::int64_t> {
      const auto found = s_.sizes_.find(name);
      return found == s_.sizes_.end() ? std::nullopt : std::optional(found->second);
    });
    if (!value) {
      for (const std::string& name : size.symbols()) s_.unknown_.push_back(name);
    }
    return value;
  }

  std::optional<std::vector<std::int64_t>> numbers(const std::vector<SymInt>& sizes) {
    std::vector<std::int64_t> result;
    for (const SymInt& size : sizes) {
      const auto value = number(size);
      if (!value || *value < 0) return std::nullopt;
      result.push_back(*value);
    }
    return result;
  }

  /// The geometry that the file tells. Without strides, or with strides that no fresh tensor has, it is contiguous. Sizes that
  /// are not known make a region that is known by name only (one-cell mode), or one cell.
  RegionId shape_of(const TensorMeta* meta, bool is_input) {
    if (meta == nullptr)
      return s_.regions_.one_cell() ? s_.regions_.intern_path(kNoRegion, "unknown sizes") : s_.regions_.intern({});
    const auto sizes = numbers(meta->sizes);
    if (!sizes) {
      std::string text = "sizes";
      for (const SymInt& size : meta->sizes) text.append(" ").append(size.text());
      return s_.regions_.one_cell() ? s_.regions_.intern_path(kNoRegion, text, !meta->strides || !is_input)
                                    : s_.regions_.intern({});
    }
    Region region = Region::contiguous(*sizes);
    if (meta->strides) {
      const auto strides = numbers(*meta->strides);
      if (strides && strides->size() == sizes->size()) region.strides = *strides;
      if (!is_input && region.overlaps_itself()) region = Region::contiguous(*sizes);
    }
    return s_.regions_.intern(region);
  }

  std::uint32_t add_leaf(const ValueMeta& meta, bool scalar, bool is_input = false) {
    const TensorMeta* tensor = tensor_meta(meta);
    s_.leaves_.push_back({tensor == nullptr ? DType::unknown : tensor->dtype, scalar ? kNoRegion : shape_of(tensor, is_input)});
    return static_cast<std::uint32_t>(s_.leaves_.size() - 1);
  }

  std::uint32_t storage_cells(RegionId region) const {
    const Region* geometry = s_.regions_.geometry(region);
    const std::int64_t end = geometry == nullptr ? 1 : geometry->end();
    if (!s_.regions_.one_cell() && end > (1 << 28)) throw InputError("", "an input of more cells than can be held");
    return s_.regions_.one_cell() ? 1 : static_cast<std::uint32_t>(end);
  }

  void add_inputs() {
    for (const Placeholder& p : graph_.placeholders) {
      const bool scalar = std::holds_alternative<SymScalarMeta>(p.meta);
      const std::uint32_t leaf = add_leaf(p.meta, scalar, true);
      const RegionId region = scalar ? s_.regions_.intern({}) : s_.leaves_[leaf].shape;
      s_.ranges_.push_back({leaf, 1});
      s_.inputs_.push_back({static_cast<std::uint32_t>(s_.input_storages_.size()), region});
      s_.input_storages_.push_back({s_.symbols_.intern(p.name), scalar ? 1 : storage_cells(region), region});
    }
    for (const std::vector<AliasMember>& group : s_.program_.alias_groups) join(group);
  }

  // All members live in the storage of the first.
  void join(const std::vector<AliasMember>& group) {
    if (group.empty()) return;
    const std::uint32_t storage = s_.inputs_[index_of(group.front().value)].storage;
    InputStorage& shared = s_.input_storages_[storage];
    for (const AliasMember& member : group) {
      InputTensor& input = s_.inputs_[index_of(member.value)];
      input.storage = storage;
      if (member.geometry) {
        const auto& g = *member.geometry;
        if (g.sizes.size() != g.strides.size()) throw InputError("alias group", "sizes and strides differ in number");
        input.region = s_.regions_.intern({g.offset, g.sizes, g.strides});
      }
      shared.cells = std::max(shared.cells, storage_cells(input.region));
      if (shared.birth != kNoRegion && !s_.regions_.same(shared.birth, input.region)) shared.birth = kNoRegion;
    }
  }

  /// For each node how many results its getitems ask for, and one getitem for each, whose metadata tells what it is.
  void find_getitems() {
    getitems_.resize(graph_.nodes.size());
    for (std::size_t n = 0; n < graph_.nodes.size(); ++n) {
      const NodeId node = node_id(n);
      if (!s_.effects_.has(node, Trait::getitem) || graph_.nodes[n].args.empty()) continue;
      const ValueId* of = as_value(graph_.nodes[n].args[0]);
      if (of == nullptr || graph_.is_placeholder(*of)) continue;
      getitems_[index_of(graph_.producer_of(*of))].emplace(s_.effects_.getitem_index(node), node);
    }
  }

  void add_step(NodeId n) {
    Step& step = s_.steps_[index_of(n)];
    step.node = n;
    step.name = s_.symbols_.intern(graph_.node(n).name);
    step.first_leaf = static_cast<std::uint32_t>(s_.leaves_.size());
    if (s_.effects_.has(n, Trait::getitem)) return add_getitem(step);
    const Target& target = s_.program_.target(n);
    step.random = s_.effects_.has(n, Trait::random);
    step.uninitialized = s_.effects_.has(n, Trait::uninitialized);
    step.opaque = s_.effects_.has(n, Trait::opaque);
    step.rebinds = s_.effects_.has(n, Trait::rebinds);
    add_operands(step);
    add_results(step);
    add_symbol(step, target);
    add_movement(step, target);
    add_group(step, target);
    add_choices(step);
    const bool writes = std::ranges::any_of(s_.operands(step), [](const OperandStep& o) { return o.writes; });
    step.observed = s_.effects_.has(n, Trait::observed) || (s_.effects_.has(n, Trait::returns_nothing) && !writes);
  }

  void add_operands(Step& step) {
    step.first_operand = static_cast<std::uint32_t>(s_.operands_.size());
    std::span<const OperandEffect> effects = s_.effects_.operands(step.node);
    const bool born = s_.effects_.has(step.node, Trait::born);
    if (born) {
      step.born_leaf = static_cast<std::int32_t>(s_.ranges_[index_of(effects.back().value)].first);
      effects = effects.first(effects.size() - 1);
    }
    for (const OperandEffect& effect : effects) {
      const bool cellwise = born && reads_cell_by_cell(s_.program_, step.node, effect.value);
      s_.operands_.push_back({s_.ranges_[index_of(effect.value)], effect.reads, effect.writes, cellwise});
      ++step.operand_count;
    }
  }

  void add_symbol(Step& step, const Target& target) {
    step.first_scalar = static_cast<std::uint32_t>(s_.scalars_.size());
    SymbolText text(s_, strides_, s_.effects_.operands(step.node), s_.scalars_, s_.regions_.one_cell());
    step.symbol = s_.symbols_.intern(text.of(target, graph_.node(step.node)));
    step.scalar_count = static_cast<std::uint32_t>(s_.scalars_.size()) - step.first_scalar;
  }

  /// Metadata of result r (of `results`), element i: the node's own, or that of a getitem that picks it.
  const ValueMeta& meta_of(const Step& step, std::size_t results, bool list, std::size_t r, std::size_t i) const {
    static const ValueMeta kNone;
    const auto& picks = getitems_[index_of(step.node)];
    if (picks.empty() && results == 1 && !list) return graph_.node(step.node).meta;
    const auto pick = picks.find(static_cast<std::int64_t>(results > 1 ? r : i));
    if (pick == picks.end()) return results == 1 && !list ? graph_.node(step.node).meta : kNone;
    if (results == 1 || !list) return graph_.node(pick->second).meta;
    const auto& nested = getitems_[index_of(pick->second)];
    const auto inner = nested.find(static_cast<std::int64_t>(i));
    return inner == nested.end() ? kNone : graph_.node(inner->second).meta;
  }

  std::uint32_t element_count(const Step& step, const ResultEffect& effect, std::size_t results, std::size_t r) const {
    const auto most = [](const std::map<std::int64_t, NodeId>& picks) {
      return picks.empty() ? 0u : static_cast<std::uint32_t>(std::clamp<std::int64_t>(picks.rbegin()->first, -1, 1 << 20) + 1);
    };
    const auto& picks = getitems_[index_of(step.node)];
    if (!effect.list) return results == 1 && effect.kind != ResultKind::none ? std::max(1u, most(picks)) : 1;
    if (effect.elementwise) return static_cast<std::uint32_t>(effect.operands.size());
    if (results == 1 && step.operand_count > 0) {
      const LeafRange base = s_.operands(step)[effect.operands.empty() ? 0 : effect.operands[0]].leaves;
      const Region* shape =
          base.count == 1 && s_.leaf(base.first).shape != kNoRegion ? s_.regions_.geometry(s_.leaf(base.first).shape) : nullptr;
      const auto count = shape == nullptr ? std::nullopt : view_count(s_.program_, step.node, *shape);
      if (count && *count < (1 << 20)) return std::max(static_cast<std::uint32_t>(*count), most(picks));
    }
    if (results == 1) return most(picks);
    const auto pick = picks.find(static_cast<std::int64_t>(r));
    return pick == picks.end() ? 0 : most(getitems_[index_of(pick->second)]);
  }

  void add_results(Step& step) {
    const std::span<const ResultEffect> effects = s_.effects_.results(step.node);
    step.first_result = static_cast<std::uint32_t>(s_.results_.size());
    for (std::size_t r = 0; r < effects.size(); ++r) {
      const ResultEffect& effect = effects[r];
      ResultStep result;
      result.kind = effect.kind;
      result.elementwise = effect.elementwise;
      result.first_source = static_cast<std::uint32_t>(s_.sources_.size());
      if (step.born_leaf >= 0) {
        result.kind = ResultKind::fresh;  // computed like any other, and then in a storage that is there already
      } else {
        result.source_count = static_cast<std::uint32_t>(effect.operands.size());
        s_.sources_.insert(s_.sources_.end(), effect.operands.begin(), effect.operands.end());
      }
      result.leaves = {static_cast<std::uint32_t>(s_.leaves_.size()), element_count(step, effect, effects.size(), r)};
      for (std::uint32_t i = 0; i < result.leaves.count; ++i) {
        const std::uint32_t leaf = add_leaf(meta_of(step, effects.size(), effect.list, r, i), effect.kind == ResultKind::none);
        if (effect.list && effects.size() == 1 && s_.leaves_[leaf].dtype == DType::unknown) guess_element(step, i);
      }
      s_.results_.push_back(result);
      ++step.result_count;
    }
    step.leaf_count = static_cast<std::uint32_t>(s_.leaves_.size()) - step.first_leaf;
    s_.ranges_.push_back({step.first_leaf, step.leaf_count});
  }

  /// An element of a list that nothing picks: what the view op makes of operand 0, if it is one.
  void guess_element(const Step& step, std::uint32_t element) {
    const LeafRange base = step.operand_count == 0 ? LeafRange{} : s_.operands(step)[0].leaves;
    const Region* shape =
        base.count != 1 || s_.leaf(base.first).shape == kNoRegion ? nullptr : s_.regions_.geometry(s_.leaf(base.first).shape);
    const auto region =
        shape == nullptr ? std::nullopt : view_region(s_.program_, step.node, Region::contiguous(shape->sizes), element);
    if (region) s_.leaves_.back() = {s_.leaf(base.first).dtype, s_.regions_.intern(Region::contiguous(region->sizes))};
  }

  /// `getitem` names some of the leaves of its operand: a return of a tuple, an element of a list.
  void add_getitem(Step& step) {
    step.idle = true;
    const Node& node = graph_.node(step.node);
    const ValueId* of = node.args.empty() ? nullptr : as_value(node.args[0]);
    LeafRange range;
    if (of != nullptr) range = pick(*of, s_.effects_.getitem_index(step.node));
    s_.ranges_.push_back(range);
    if (range.count == 1 && s_.leaves_[range.first].dtype == DType::unknown) {
      if (const TensorMeta* meta = tensor_meta(node.meta)) s_.leaves_[range.first].dtype = meta->dtype;
    }
  }

  LeafRange pick(ValueId of, std::int64_t index) const {
    const LeafRange all = s_.ranges_[index_of(of)];
    if (!graph_.is_placeholder(of)) {
      const std::span<const ResultStep> results = s_.results(s_.steps_[index_of(graph_.producer_of(of))]);
      if (results.size() > 1) {
        const std::int64_t r = index < 0 ? index + static_cast<std::int64_t>(results.size()) : index;
        if (r >= 0 && r < static_cast<std::int64_t>(results.size())) return results[static_cast<std::size_t>(r)].leaves;
        return {};
      }
    }
    const std::int64_t i = index < 0 ? index + all.count : index;
    if (i < 0 || i >= all.count) throw InputError("node %" + graph_.name_of(of), fmt::format("has no element {}", index));
    return {all.first + static_cast<std::uint32_t>(i), 1};
  }

  void add_movement(Step& step, const Target& target) {
    const std::span<const OperandStep> operands = s_.operands(step);
    const bool one_in = !operands.empty() && operands[0].leaves.count == 1,
               one_out = step.leaf_count == 1 && step.result_count == 1;
    if (step.opaque || !one_in) return;
    if (is_copy(target) && operands.size() >= 2 && operands[1].leaves.count == 1 && step.leaf_count <= 1)
      step.movement = Movement::copy;
    if (!one_out) return;
    const ResultStep& result = s_.results(step)[0];
    const bool may_alias = result.kind == ResultKind::may_alias && result.source_count == 1 && !result.elementwise;
    if (is_view_copy(target) && result.kind == ResultKind::fresh) step.movement = Movement::view;
    if (s_.effects_.has(step.node, Trait::later_alias)) {
      step.movement = Movement::view;
      step.root_leaf = static_cast<std::int32_t>(root_of(graph_.result_of(step.node)));
    } else if (is_clone(target) && result.kind == ResultKind::fresh) {
      step.movement = Movement::clone;
    } else if (may_alias && is_view(step, operands[0].leaves.first)) {
      step.movement = Movement::view;
    }
    const bool moves = step.movement == Movement::view || step.movement == Movement::clone;
    if (moves && result.kind == ResultKind::fresh) link_source(step);
  }

  /// _foreach_ ops whose operands are lists of one length (and scalars).
  void add_group(Step& step, const Target& target) const {
    if (step.opaque || !target.is_op() || !target.name.starts_with("_foreach_")) return;
    const std::span<const OperandStep> operands = s_.operands(step);
    const auto written = static_cast<std::uint32_t>(std::ranges::count_if(operands, &OperandStep::writes));
    const bool tensors = std::ranges::all_of(operands, [](const OperandStep& o) { return o.leaves.count == 1; });
    const bool fresh = std::ranges::all_of(s_.results(step), [](const ResultStep& r) { return r.kind == ResultKind::fresh; });
    const std::uint32_t group = written > 0 ? written : step.leaf_count;
    const bool first = std::ranges::all_of(operands.first(std::min<std::size_t>(written, operands.size())), &OperandStep::writes);
    const bool both = written > 0 && step.leaf_count > 0;
    if (group > 0 && !operands.empty() && operands.size() % group == 0 && tensors && fresh && first && !both) step.group = group;
  }

  /// A view op in the sense of view_region: it moves elements and does nothing else.
  bool is_view(const Step& step, std::uint32_t base) const {
    const RegionId shape = s_.leaf(base).shape;
    const Region* geometry = shape == kNoRegion ? nullptr : s_.regions_.geometry(shape);
    return geometry != nullptr && view_region(s_.program_, step.node, Region::contiguous(geometry->sizes), 0).has_value();
  }

  void link_source(const Step& step) {
    ResultStep& result = s_.results_[step.first_result];
    if (result.source_count > 0) return;
    result.first_source = static_cast<std::uint32_t>(s_.sources_.size());
    result.source_count = 1;
    s_.sources_.push_back(0);
  }

  /// The leaf at the root of a chain of view_copy nodes, each the first operand of the next.
  std::uint32_t root_of(ValueId v) const {
    while (!graph_.is_placeholder(v)) {
      const NodeId n = graph_.producer_of(v);
      if (!s_.effects_.has(n, Trait::later_alias) || s_.effects_.operands(n).empty()) break;
      v = s_.effects_.operands(n)[0].value;
    }
    return s_.ranges_[index_of(v)].first;
  }

  void add_choices(Step& step) {
    const auto first = static_cast<std::int32_t>(s_.semantic_.size());
    for (const ResultStep& r : s_.results(step)) {
      for (std::uint32_t i = 0; i < r.leaves.count; ++i) add_result_choice(step, r, r.leaves.first + i - step.first_leaf);
    }
    for (std::uint32_t k = 0; step.opaque && k < step.operand_count; ++k) {
      if (s_.operands(step)[k].writes) s_.semantic_.push_back({ChoicePoint::Kind::opaque_write, step.node, 2, k});
    }
    if (static_cast<std::int32_t>(s_.semantic_.size()) > first) step.choice = first;
    step.shares = s_.effects_.shares_allocation_of(step.node);
    if (step.shares < 0 && step.root_leaf < 0) return;
    step.lowering = static_cast<std::int32_t>(s_.lowering_.size());
    s_.lowering_.push_back({step.shares >= 0 ? ChoicePoint::Kind::share : ChoicePoint::Kind::view, step.node, 2, 0});
  }

  void add_result_choice(const Step& step, const ResultStep& r, std::uint32_t part) {
    const std::uint32_t sources = r.elementwise ? std::min(r.source_count, 1u) : r.source_count;
    switch (r.kind) {
      case ResultKind::may_alias:
        s_.semantic_.push_back({ChoicePoint::Kind::may_alias, step.node, 1 + sources, part});
        break;
      case ResultKind::opaque:
        s_.semantic_.push_back({ChoicePoint::Kind::opaque_result, step.node, 1 + 2 * sources, part});
        break;
      case ResultKind::alias:
        if (sources > 1) s_.semantic_.push_back({ChoicePoint::Kind::which_operand, step.node, sources, part});
        break;
      case ResultKind::none:
      case ResultKind::fresh:
      case ResultKind::same:
        break;
    }
  }

  Steps& s_;
  const Graph& graph_;
  Strides strides_;
  std::vector<std::map<std::int64_t, NodeId>> getitems_;
};

Steps::Steps(const Program& program, const Options& options, Regions& regions, Symbols& symbols, const Sizes& sizes)
    : program_(program), effects_(program, options), regions_(regions), symbols_(symbols), sizes_(sizes) {
  StepsBuilder(*this).build();
}

RegionId Steps::view(const Step& step, std::uint32_t element, RegionId base) const {
  std::vector<ViewMemo>& memos = views_[index_of(step.node)];
  for (const ViewMemo& memo : memos) {
    if (memo.element == element && memo.base == base) return memo.result;
  }
  const RegionId result = compute_view(step, element, base);
  memos.push_back({element, base, result});
  return result;
}

// By the op's geometry; else, for an op that is no known view, the whole of the base where the sizes agree, and what the file's
// metadata tells where they do not.
RegionId Steps::compute_view(const Step& step, std::uint32_t element, RegionId base) const {
  const std::uint32_t leaf = step.first_leaf + element;
  const Region* from = regions_.geometry(base);
  if (from == nullptr) {
    if (leaves_[leaf].shape == base) return base;
    if (regions_.is_dense_path(base) && is_reshape(program_.target(step.node))) return leaves_[leaf].shape;
    return regions_.intern_path(base, symbols_.name(step.symbol) + "." + std::to_string(element));
  }
  const auto integer_of = [](const void* self, ValueId v) -> std::optional<std::int64_t> {
    const auto* meta = std::get_if<SymScalarMeta>(&static_cast<const Steps*>(self)->program_.graph.meta_of(v));
    if (meta == nullptr || meta->kind != SymScalarMeta::Kind::integer) return std::nullopt;
    return SymInt::parse(meta->text).evaluate([&](const std::string& name) -> std::optional<std::int64_t> {
      const Sizes& sizes = static_cast<const Steps*>(self)->sizes_;
      const auto found = sizes.find(name);
      return found == sizes.end() ? std::nullopt : std::optional(found->second);
    });
  };
  if (const auto region = view_region(program_, step.node, *from, element, integer_of, this)) return regions_.intern(*region);
  if (effects_.has(step.node, Trait::later_alias)) return kNoRegion;
  const Region* told = regions_.geometry(leaves_[leaf].shape);
  if (told == nullptr) return regions_.one_cell() ? regions_.intern_path(base, symbols_.name(step.symbol)) : base;
  if (told->sizes == from->sizes) return base;
  if (view_region(program_, step.node, Region::contiguous(from->sizes), element, integer_of, this))
    return kNoRegion;  // torch copies here
  Region guess = *told;
  guess.offset = from->offset;
  return guess.end() <= from->end() ? regions_.intern(guess) : kNoRegion;
}

std::string Steps::name_of(const ChoicePoint& p) const {
  const std::string& node = program_.graph.node(p.node).name;
  switch (p.kind) {
    case ChoicePoint::Kind::may_alias:
    case ChoicePoint::Kind::which_operand:
    case ChoicePoint::Kind::opaque_result:
      return p.part == 0 ? node : node + ": result " + std::to_string(p.part);
    case ChoicePoint::Kind::opaque_write:
      return node + ": argument " + std::to_string(p.part);
    case ChoicePoint::Kind::view:
      return node + ": lowering";
    case ChoicePoint::Kind::share:
      return node + ": allocation";
  }
  return node;
}

std::string Steps::describe(const ChoicePoint& p, std::uint8_t choice) const {
  const auto operand = [&](std::uint32_t k) {
    const auto operands = effects_.operands(p.node);
    return k < operands.size() ? program_.graph.name_of(operands[k].value) : std::to_string(k);
  };
  switch (p.kind) {
    case ChoicePoint::Kind::may_alias:
      return choice == 0 ? "copy" : "alias";
    case ChoicePoint::Kind::which_operand:
      return "alias of " + operand(choice);
    case ChoicePoint::Kind::opaque_write:
      return (choice == 0 ? "does not write " : "writes ") + operand(p.part);
    case ChoicePoint::Kind::opaque_result:
      return choice == 0 ? "fresh" : (choice % 2 == 1 ? "all of " : "part of ") + operand((choice - 1u) / 2);
    case ChoicePoint::Kind::view:
      return choice == 0 ? "copy" : "lowered";
    case ChoicePoint::Kind::share:
      return choice == 0 ? "own storage" : "shared storage";
  }
  return "";
}

std::map<std::string, std::string> describe_choices(const Steps& steps, std::span<const std::uint8_t> choices) {
  std::map<std::string, std::string> result;
  std::size_t i = 0;
  for (const auto points : {steps.semantic_choices(), steps.lowering_choices()}) {
    for (const ChoicePoint& p : points) {
      if (i < choices.size()) result[steps.name_of(p)] = steps.describe(p, choices[i]);
      ++i;
    }
  }
  return result;
}

std::string output_name(const Program& program, std::uint32_t output) {
  const ValueId* v = as_value(program.graph.outputs[output]);
  return v == nullptr ? std::to_string(output) : program.graph.name_of(*v);
}

}  // namespace writeback::ref
