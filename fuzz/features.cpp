#include "fuzz/features.h"

#include <algorithm>
#include <array>
#include <vector>

#include "fuzz/edit.h"
#include "ref/graph/effects.h"

namespace writeback::fuzz {
namespace {

constexpr std::array<std::string_view, kFeatureCount> kNames{"no write-backs",
                                                             "two or more copies",
                                                             "same target twice",
                                                             "one value to several targets",
                                                             "value is an input",
                                                             "value is a view",
                                                             "delay line",
                                                             "swap",
                                                             "cross aliasing",
                                                             "cast on write-back",
                                                             "broadcast on write-back",
                                                             "mutated user input",
                                                             "mutated parameter",
                                                             "no placeholders",
                                                             "alias group",
                                                             "partial overlap",
                                                             "overlaps itself",
                                                             "view chain",
                                                             "in place",
                                                             "in-place chain",
                                                             "out= argument",
                                                             "list argument",
                                                             "list written",
                                                             "several results",
                                                             "may alias",
                                                             "opaque",
                                                             "trusted custom op",
                                                             "later alias",
                                                             "later alias chain",
                                                             "later alias is an output",
                                                             "later alias shares its allocation",
                                                             "value whose storage as_strided reads",
                                                             "shared allocation",
                                                             "metadata reader",
                                                             "write only",
                                                             "dead node",
                                                             "subgraph",
                                                             "geometry changed in place",
                                                             "output aliases a target",
                                                             "lowering none",
                                                             "earliest before end",
                                                             "temporaries",
                                                             "outputs read first",
                                                             "no copy needed",
                                                             "clobbered",
                                                             "lowering hazard",
                                                             "deadline"};

using Bits = std::uint64_t;

bool is_list_of_values(const Argument& a) {
  const ListArgument* list = as_list(a);
  return list != nullptr &&
         std::any_of(list->items.begin(), list->items.end(), [](const Argument& i) { return as_value(i) != nullptr; });
}

class Walk {
 public:
  Walk(const Program& program, const Options& options)
      : program_(program),
        graph_(program.graph),
        effects_(program, options),
        storages_(graph_.value_count()),
        depth_(graph_.value_count()),
        written_(graph_.value_count()),
        restrided_(graph_.value_count()) {}

  Features run() {
    placeholders();
    for (std::size_t n = 0; n < graph_.nodes.size(); ++n) node(node_id(n));
    write_backs_and_outputs();
    return features_;
  }

 private:
  void set(Feature f, bool on = true) {
    if (on) features_.set(static_cast<std::size_t>(f));
  }

  void placeholders() {
    for (std::size_t v = 0; v < graph_.placeholders.size(); ++v) storages_[v] = Bits{1} << (v % 32);
    for (const auto& group : program_.alias_groups) {
      for (const AliasMember& m : group) {
        storages_[index_of(m.value)] = storages_[index_of(group.front().value)];
        set(Feature::partial_overlap, m.geometry.has_value());
      }
    }
    set(Feature::alias_group, !program_.alias_groups.empty());
    set(Feature::no_placeholders, graph_.placeholders.empty());
    set(Feature::share_allocation, !program_.share_allocations.empty());
    set(Feature::lowering_none, std::find(program_.options.begin(), program_.options.end(), "none") != program_.options.end());
  }

  void node(NodeId n) {
    const Node& node = graph_.node(n);
    const ValueId v = graph_.result_of(n);
    Bits shared = 0;
    int depth = 0;
    bool reads = false;
    for (const OperandEffect& o : effects_.operands(n)) {
      reads |= o.reads;
      if (o.writes) written(o.value);
    }
    for (const ResultEffect& r : effects_.results(n)) {
      for (const std::uint32_t o : r.operands) {
        const OperandEffect& operand = effects_.operands(n)[o];
        shared |= storages_[index_of(operand.value)];
        depth = std::max(depth, depth_[index_of(operand.value)] + 1);
      }
      set(Feature::may_alias, r.kind == ResultKind::may_alias);
      set(Feature::several_results, r.list);
    }
    const bool writes =
        std::any_of(effects_.operands(n).begin(), effects_.operands(n).end(), [](const auto& o) { return o.writes; });
    set(Feature::several_results, effects_.results(n).size() > 1);
    set(Feature::view_chain, !writes && depth >= 2);
    set(Feature::opaque, effects_.has(n, Trait::opaque));
    set(Feature::subgraph, effects_.has(n, Trait::subgraph));
    set(Feature::rebound, effects_.has(n, Trait::rebinds));
    set(Feature::trusted_custom, program_.target(node).ns == "my" && !effects_.has(n, Trait::opaque));
    set(Feature::in_place, writes);
    set(Feature::write_only, writes && !reads);
    set(Feature::out_argument, std::any_of(node.kwargs.begin(), node.kwargs.end(), [](const auto& k) { return k.name == "out"; }));
    const bool list = std::any_of(node.args.begin(), node.args.end(), is_list_of_values);
    set(Feature::list_argument, list);
    set(Feature::list_write, list && writes);
    set(Feature::metadata_reader, !writes && !reads && !effects_.operands(n).empty() && shared == 0);
    if (effects_.has(n, Trait::later_alias)) {
      set(Feature::later_alias);
      const ValueId base = effects_.operands(n).front().value;
      set(Feature::later_alias_chain, is_later_alias(base));
      shared |= storages_[index_of(base)];
    }
    const std::int32_t shares = effects_.shares_allocation_of(n);
    set(Feature::later_alias_shared, shares >= 0 && is_later_alias(effects_.operands(n)[static_cast<std::size_t>(shares)].value));
    if (program_.target(node).name == "as_strided") restrided_[index_of(effects_.operands(n).front().value)] = true;
    depth_[index_of(v)] = writes ? 0 : depth;
    written_[index_of(v)] = writes;
    storages_[index_of(v)] = shared != 0 ? shared : Bits{1} << (32 + index_of(n) % 32);
    const TensorMeta* meta = tensor_meta(node.meta);
    if (meta != nullptr && shared != 0 && !effects_.operands(n).empty()) {
      const TensorMeta* base = tensor_meta(graph_.meta_of(effects_.operands(n).front().value));
      set(Feature::partial_overlap, base != nullptr && !writes && cells(*meta) < cells(*base));
      set(Feature::self_overlap, base != nullptr && !writes && cells(*meta) > cells(*base));
    }
  }

  bool is_later_alias(ValueId v) const {
    return !graph_.is_placeholder(v) && effects_.has(graph_.producer_of(v), Trait::later_alias);
  }

  void written(ValueId v) { set(Feature::in_place_chain, written_[index_of(v)]); }

  static std::int64_t cells(const TensorMeta& meta) {
    std::int64_t count = 1;
    for (const SymInt& s : meta.sizes) count *= s.is_number() ? s.number() : 1;
    return count;
  }

  bool used(ValueId v) const {
    bool found = false;
    for (const Node& node : graph_.nodes) for_each_operand(node, [&](ValueId o) { found |= o == v; });
    for (const Argument& a : graph_.outputs) for_each_value(a, [&](ValueId o) { found |= o == v; });
    return found;
  }

  void write_backs_and_outputs() {
    const std::vector<WriteBack> all = write_backs(program_);
    set(Feature::no_write_backs, all.empty());
    set(Feature::two_or_more_copies, all.size() >= 2);
    Bits targets = 0;
    for (const WriteBack& w : all) targets |= storages_[index_of(w.target)];
    for (const WriteBack& w : all) {
      const InputKind kind = program_.input_specs[index_of(w.target)].kind;
      set(Feature::mutated_user_input, kind == InputKind::user_input);
      set(Feature::mutated_parameter, kind == InputKind::parameter);
      set(Feature::value_is_placeholder, graph_.is_placeholder(w.value));
      set(Feature::value_is_view, depth_[index_of(w.value)] > 0);
      set(Feature::restrided_value, restrided_[index_of(w.value)]);
      const TensorMeta* to = tensor_meta(graph_.meta_of(w.target));
      const TensorMeta* from = tensor_meta(graph_.meta_of(w.value));
      set(Feature::cast, to != nullptr && from != nullptr && to->dtype != from->dtype);
      set(Feature::broadcast, to != nullptr && from != nullptr && !(to->sizes == from->sizes));
      for (const WriteBack& other : all) {
        if (other.output == w.output) continue;
        set(Feature::same_target_twice, other.target == w.target);
        set(Feature::one_value_to_several_targets, other.value == w.value && other.target != w.target);
        const bool reads_other =
            (storages_[index_of(w.value)] & storages_[index_of(other.target)]) != 0 && w.target != other.target;
        set(Feature::cross_aliasing, reads_other);
        set(Feature::delay_line, other.target == w.value && w.target != other.target);
        set(Feature::swap, other.target == w.value && w.target == other.value && w.target != other.target);
      }
    }
    for (std::size_t i = 0; i < graph_.outputs.size(); ++i) {
      const ValueId* v = as_value(graph_.outputs[i]);
      if (v == nullptr || is_mutation(program_.output_specs[i].kind)) continue;
      set(Feature::output_aliases_target, (storages_[index_of(*v)] & targets) != 0);
      set(Feature::later_alias_output, is_later_alias(*v));
    }
    for (std::size_t n = 0; n < graph_.nodes.size(); ++n) set(Feature::dead_node, !used(graph_.result_of(node_id(n))));
  }

  const Program& program_;
  const Graph& graph_;
  Effects effects_;
  std::vector<Bits> storages_;   ///< placeholders below bit 32, fresh results above, both modulo 32
  std::vector<int> depth_;       ///< views since the storage's root
  std::vector<bool> written_;    ///< the result of a write
  std::vector<bool> restrided_;  ///< as_strided reads of its storage
  Features features_;
};

}  // namespace

std::string_view name_of(Feature f) { return kNames[static_cast<std::size_t>(f)]; }

Features features_of(const Program& program, const Options& options) { return Walk(program, options).run(); }

}  // namespace writeback::fuzz
