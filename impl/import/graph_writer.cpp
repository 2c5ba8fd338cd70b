#include "impl/import/graph_writer.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "impl/import/encoding.h"
#include "ref/graph/strides.h"

namespace writeback::impl {
namespace {

constexpr std::int64_t kPositional = 1, kKeyword = 2, kStrided = 7;

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

/// A symbol as sympy spells it. torch names sizes that it may assume positive `s...`, unbacked ones `u...`, floats `z...`.
std::string symbol_text(const std::string& name) {
  if (name[0] == 's') return fmt::format("Symbol('{}', positive=True, integer=True)", name);
  if (name[0] == 'u') return fmt::format("Symbol('{}', integer=True)", name);
  return fmt::format("Symbol('{}')", name);
}

/// The expression with each symbol spelled out, which is what torch can read back: `Symbol('s0', ...) + 1`.
std::string expression_text(const std::string& text) {
  if (text.find("Symbol(") != std::string::npos) return text;
  std::string result;
  for (std::size_t i = 0; i < text.size();) {
    std::size_t end = i;
    while (end < text.size() && is_word(text[end])) ++end;
    const std::string word = text.substr(i, std::max<std::size_t>(end - i, 1));
    const bool is_function = end < text.size() && text[end] == '(';
    const bool is_name = end > i && std::isdigit(static_cast<unsigned char>(word[0])) == 0 && !is_function;
    result += is_name ? symbol_text(word) : word;
    i += word.size();
  }
  return result;
}

JsonOut expression_json(const std::string& text) { return {{"as_expr", {{"expr_str", expression_text(text)}, {"hint", nullptr}}}}; }

/// The names of a Python function's parameters: torch looks at their order alone.
std::string python_parameter(std::size_t index) {
  return std::string(1, static_cast<char>('a' + std::min<std::size_t>(index, 25)));
}

JsonOut contiguous_strides_json(const std::vector<SymInt>& sizes) {
  std::vector<JsonOut> strides(sizes.size());
  std::string product = "1";
  bool symbolic = false;
  std::int64_t number = 1;
  for (std::size_t i = sizes.size(); i-- > 0;) {
    strides[i] = symbolic ? expression_json(product) : JsonOut{{"as_int", number}};
    symbolic = symbolic || !sizes[i].is_number();
    product = fmt::format("({})*{}", sizes[i].text(), product);
    if (sizes[i].is_number() && __builtin_mul_overflow(number, std::max<std::int64_t>(sizes[i].number(), 1), &number)) number = 0;
  }
  JsonOut json = JsonOut::array();
  for (JsonOut& stride : strides) json.push_back(std::move(stride));
  return json;
}

JsonOut sizes_json(const std::vector<SymInt>& sizes) {
  JsonOut json = JsonOut::array();
  for (const SymInt& size : sizes) json.push_back(sym_int_json(size));
  return json;
}

JsonOut device_of(const std::string& device) {
  const std::size_t colon = device.find(':');
  JsonOut index = nullptr;
  if (colon != std::string::npos) index = std::atoi(device.c_str() + colon + 1);
  return {{"type", device.empty() ? "cpu" : device.substr(0, colon)}, {"index", index}};
}

/// Adds a member that is not there yet. (operator[] of an ordered object looks at all members first.)
void append(JsonOut& object, const std::string& key, JsonOut value) {
  object.get_ref<JsonOut::object_t&>().emplace_back(key, std::move(value));
}

/// A value whose meta would be a tensor's, were it told: torch needs one for results that nothing uses.
JsonOut unknown_tensor_meta() {
  return {
      {"dtype", number_of(DType::f32)}, {"sizes", JsonOut::array()},         {"requires_grad", false}, {"device", device_of("")},
      {"strides", JsonOut::array()},    {"storage_offset", {{"as_int", 0}}}, {"layout", kStrided}};
}

}  // namespace

JsonOut sym_int_json(const SymInt& size) {
  return size.is_number() ? JsonOut{{"as_int", size.number()}} : expression_json(size.text());
}

std::string target_text(const Target& target) {
  switch (target.kind) {
    case Target::Kind::op:
      return fmt::format("torch.ops.{}.{}.{}", target.ns, target.name, target.overload);
    case Target::Kind::edge_op:
      return fmt::format("executorch.exir.dialects.edge.ops.{}.{}.{}", target.ns, target.name, target.overload);
    case Target::Kind::higher_order:
      return "torch.ops.higher_order." + target.name;
    case Target::Kind::python:
      break;
  }
  return fmt::format("{}{}", target.name.starts_with("operator.") ? "_" : "", target.name);
}

GraphWriter::GraphWriter(const Program& program, const SchemaTable& schemas, const Graph& graph)
    : program_(program), schemas_(schemas), graph_(graph) {
  if (&graph == &program.graph) strides_ = guessed_strides(program);
  for (std::size_t n = 0; n < graph.nodes.size(); ++n) {
    if (!is_picked(node_id(n))) continue;
    const Node& node = graph.nodes[n];
    const ValueId result = graph.result_of(node_id(n));
    const auto [first, is_new] = picks_[*as_value(node.args[0])].try_emplace(*as_int(node.args[1]), result);
    if (!is_new) twins_.emplace(result, first->second);
  }
}

/// A getitem that the file keeps as a name among its producer's outputs.
bool GraphWriter::is_picked(NodeId n) const {
  const Node& node = graph_.node(n);
  if (!program_.target(node).is_getitem() || node.args.size() != 2) return false;
  const ValueId* from = as_value(node.args[0]);
  const std::int64_t* index = as_int(node.args[1]);
  return from != nullptr && index != nullptr && *index >= 0 && *index < (1 << 20) && !graph_.is_placeholder(*from);
}

/// The subgraph that a get_attr names; nullptr for all other values.
const Subgraph* GraphWriter::subgraph_of(ValueId v) const {
  if (graph_.is_placeholder(v) || graph_.node(graph_.producer_of(v)).kind != Node::Kind::get_attr) return nullptr;
  const std::string& attribute = program_.target(graph_.node(graph_.producer_of(v))).name;
  const auto named = [&](const Subgraph& subgraph) { return subgraph.attribute == attribute; };
  const auto found = std::find_if(graph_.subgraphs.begin(), graph_.subgraphs.end(), named);
  return found == graph_.subgraphs.end() ? nullptr : &*found;
}

const std::string& GraphWriter::name(ValueId v) const {
  const auto twin = twins_.find(v);
  return graph_.name_of(twin == twins_.end() ? v : twin->second);
}

GraphWriter::ValueKind GraphWriter::kind_of(ValueId v) const { return kind_of(v, nullptr); }

GraphWriter::ValueKind GraphWriter::kind_of(ValueId v, const SchemaType* type) const {
  if (const auto* scalar = std::get_if<SymScalarMeta>(&graph_.meta_of(v))) {
    switch (scalar->kind) {
      case SymScalarMeta::Kind::integer:
        return ValueKind::integer;
      case SymScalarMeta::Kind::floating:
        return ValueKind::floating;
      case SymScalarMeta::Kind::boolean:
        return ValueKind::boolean;
    }
  }
  if (tensor_meta(graph_.meta_of(v)) != nullptr) return ValueKind::tensor;
  if (graph_.is_placeholder(v)) {
    const bool object = &graph_ == &program_.graph && index_of(v) < program_.input_specs.size() &&
                        program_.input_specs[index_of(v)].kind == InputKind::custom_obj;
    return object ? ValueKind::custom_object : ValueKind::tensor;
  }
  const Node& node = graph_.node(graph_.producer_of(v));
  const Target& target = program_.target(node);
  if (type == nullptr) {
    const Schema* schema = target.is_op() ? schemas_.find(target) : nullptr;
    if (schema != nullptr && schema->returns.size() == 1) type = &schema->returns[0].type;
  }
  const std::string base = type == nullptr ? "" : type->base;
  if (base == "int" || base == "SymInt" || base == "Scalar") return ValueKind::integer;
  if (base == "float") return ValueKind::floating;
  if (base == "bool" || base == "SymBool") return ValueKind::boolean;
  if (target.kind != Target::Kind::python || target.is_getitem()) return ValueKind::tensor;
  static constexpr std::string_view kComparisons[] = {"operator.eq", "operator.ne", "operator.lt",  "operator.le",
                                                      "operator.gt", "operator.ge", "torch.sym_not"};
  const bool compares = std::find(std::begin(kComparisons), std::end(kComparisons), target.name) != std::end(kComparisons);
  return compares ? ValueKind::boolean : ValueKind::integer;
}

JsonOut GraphWriter::strides_json(ValueId v, const TensorMeta& meta) const {
  if (meta.strides) return sizes_json(*meta.strides);
  if (index_of(v) >= strides_.size() || !strides_[index_of(v)]) return contiguous_strides_json(meta.sizes);
  return sizes_json({strides_[index_of(v)]->begin(), strides_[index_of(v)]->end()});
}

JsonOut GraphWriter::tensor_meta_of(ValueId v, const TensorMeta& meta) const {
  const bool is_parameter = &graph_ == &program_.graph && graph_.is_placeholder(v) && index_of(v) < program_.input_specs.size() &&
                            program_.input_specs[index_of(v)].kind == InputKind::parameter;
  return {{"dtype", number_of(meta.dtype)},
          {"sizes", sizes_json(meta.sizes)},
          {"requires_grad", is_parameter && (is_floating(meta.dtype) || is_complex(meta.dtype))},
          {"device", device_of(meta.device)},
          {"strides", strides_json(v, meta)},
          {"storage_offset", sym_int_json(meta.storage_offset)},
          {"layout", kStrided}};
}

/// What the file tells of a value, beside the nodes.
void GraphWriter::add_values(ValueId v) {
  const std::string& key = graph_.name_of(v);
  if (const TensorMeta* meta = tensor_meta(graph_.meta_of(v))) append(tensor_values_, key, tensor_meta_of(v, *meta));
  const auto* scalar = std::get_if<SymScalarMeta>(&graph_.meta_of(v));
  if (scalar == nullptr) return;
  switch (scalar->kind) {
    case SymScalarMeta::Kind::integer:
      append(sym_int_values_, key, sym_int_json(SymInt::parse(scalar->text)));
      return;
    case SymScalarMeta::Kind::floating:
      append(sym_float_values_, key, expression_json(scalar->text));
      return;
    case SymScalarMeta::Kind::boolean:
      append(sym_bool_values_, key, expression_json(scalar->text));
      return;
  }
}

JsonOut GraphWriter::graph() {
  JsonOut inputs = JsonOut::array(), outputs = JsonOut::array(), nodes = JsonOut::array();
  for (std::size_t i = 0; i < graph_.placeholders.size(); ++i) {
    const bool constant =
        &graph_ == &program_.graph && i < program_.input_specs.size() && program_.input_specs[i].kind == InputKind::constant_input;
    inputs.push_back(constant ? JsonOut{{"as_none", true}} : named(kind_of(value_id(i)), graph_.placeholders[i].name));
    add_values(value_id(i));
  }
  for (std::size_t n = 0; n < graph_.nodes.size(); ++n) {
    if (twins_.count(graph_.result_of(node_id(n))) == 0) add_values(graph_.result_of(node_id(n)));
    if (subgraph_of(graph_.result_of(node_id(n))) == nullptr && !is_picked(node_id(n))) nodes.push_back(node(node_id(n)));
  }
  for (const Argument& a : graph_.outputs) outputs.push_back(argument(a));
  // Moved, as an initializer list would copy what may be megabytes.
  return {{"inputs", std::move(inputs)},
          {"outputs", std::move(outputs)},
          {"nodes", std::move(nodes)},
          {"tensor_values", std::move(tensor_values_)},
          {"sym_int_values", std::move(sym_int_values_)},
          {"sym_bool_values", std::move(sym_bool_values_)},
          {"is_single_tensor_return", graph_.returns_bare_value},
          {"custom_obj_values", JsonOut::object()},
          {"sym_float_values", std::move(sym_float_values_)}};
}

JsonOut GraphWriter::inputs(const Node& node, const Schema* schema) const {
  const bool is_python = program_.target(node).kind == Target::Kind::python;
  JsonOut json = JsonOut::array();
  for (std::size_t i = 0; i < node.args.size(); ++i) {
    const bool known = schema != nullptr && i < schema->arguments.size();
    const std::string name = known ? schema->arguments[i].name : is_python ? python_parameter(i) : "";
    json.push_back(
        {{"name", name}, {"arg", argument(node.args[i], known ? &schema->arguments[i].type : nullptr)}, {"kind", kPositional}});
  }
  for (const KeywordArgument& keyword : node.kwargs) {
    const SchemaArgument* known = schema != nullptr ? schema->argument(keyword.name) : nullptr;
    json.push_back(
        {{"name", keyword.name}, {"arg", argument(keyword.value, known != nullptr ? &known->type : nullptr)}, {"kind", kKeyword}});
  }
  return json;
}

/// The names that are picked from a list, in order, with names for those between that nothing uses. torch does not read an empty
/// list.
JsonOut GraphWriter::tensors_picked_from(ValueId list, const std::string& unused_prefix) {
  const auto& picks = picks_[list];
  const std::size_t count = picks.empty() ? 1 : static_cast<std::size_t>(picks.rbegin()->first) + 1;
  JsonOut names = JsonOut::array();
  for (std::size_t i = 0; i < count; ++i) {
    const auto pick = picks.find(static_cast<std::int64_t>(i));
    const std::string name = pick != picks.end() ? graph_.name_of(pick->second) : unused_prefix + std::to_string(i);
    if (pick == picks.end()) append(tensor_values_, name, unknown_tensor_meta());
    names.push_back({{"name", name}});
  }
  return names;
}

/// Entry `index` of a tuple of results.
JsonOut GraphWriter::output(NodeId n, std::size_t index, const SchemaType* type) {
  const std::string unused = graph_.node(n).name + "_unused_" + std::to_string(index);
  const auto& picks = picks_[graph_.result_of(n)];
  const auto pick = picks.find(static_cast<std::int64_t>(index));
  if (pick != picks.end() && (picks_.count(pick->second) != 0 || (type != nullptr && type->is_list()))) {
    return {{"as_tensors", tensors_picked_from(pick->second, unused + "_")}};
  }
  if (pick != picks.end()) return named(kind_of(pick->second, type), graph_.name_of(pick->second));
  if (type != nullptr && type->is_list()) return {{"as_tensors", JsonOut::array()}};
  append(tensor_values_, unused, unknown_tensor_meta());
  return named(ValueKind::tensor, unused);
}

/// One from which nothing is picked says so by having no tensor's meta.
bool GraphWriter::is_tuple(NodeId n) const {
  const ValueId result = graph_.result_of(n);
  const bool higher_order = program_.target(graph_.node(n)).kind == Target::Kind::higher_order;
  return picks_.count(result) != 0 || (higher_order && std::holds_alternative<std::monostate>(graph_.meta_of(result)));
}

JsonOut GraphWriter::outputs(NodeId n, const Schema* schema) {
  const ValueId result = graph_.result_of(n);
  const auto picks = picks_.find(result);
  JsonOut json = JsonOut::array();
  if (schema != nullptr && schema->returns.empty()) return json;
  if (schema != nullptr && schema->returns.size() == 1) {
    const SchemaType& type = schema->returns[0].type;
    if (type.is_list())
      return JsonOut::array({JsonOut{{"as_tensors", tensors_picked_from(result, graph_.node(n).name + "_unused_")}}});
    return JsonOut::array({named(kind_of(result, &type), graph_.node(n).name)});
  }
  const std::size_t returns = schema != nullptr ? schema->returns.size() : is_tuple(n) ? 1 : 0;
  const std::size_t picked = picks != picks_.end() ? static_cast<std::size_t>(picks->second.rbegin()->first) + 1 : 0;
  for (std::size_t i = 0; i < std::max(returns, picked); ++i)
    json.push_back(output(n, i, schema != nullptr && i < returns ? &schema->returns[i].type : nullptr));
  if (json.empty()) json.push_back(named(kind_of(result), graph_.node(n).name));
  return json;
}

JsonOut GraphWriter::node(NodeId n) {
  const Node& node = graph_.node(n);
  const Target& target = program_.target(node);
  const Schema* schema = target.is_op() ? schemas_.find(target) : nullptr;
  JsonOut metadata = JsonOut::object();
  for (const auto& [key, text] : node.metadata) metadata[key] = text;
  return {{"target", node.kind == Node::Kind::get_attr ? "self." + target.name : target_text(target)},
          {"inputs", inputs(node, schema)},
          {"outputs", outputs(n, schema)},
          {"metadata", std::move(metadata)},
          {"is_hop_single_tensor_return", target.kind == Target::Kind::higher_order ? JsonOut(!is_tuple(n)) : JsonOut(nullptr)},
          {"name", node.name}};
}

}  // namespace writeback::impl
