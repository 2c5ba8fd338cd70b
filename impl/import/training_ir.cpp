#include "impl/import/training_ir.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <set>
#include <string>

#include "ref/graph/effects.h"
#include "ref/graph/error.h"

namespace writeback::impl {
namespace {

/// Which placeholders' storages a tensor may lie in.
struct Origins {
  std::vector<ValueId> placeholders;  ///< sorted
  bool own_region = false;            ///< it is the one placeholder's very tensor

  void add(const Origins& other) {
    std::vector<ValueId> both;
    std::set_union(placeholders.begin(), placeholders.end(), other.placeholders.begin(), other.placeholders.end(),
                   std::back_inserter(both));
    placeholders = std::move(both);
  }
};

/// One result of a node: a tensor, or a list whose elements are `elements` (where they differ) or all alike.
struct Result {
  Origins origins;
  bool is_list = false;
  std::vector<Origins> elements;
};

class Walk {
 public:
  Walk(const Program& program, const Effects& effects)
      : graph_(program.graph), effects_(effects), results_(graph_.value_count()), final_(graph_.placeholders.size()) {}

  std::vector<WriteBack> run() {
    for (std::size_t i = 0; i < graph_.placeholders.size(); ++i) results_[i] = {{{{value_id(i)}, true}, false, {}}};
    for (std::size_t n = 0; n < graph_.nodes.size(); ++n) {
      add_results(node_id(n));
      if (!effects_.has(node_id(n), Trait::opaque)) note_writes(node_id(n));
    }
    std::vector<WriteBack> writes;
    for (std::size_t i = 0; i < final_.size(); ++i) {
      if (final_[i]) writes.push_back({static_cast<std::uint32_t>(writes.size()), value_id(i), *final_[i]});
    }
    return writes;
  }

 private:
  /// The tensor that a value is; that of a tuple or list is the union of its parts.
  Origins origins_of(ValueId v) const {
    const std::vector<Result>& results = results_[index_of(v)];
    if (results.size() == 1 && !results[0].is_list) return results[0].origins;
    Origins all;
    for (const Result& result : results) all.add(result.origins);
    return all;
  }

  Result result_of(NodeId n, const ResultEffect& effect) const {
    Result result;
    result.is_list = effect.list;
    const auto operands = effects_.operands(n);
    const bool aliases =
        effect.kind == ResultKind::same || effect.kind == ResultKind::alias || effect.kind == ResultKind::may_alias;
    if (!aliases) return result;
    for (const std::uint32_t o : effect.operands) {
      Origins origins = origins_of(operands[o].value);
      origins.own_region = origins.own_region && effect.kind == ResultKind::same;
      if (effect.elementwise) result.elements.push_back(origins);
      result.origins.add(origins);
      if (effect.operands.size() == 1) result.origins.own_region = origins.own_region;
    }
    return result;
  }

  void add_results(NodeId n) {
    std::vector<Result>& results = results_[index_of(graph_.result_of(n))];
    if (effects_.has(n, Trait::getitem)) {
      if (!effects_.operands(n).empty()) results.push_back(picked(effects_.operands(n)[0].value, effects_.getitem_index(n)));
      return;
    }
    for (const ResultEffect& effect : effects_.results(n)) results.push_back(result_of(n, effect));
  }

  /// Entry `index` of a tuple, or element `index` of a list.
  Result picked(ValueId from, std::int64_t index) const {
    const std::vector<Result>& results = results_[index_of(from)];
    const auto i = static_cast<std::size_t>(index);
    if (results.size() != 1) return index >= 0 && i < results.size() ? results[i] : Result{};
    if (!results[0].is_list || index < 0 || i >= results[0].elements.size()) return {results[0].origins, false, {}};
    return {results[0].elements[i], false, {}};
  }

  void note_writes(NodeId n) {
    const ValueId value = graph_.result_of(n);
    const std::vector<Result>& results = results_[index_of(value)];
    for (const OperandEffect& operand : effects_.operands(n)) {
      if (!operand.writes) continue;
      for (const ValueId p : origins_of(operand.value).placeholders) {
        const bool is_own = results.size() == 1 && !results[0].is_list && results[0].origins.own_region &&
                            results[0].origins.placeholders.front() == p;
        std::optional<ValueId>& final = final_[index_of(p)];
        if (is_own) final = value;
        if (!final) final = p;
      }
    }
  }

  const Graph& graph_;
  const Effects& effects_;
  std::vector<std::vector<Result>> results_;   ///< by value
  std::vector<std::optional<ValueId>> final_;  ///< by placeholder, where it is written
};

/// The kind of output that says that such an input is mutated; nullopt where none does.
std::optional<OutputKind> mutation_of(InputKind kind) {
  switch (kind) {
    case InputKind::buffer:
      return OutputKind::buffer_mutation;
    case InputKind::parameter:
      return OutputKind::parameter_mutation;
    case InputKind::user_input:
      return OutputKind::user_input_mutation;
    case InputKind::constant_tensor:
    case InputKind::custom_obj:
    case InputKind::token:
    case InputKind::constant_input:
      return std::nullopt;
  }
  return std::nullopt;
}

/// The namespaces of the program's own schemas: what they say of writes is believed here.
Options trusting_own_schemas(const Program& program) {
  std::set<std::string> names;
  for (const std::string& schema : program.schemas) names.insert(schema.substr(0, schema.find("::")));
  Options options;
  options.lowering = Lowering::none;
  options.trusted.assign(names.begin(), names.end());
  return options;
}

}  // namespace

std::vector<WriteBack> in_place_writes(const Program& program) {
  const Effects effects(program, trusting_own_schemas(program));
  return Walk(program, effects).run();
}

std::vector<WriteBack> writes_of(const Program& program) {
  std::vector<WriteBack> writes = write_backs(program);
  if (!writes.empty()) return writes;
  try {
    return in_place_writes(program);
  } catch (const InputError&) {  // an op that is refused: whoever asks for more than reading will be told
    return {};
  }
}

void list_in_place_writes(Program& program) {
  const auto mutates = [](const OutputSpec& spec) { return is_mutation(spec.kind); };
  if (program.input_specs.size() != program.graph.placeholders.size() ||
      std::any_of(program.output_specs.begin(), program.output_specs.end(), mutates)) {
    return;
  }
  std::vector<Argument> outputs;
  std::vector<OutputSpec> specs;
  for (const WriteBack& write : in_place_writes(program)) {
    const InputSpec& input = program.input_specs[index_of(write.target)];
    const std::optional<OutputKind> kind = mutation_of(input.kind);
    if (!kind) continue;
    outputs.emplace_back(write.value);
    specs.push_back({*kind, input.kind == InputKind::user_input ? program.graph.name_of(write.target) : input.target});
  }
  if (specs.empty()) return;
  program.graph.returns_bare_value = false;
  program.graph.outputs.insert(program.graph.outputs.begin(), outputs.begin(), outputs.end());
  program.output_specs.insert(program.output_specs.begin(), specs.begin(), specs.end());
}

}  // namespace writeback::impl
