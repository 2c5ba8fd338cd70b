// Binds the arguments of every node to the rule of its target. One walk over the nodes; per node it touches the arguments and four
// flat arrays, and allocates nothing but in rare shapes (a result that may alias operands that do not stand side by side).
#include "ref/graph/effects.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <numeric>
#include <unordered_map>

#include "ref/graph/effects_operation.h"
#include "ref/graph/effects_subgraph.h"
#include "ref/graph/error.h"

namespace writeback {
namespace {

/// 0, 1, 2, ...: a run of operand indices is a part of it.
constexpr auto kCount = [] {
  std::array<std::uint32_t, 256> count{};
  std::iota(count.begin(), count.end(), 0U);
  return count;
}();

/// Higher-order ops whose operands, those behind the subgraphs, are the placeholders of each subgraph in order.
bool passes_operands_in_order(std::string_view name) {
  for (const std::string_view known : {"cond", "map", "map_impl", "scan", "associative_scan", "while_loop", "invoke_subgraph",
                                       "strict_mode", "hints_wrapper", "tag_activation_checkpoint", "wrap"}) {
    if (name == known) return true;
  }
  return name.starts_with("wrap_");
}

bool sizes_differ(const ValueMeta& a, const ValueMeta& b) {
  const TensorMeta *x = tensor_meta(a), *y = tensor_meta(b);
  if (x == nullptr || y == nullptr) return false;
  if (x->sizes.size() != y->sizes.size()) return true;
  for (std::size_t i = 0; i < x->sizes.size(); ++i) {
    if (x->sizes[i].is_number() && y->sizes[i].is_number() && x->sizes[i].number() != y->sizes[i].number()) return true;
  }
  return false;
}

}  // namespace

/// Fills an Effects for one graph of a program.
class EffectsBuilder {
 public:
  using Summaries = std::unordered_map<const Graph*, SubgraphEffect>;

  static Effects build(const Program& program, const Graph& graph, const Operations& operations, Summaries& summaries, int depth) {
    Effects effects;
    EffectsBuilder builder(program, graph, operations, summaries, effects, depth);
    builder.add_all();
    return effects;
  }

  /// Indices into the operands of a positional argument: for `# share_alloc:`.
  static void add_shared_allocations(const Program& program, Effects& effects) {
    for (const ShareAllocation& s : program.share_allocations) {
      Effects::Record& record = effects.records_[index_of(s.node)];
      const std::vector<Argument>& args = program.graph.node(s.node).args;
      const ValueId* shared = s.argument < args.size() ? as_value(args[s.argument]) : nullptr;
      for (std::uint32_t o = 0; o < record.operand_count && shared != nullptr; ++o) {
        if (effects.operands_[record.first_operand + o].value == *shared) record.shares = static_cast<std::int32_t>(o);
      }
    }
  }

 private:
  EffectsBuilder(const Program& program, const Graph& graph, const Operations& operations, Summaries& summaries, Effects& effects,
                 int depth)
      : program_(program), graph_(graph), operations_(operations), summaries_(summaries), effects_(effects), depth_(depth) {}

  void add_all() {
    const std::size_t nodes = graph_.nodes.size();
    effects_.records_.reserve(nodes);
    effects_.operands_.reserve(2 * nodes);
    effects_.results_.reserve(nodes);
    no_tensor_.assign(graph_.value_count(), false);
    for (std::size_t i = 0; i < graph_.placeholders.size(); ++i) no_tensor_[i] = !placeholder_may_be_tensor(i);
    if (&graph_ == &program_.graph) {
      for (const Birth& b : program_.births) births_.emplace(b.node, b.target);
    }
    for (std::size_t n = 0; n < nodes; ++n) add(node_id(n));
  }

  bool placeholder_may_be_tensor(std::size_t i) const {
    if (std::holds_alternative<SymScalarMeta>(graph_.placeholders[i].meta)) return false;
    if (&graph_ != &program_.graph || i >= program_.input_specs.size()) return true;
    const InputKind kind = program_.input_specs[i].kind;
    return kind != InputKind::custom_obj && kind != InputKind::token && kind != InputKind::constant_input;
  }

  void add(NodeId n) {
    const Node& node = graph_.node(n);
    begin();
    if (node.kind == Node::Kind::get_attr) {
      add_result(tensor_meta(node.meta) != nullptr ? ResultKind::fresh : ResultKind::none, false);
    } else {
      const Operation& operation = operations_.of(node);
      switch (operation.kind) {
        case Operation::Kind::schema:
          add_call(node, operation);
          break;
        case Operation::Kind::unknown:
          add_opaque(n);
          break;
        case Operation::Kind::getitem:
          add_getitem(node);
          break;
        case Operation::Kind::numbers:
          add_number_function(node);
          break;
        case Operation::Kind::higher_order:
          add_higher_order(n);
          break;
      }
    }
    if (const auto birth = births_.find(n); birth != births_.end()) be_born(node, birth->second);
    finish(n);
  }

  /// The one fresh result is the placeholder's tensor, which the node overwrites.
  void be_born(const Node& node, ValueId target) {
    const std::span<const ResultEffect> results = std::span(effects_.results_).subspan(record_.first_result);
    const bool later = (record_.traits & static_cast<std::uint16_t>(Trait::later_alias)) != 0;
    if (results.size() != 1 || results[0].list || results[0].kind != ResultKind::fresh || no_tensor_[index_of(target)] || later)
      fail(node, "expected one fresh tensor to be born in a placeholder's storage");
    const TensorMeta *born = tensor_meta(node.meta), *in = tensor_meta(graph_.meta_of(target));
    if (born == nullptr || in == nullptr || born->dtype != in->dtype || born->sizes != in->sizes)
      fail(node, "expected the dtype and sizes of %" + graph_.name_of(target) + ", in whose storage it is born");
    set(Trait::born);
    add_operand(target, false, true);
    effects_.results_.back() = {ResultKind::same, false, false, operand_run(operand_count() - 1, 1)};
  }

  void begin() {
    record_ = {};
    record_.first_operand = static_cast<std::uint32_t>(effects_.operands_.size());
    record_.first_result = static_cast<std::uint32_t>(effects_.results_.size());
  }

  void finish(NodeId n) {
    record_.operand_count = operand_count();
    record_.result_count = static_cast<std::uint32_t>(effects_.results_.size()) - record_.first_result;
    bool tensor = false;
    for (std::uint32_t r = record_.first_result; r < effects_.results_.size(); ++r) {
      tensor = tensor || effects_.results_[r].kind != ResultKind::none;
    }
    no_tensor_[index_of(graph_.result_of(n))] = !tensor;
    effects_.records_.push_back(record_);
  }

  std::uint32_t operand_count() const { return static_cast<std::uint32_t>(effects_.operands_.size()) - record_.first_operand; }
  void set(Trait t) { record_.traits |= static_cast<std::uint16_t>(t); }

  void add_operand(ValueId v, bool reads, bool writes) {
    if (!no_tensor_[index_of(v)]) effects_.operands_.push_back({v, reads, writes});
  }

  /// Every value among the arguments.
  void add_all_operands(const Node& node, bool reads, bool writes) {
    const auto add = [&](ValueId v) { add_operand(v, reads, writes); };
    for (const Argument& a : node.args) for_each_value(a, add);
    for (const KeywordArgument& a : node.kwargs) for_each_value(a.value, add);
  }

  void add_result(ResultKind kind, bool list, bool elementwise = false, std::span<const std::uint32_t> operands = {}) {
    effects_.results_.push_back({kind, list, elementwise, operands});
  }

  std::span<const std::uint32_t> operand_run(std::uint32_t first, std::uint32_t count) {
    if (first + count <= kCount.size()) return {kCount.data() + first, count};
    std::vector<std::uint32_t>& run = effects_.long_lists_.emplace_back(count);
    std::iota(run.begin(), run.end(), first);
    return run;
  }

  [[noreturn]] void fail(const Node& node, const std::string& message) const { throw InputError("node %" + node.name, message); }

  // --- operators with a schema ---

  void add_call(const Node& node, const Operation& operation) {
    bind(node, operation);
    const EffectRule& rule = operation.rule(bound_);
    if (rule.has(Trait::refused))
      fail(node, fmt::format("{} is refused ({})", program_.target(node).qualified_name(), operation.source));
    record_.traits = rule.traits;
    if (operation.later_alias) set(Trait::later_alias);
    for (const std::uint32_t i : order_) bind_tensors(node, operation, i, rule.arguments[i]);
    for (const ResultRule& result : rule.results) add_result_of(node, result);
  }

  /// Fills bound_ (by schema index) and order_ (schema indices in the order of the call).
  void bind(const Node& node, const Operation& operation) {
    const std::vector<SchemaArgument>& expected = operation.schema->arguments;
    bound_.assign(expected.size(), nullptr);
    first_.resize(expected.size());
    count_.assign(expected.size(), 0);
    order_.clear();
    if (node.args.size() > operation.positional && !operation.schema->variadic) {
      fail(node, fmt::format("expected at most {} positional arguments, found {}, for {}", operation.positional, node.args.size(),
                             operation.schema->text()));
    }
    std::uint32_t required = 0;
    const auto take = [&](std::uint32_t i, const Argument& a) {
      bound_[i] = &a;
      order_.push_back(i);
      required += !expected[i].default_value;
    };
    for (std::uint32_t i = 0; i < node.args.size() && i < expected.size(); ++i) take(i, node.args[i]);
    for (const KeywordArgument& k : node.kwargs) take(keyword_index(node, operation, k), k.value);
    if (required < operation.required)
      fail(node, fmt::format("argument '{}' is missing for {}", missing(expected), operation.schema->text()));
  }

  std::uint32_t keyword_index(const Node& node, const Operation& operation, const KeywordArgument& k) const {
    const std::vector<SchemaArgument>& expected = operation.schema->arguments;
    std::uint32_t i = 0;
    while (i < expected.size() && expected[i].name != k.name) ++i;
    if (i == expected.size()) fail(node, fmt::format("no argument is called '{}' in {}", k.name, operation.schema->text()));
    if (bound_[i] != nullptr) fail(node, fmt::format("argument '{}' is given twice for {}", k.name, operation.schema->text()));
    return i;
  }

  std::string missing(const std::vector<SchemaArgument>& expected) const {
    for (std::size_t i = 0; i < expected.size(); ++i) {
      if (bound_[i] == nullptr && !expected[i].default_value) return expected[i].name;
    }
    return {};
  }

  void bind_tensors(const Node& node, const Operation& operation, std::uint32_t i, const ArgumentRule& rule) {
    if (!rule.tensor) return;
    const Argument& argument = *bound_[i];
    first_[i] = operand_count();
    if (const ValueId* v = as_value(argument)) {
      add_operand(*v, rule.reads, rule.writes);
      if (rule.out && sizes_differ(graph_.meta_of(*v), node.meta))
        fail(node, "its out= argument must be resized, which is refused");
    } else if (as_list(argument) != nullptr) {
      if (!rule.list) {
        fail(node, fmt::format("expected a tensor, not a list, for '{}' of {}", operation.schema->arguments[i].name,
                               operation.schema->text()));
      }
      for_each_value(argument, [&](ValueId v) { add_operand(v, rule.reads, rule.writes); });
    }
    count_[i] = operand_count() - first_[i];
  }

  void add_result_of(const Node& node, const ResultRule& result) {
    switch (result.kind) {
      case ResultKind::none:
      case ResultKind::fresh:
        return add_result(result.kind, result.list);
      case ResultKind::opaque:
        return add_result(result.kind, result.list, false, operand_run(0, operand_count()));
      case ResultKind::same:
      case ResultKind::alias:
      case ResultKind::may_alias:
        break;
    }
    const std::span<const std::uint32_t> operands = operands_of(result.sources);
    // `Tensor(a!)?` given None returns None; a number in place of a tensor is wrapped in a new one.
    const ResultKind without = result.kind == ResultKind::same ? ResultKind::none : ResultKind::fresh;
    if (result.kind == ResultKind::may_alias && converts(node, operands)) return add_result(ResultKind::fresh, result.list);
    add_result(operands.empty() ? without : result.kind, result.list, result.elementwise, operands);
  }

  /// `to` and the like with another dtype: a copy, never an alias.
  bool converts(const Node& node, std::span<const std::uint32_t> operands) const {
    const TensorMeta* to = tensor_meta(node.meta);
    if (to == nullptr || operands.size() != 1) return false;
    const TensorMeta* from = tensor_meta(graph_.meta_of(effects_.operands_[record_.first_operand + operands[0]].value));
    return from != nullptr && from->dtype != to->dtype && from->dtype != DType::unknown && to->dtype != DType::unknown;
  }

  std::span<const std::uint32_t> operands_of(const std::vector<std::uint32_t>& arguments) {
    if (arguments.size() == 1)
      return count_[arguments[0]] == 0 ? std::span<const std::uint32_t>{} : operand_run(first_[arguments[0]], count_[arguments[0]]);
    std::vector<std::uint32_t>& all = effects_.long_lists_.emplace_back();
    for (const std::uint32_t i : arguments) {
      for (std::uint32_t k = 0; k < count_[i]; ++k) all.push_back(first_[i] + k);
    }
    return all;
  }

  // --- everything else ---

  void add_opaque(NodeId n) {
    set(Trait::opaque);
    add_all_operands(graph_.node(n), true, true);
    add_result(ResultKind::opaque, is_picked_from(n), false, operand_run(0, operand_count()));
  }

  /// Whether a getitem picks from the node's result.
  bool is_picked_from(NodeId n) {
    if (picked_.empty()) {
      picked_.assign(graph_.value_count(), false);
      for (const Node& node : graph_.nodes) {
        if (node.kind != Node::Kind::call || !program_.target(node).is_getitem() || node.args.empty()) continue;
        if (const ValueId* of = as_value(node.args[0])) picked_[index_of(*of)] = true;
      }
    }
    return picked_[index_of(graph_.result_of(n))];
  }

  void add_getitem(const Node& node) {
    const ValueId* of = node.args.size() == 2 ? as_value(node.args[0]) : nullptr;
    const std::int64_t* index = node.args.size() == 2 ? as_int(node.args[1]) : nullptr;
    if (of == nullptr || index == nullptr) fail(node, "expected getitem(value, index)");
    set(Trait::getitem);
    record_.index = *index;
    add_operand(*of, false, false);
    const bool tensor = operand_count() == 1 && picks_tensor(*of, *index);
    add_result(tensor ? ResultKind::same : ResultKind::none, picks_list(*of, *index), false,
               tensor ? operand_run(0, 1) : operand_run(0, 0));
  }

  const ResultEffect* picked_result(ValueId of, std::int64_t index) const {
    if (graph_.is_placeholder(of)) return nullptr;
    const auto results = effects_.results(graph_.producer_of(of));
    if (results.size() == 1) return &results[0];
    return index >= 0 && static_cast<std::uint64_t>(index) < results.size() ? &results[static_cast<std::size_t>(index)] : nullptr;
  }
  bool picks_tensor(ValueId of, std::int64_t index) const {
    const ResultEffect* result = picked_result(of, index);
    return result == nullptr || result->kind != ResultKind::none;
  }
  /// A list among several results: getitem(getitem(x, 0), 1).
  bool picks_list(ValueId of, std::int64_t index) const {
    const ResultEffect* result = picked_result(of, index);
    return result != nullptr && result->list && effects_.results(graph_.producer_of(of)).size() > 1;
  }

  void add_number_function(const Node& node) {
    add_all_operands(node, true, false);
    add_result(operand_count() == 0 ? ResultKind::none : ResultKind::fresh, false);
  }

  // --- higher-order operators ---

  void add_higher_order(NodeId n) {
    const Node& node = graph_.node(n);
    const std::string& name = program_.target(node).name;
    if (name == "auto_functionalized" || name == "auto_functionalized_v2") {
      add_all_operands(node, true, false);
      add_result(ResultKind::fresh, true);
    } else if (!passes_operands_in_order(name) || !node.kwargs.empty() || !add_subgraph_call(node, name)) {
      add_opaque(n);
    }
  }

  const Graph* subgraph_of(const Argument& a) const {
    const ValueId* v = as_value(a);
    if (v == nullptr || graph_.is_placeholder(*v) || graph_.node(graph_.producer_of(*v)).kind != Node::Kind::get_attr)
      return nullptr;
    const std::string& attribute = program_.target(graph_.node(graph_.producer_of(*v))).name;
    for (const Subgraph& s : graph_.subgraphs) {
      if (s.attribute == attribute) return &s.graph;
    }
    return nullptr;
  }

  /// Tensors and numbers behind the subgraphs, flattened.
  static void add_leaves(const Argument& a, std::vector<const Argument*>& leaves) {
    if (const ListArgument* list = as_list(a)) {
      for (const Argument& item : list->items) add_leaves(item, leaves);
    } else if (as_value(a) != nullptr || as_int(a) != nullptr || std::holds_alternative<double>(a) ||
               std::holds_alternative<bool>(a)) {
      leaves.push_back(&a);
    }
  }

  const SubgraphEffect& summary_of(const Graph& graph) {
    const auto found = summaries_.find(&graph);
    if (found != summaries_.end()) return found->second;
    const Effects inside = build(program_, graph, operations_, summaries_, depth_ + 1);
    return summaries_.emplace(&graph, subgraph_effect(graph, inside)).first->second;
  }

  /// False where the call is not understood; nothing was added then.
  bool add_subgraph_call(const Node& node, const std::string& name) {
    if (depth_ > 32) return false;
    std::vector<const Graph*> graphs;
    std::vector<const Argument*> before, leaves;
    for (const Argument& a : node.args) {
      if (const Graph* graph = subgraph_of(a))
        graphs.push_back(graph);
      else
        add_leaves(a, graphs.empty() ? before : leaves);
    }
    if (graphs.empty()) return false;
    for (const Graph* graph : graphs) {
      if (graph->placeholders.size() != leaves.size() || graph->outputs.size() > 4096) return false;
    }
    std::vector<const SubgraphEffect*> inside;
    for (const Graph* graph : graphs) inside.push_back(&summary_of(*graph));
    set(Trait::subgraph);
    for (const Argument* a : before) {
      if (const ValueId* v = as_value(*a)) add_operand(*v, true, false);
    }
    add_passed_operands(leaves, inside);
    for (const SubgraphEffect* s : inside) {
      if (s->random) set(Trait::random);
      if (s->observed) set(Trait::observed);
    }
    add_subgraph_results(*graphs.back(), inside, name == "while_loop");
    return true;
  }

  void add_passed_operands(const std::vector<const Argument*>& leaves, const std::vector<const SubgraphEffect*>& inside) {
    passed_.assign(leaves.size(), ~0U);
    for (std::size_t i = 0; i < leaves.size(); ++i) {
      const ValueId* v = as_value(*leaves[i]);
      if (v == nullptr || no_tensor_[index_of(*v)]) continue;
      bool reads = false, writes = false;
      for (const SubgraphEffect* s : inside) {
        reads = reads || s->reads[i];
        writes = writes || s->writes[i];
      }
      passed_[i] = operand_count();
      add_operand(*v, reads, writes);
    }
  }

  /// An output that may be a view of an operand has no known geometry: it is fresh or any region inside. A loop that runs no round
  /// returns what it was given.
  void add_subgraph_results(const Graph& last, const std::vector<const SubgraphEffect*>& inside, bool is_loop) {
    if (last.outputs.empty()) set(Trait::returns_nothing);
    for (std::size_t k = 0; k < last.outputs.size(); ++k) {
      std::vector<std::uint32_t>& roots = effects_.long_lists_.emplace_back();
      for (std::size_t i = 0; i < passed_.size(); ++i) {
        bool alias = is_loop;
        for (const SubgraphEffect* s : inside) {
          alias = alias || (k < s->output_roots.size() &&
                            std::find(s->output_roots[k].begin(), s->output_roots[k].end(), i) != s->output_roots[k].end());
        }
        if (alias && passed_[i] != ~0U) roots.push_back(passed_[i]);
      }
      const bool tensor = inside.back()->output_is_tensor[k];
      const ResultKind kind = !tensor ? ResultKind::none : roots.empty() ? ResultKind::fresh : ResultKind::opaque;
      const bool wraps_one = last.outputs.size() == 1 && !last.returns_bare_value;
      add_result(kind, wraps_one, false, roots);
    }
  }

  const Program& program_;
  const Graph& graph_;
  const Operations& operations_;
  Summaries& summaries_;
  Effects& effects_;
  const int depth_;

  Effects::Record record_;
  std::vector<bool> no_tensor_;  ///< by value: surely a number, None, a subgraph. Bits, which stay in the cache
  std::vector<bool> picked_;     ///< by value: a getitem picks from it; empty until asked for

  std::unordered_map<NodeId, ValueId> births_;

  // The node in work, by schema argument; kept to save allocations.
  std::vector<const Argument*> bound_;
  std::vector<std::uint32_t> first_, count_, order_;
  std::vector<std::uint32_t> passed_;  ///< by leaf of a subgraph call: its operand, or ~0
};

Effects::Effects(const Program& program, const Options& options) {
  const Operations operations(program, options);
  EffectsBuilder::Summaries summaries;
  *this = EffectsBuilder::build(program, program.graph, operations, summaries, 0);
  if (options.lowering == Lowering::executorch) EffectsBuilder::add_shared_allocations(program, *this);
}

std::string effect_source(const Program& program, NodeId n, const Options& options) {
  const Node& node = program.graph.node(n);
  if (node.kind == Node::Kind::get_attr) return "attribute";
  const Operations operations(program, options);
  if (operations.of(node).kind != Operation::Kind::higher_order) return operations.of(node).source;
  return Effects(program, options).has(n, Trait::opaque) ? "opaque: no schema" : "subgraph";
}

}  // namespace writeback
