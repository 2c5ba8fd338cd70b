#include "impl/import/graph_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "ref/graph/error.h"
#include "ref/graph/schema.h"

namespace writeback::impl {
namespace {

bool is_identifier(std::string_view name) {
  const auto fits = [](char c) { return c == '_' || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9'); };
  return !name.empty() && std::all_of(name.begin(), name.end(), fits) && !(name[0] >= '0' && name[0] <= '9');
}

bool take_prefix(std::string_view& text, std::string_view prefix) {
  if (text.substr(0, prefix.size()) != prefix) return false;
  text.remove_prefix(prefix.size());
  return true;
}

/// `ns.op.overload`; without an overload it is "default".
bool split_operator(std::string_view text, Target& target) {
  const std::size_t first = text.find('.');
  if (first == std::string_view::npos || first == 0) return false;
  const std::size_t second = text.find('.', first + 1);
  target.ns = text.substr(0, first);
  target.name = text.substr(first + 1, second == std::string_view::npos ? second : second - first - 1);
  target.overload = second == std::string_view::npos ? "default" : text.substr(second + 1);
  return !target.name.empty() && !target.overload.empty();
}

Target read_target(const Json& json) {
  std::string_view text = json.string();
  Target target;
  if (text.empty()) json.fail("expected the name of an operator");
  if (take_prefix(text, "torch.ops.higher_order.")) {
    target.kind = Target::Kind::higher_order;
    target.name = text;
  } else if (take_prefix(text, "torch.ops.")) {
    if (!split_operator(text, target)) json.fail("expected torch.ops.<namespace>.<operator>.<overload>");
  } else if (take_prefix(text, "executorch.exir.dialects.edge.ops.") || take_prefix(text, "executorch.exir.dialects.edge._ops.")) {
    target.kind = Target::Kind::edge_op;
    if (!split_operator(text, target)) json.fail("expected <namespace>.<operator>.<overload> behind the dialect");
  } else {
    target.kind = Target::Kind::python;
    target.name = take_prefix(text, "_operator.") ? "operator." + std::string(text) : std::string(text);
  }
  return target;
}

std::vector<SymInt> read_sizes(const Json& json);

SymInt read_sym_int(const Json& json) {
  if (json.is_integer()) return json.integer();  // offsets of old files
  const std::string_view tag = json.tag();
  const Json value = json[tag];
  if (tag == "as_int") return value.integer();
  if (tag == "as_expr") return SymInt::parse(value["expr_str"].string());
  json.fail("expected as_int or as_expr");
}

std::vector<SymInt> read_sizes(const Json& json) {
  std::vector<SymInt> sizes;
  json.each([&](const Json& size) { sizes.push_back(read_sym_int(size)); });
  return sizes;
}

std::string device_text(const Json& device, bool as_argument) {
  const std::string type = device["type"].text();
  const Json index = device["index"];
  if (as_argument) {
    return index.is_null() ? fmt::format("device(type='{}')", type)
                           : fmt::format("device(type='{}', index={})", type, index.integer());
  }
  return index.is_null() ? type : fmt::format("{}:{}", type, index.integer());
}

/// A symbolic scalar's meta; constants have none.
ValueMeta read_scalar_meta(const Json& json, SymScalarMeta::Kind kind) {
  if (json.tag() != "as_expr") return {};
  const Json expression = json["as_expr"];
  return SymScalarMeta{kind, SymInt::parse(expression["expr_str"].string()).text()};
}

std::string complex_text(double real, double imag) {
  if (real == 0) return fmt::format("{}j", imag);
  return fmt::format("({}{:+}j)", real, imag);
}

/// The name that torch.fx would start from.
std::string base_name(const Target& target) {
  const std::size_t dot = target.name.rfind('.');
  std::string base = dot == std::string::npos ? target.name : target.name.substr(dot + 1);
  for (char& c : base) {
    if (!is_identifier(std::string("_") + c)) c = '_';
  }
  return is_identifier(base) ? base : "_" + base;
}

}  // namespace

std::string_view name_in(const Json& argument) {
  if (argument.is_string()) return argument.string();
  return argument["name"].string();
}

std::string_view defined_name(const Json& argument) {
  const std::string_view tag = argument.tag();
  const Json value = argument[tag];
  if (tag == "as_tensor" || tag == "as_custom_obj") return name_in(value);
  if (tag == "as_sym_int" || tag == "as_sym_float" || tag == "as_sym_bool") {
    if (value.tag() == "as_name") return value["as_name"].string();
  }
  if (tag == "as_optional_tensor" && value.tag() == "as_tensor") {
    const Json tensor = value["as_tensor"];
    return name_in(tensor);
  }
  return {};
}

TensorMeta read_tensor_meta(const Json& json, Numbering numbering) {
  TensorMeta meta;
  meta.dtype = dtype_from_number(json["dtype"].integer(), numbering);
  meta.sizes = read_sizes(json["sizes"]);
  const Json strides = json["strides"];
  if (!strides.is_null()) meta.strides = read_sizes(strides);
  if (meta.strides && meta.strides->size() != meta.sizes.size()) strides.fail("expected as many strides as sizes");
  const Json offset = json["storage_offset"];
  if (!offset.is_null()) meta.storage_offset = read_sym_int(offset);
  const Json device = json["device"];
  if (!device.is_null()) meta.device = device_text(device, false);
  return meta;
}

TargetId ReadingContext::intern(Target target) {
  const std::string key = fmt::format("{} {} {} {}", static_cast<int>(target.kind), target.ns, target.name, target.overload);
  const auto [entry, is_new] = ids_.try_emplace(key, TargetId{static_cast<std::uint32_t>(program_.targets.size())});
  if (is_new) program_.targets.push_back(std::move(target));
  return entry->second;
}

void GraphReader::read(const Json& graph, const std::vector<std::string>& input_names) {
  source_ = &graph;
  read_metas(graph);
  read_inputs(graph["inputs"], input_names);
  graph["nodes"].each([&](const Json& node) { read_node(node); });
  graph["outputs"].each([&](const Json& output) { graph_.outputs.push_back(argument(output)); });
  const Json single = graph["is_single_tensor_return"];
  graph_.returns_bare_value = !single.is_null() && single.boolean();
  if (graph_.returns_bare_value && graph_.outputs.size() != 1) single.fail("expected one output where a bare value is returned");
}

void GraphReader::read_metas(const Json& graph) {
  const auto read = [&](const char* table, auto&& meta_of) {
    const Json values = graph[table];
    if (values.is_null()) return;
    values.members([&](std::string_view name, const Json& value) { metas_.insert_or_assign(name, meta_of(value)); });
  };
  read("tensor_values", [&](const Json& v) -> ValueMeta { return read_tensor_meta(v, context_.numbering()); });
  read("sym_int_values", [](const Json& v) { return read_scalar_meta(v, SymScalarMeta::Kind::integer); });
  read("sym_float_values", [](const Json& v) { return read_scalar_meta(v, SymScalarMeta::Kind::floating); });
  read("sym_bool_values", [](const Json& v) { return read_scalar_meta(v, SymScalarMeta::Kind::boolean); });
}

ValueMeta GraphReader::meta_named(std::string_view name) const {
  const auto found = metas_.find(name);
  return found == metas_.end() ? ValueMeta{} : found->second;
}

void GraphReader::define(const Json& at, const std::string& name, ValueId value) {
  if (!is_identifier(name)) at.fail("expected a name of letters, digits and '_', found '" + name + "'");
  if (!values_.emplace(name, value).second) at.fail("the name '" + name + "' is defined twice");
}

void GraphReader::read_inputs(const Json& inputs, const std::vector<std::string>& input_names) {
  inputs.each([&](const Json& input) {
    const std::size_t i = graph_.placeholders.size();
    std::string name(defined_name(input));
    ValueMeta meta = meta_named(name);
    if (name.empty() && i < input_names.size()) name = input_names[i];
    if (name.empty()) name = "arg" + std::to_string(i);
    define(input, name, value_id(i));
    graph_.placeholders.push_back({std::move(name), std::move(meta)});
  });
}

ValueId GraphReader::add_node(const Json& at, Node node) {
  const ValueId value = value_id(graph_.value_count());
  define(at, node.name, value);
  graph_.nodes.push_back(std::move(node));
  return value;
}

GraphReader::Result GraphReader::result(const Json& output) {
  const std::string_view tag = output.tag();
  Result result{defined_name(output), {}, false};
  const Json value = output[tag];
  if (tag == "as_tensors" || tag == "as_sym_ints" || tag == "as_sym_floats" || tag == "as_sym_bools" ||
      tag == "as_optional_tensors") {
    result.is_list = true;
    value.each([&](const Json& item) {
      if (tag == "as_tensors") {
        result.items.push_back({name_in(item), {}, false});
      } else if (item.tag() == "as_name") {
        result.items.push_back({item["as_name"].string(), {}, false});
      } else if (item.tag() == "as_tensor") {
        const Json tensor = item["as_tensor"];
        result.items.push_back({name_in(tensor), {}, false});
      } else {
        result.items.emplace_back();
      }
    });
  }
  return result;
}

void GraphReader::read_node(const Json& json) {
  Node call;
  Target target = read_target(json["target"]);
  if (target.kind == Target::Kind::python && target.name.starts_with("self.")) {
    call.kind = Node::Kind::get_attr;
    target.name.erase(0, sizeof("self.") - 1);
  }
  call.target = context_.intern(target);
  read_arguments(json["inputs"], call);
  const Json metadata = json["metadata"];
  if (!metadata.is_null()) {
    metadata.members([&](std::string_view key, const Json& value) { call.metadata.emplace(key, value.string()); });
  }
  std::vector<Result> results;
  json["outputs"].each([&](const Json& output) { results.push_back(result(output)); });
  const Json single_of_hop = json["is_hop_single_tensor_return"];
  const bool tuple_of_one = target.kind == Target::Kind::higher_order && !single_of_hop.is_null() && !single_of_hop.boolean();
  const bool single = results.empty() || (results.size() == 1 && !results[0].is_list && (!tuple_of_one || results[0].name.empty()));
  call.name = node_name(json, target, results, single);
  add_results(json, std::move(call), results, single);
}

void GraphReader::add_results(const Json& json, Node call, const std::vector<Result>& results, bool single) {
  const std::string unused_prefix = call.name + "_unused_";
  if (single && !results.empty()) call.meta = meta_named(results[0].name);
  const ValueId value = add_node(json, std::move(call));
  if (single) return;
  if (results.size() == 1 && results[0].is_list) return add_getitems(value, results[0].items, unused_prefix);
  add_getitems(value, results, unused_prefix);
}

void GraphReader::add_getitems(ValueId from, const std::vector<Result>& results, const std::string& unused_prefix) {
  const auto is_unused = [&](const Result& r) { return r.name.empty() || r.name.substr(0, unused_prefix.size()) == unused_prefix; };
  for (std::size_t i = 0; i < results.size(); ++i) {
    const Result& result = results[i];
    const bool skip = result.is_list ? std::all_of(result.items.begin(), result.items.end(), is_unused) : is_unused(result);
    if (skip) continue;
    Node node;
    node.target = context_.intern({Target::Kind::python, "", "operator.getitem", ""});
    node.name = result.is_list ? fresh_name("getitem") : std::string(result.name);
    node.args = {from, static_cast<std::int64_t>(i)};
    node.meta = meta_named(result.name);
    const ValueId picked = add_node(*source_, std::move(node));
    if (result.is_list) add_getitems(picked, result.items, unused_prefix);
  }
}

std::string GraphReader::node_name(const Json& json, const Target& target, const std::vector<Result>& results, bool single) {
  if (single && !results.empty() && !results[0].name.empty()) return std::string(results[0].name);
  const Json name = json["name"];
  if (!name.is_null() && !name.string().empty()) return name.text();
  for (std::size_t i = 0; i < results.size() && !single; ++i) {  // an output that nothing uses carries the node's name
    const Result& r = results[i].is_list && !results[i].items.empty() ? results[i].items[0] : results[i];
    const std::size_t at = r.name.rfind("_unused_");
    if (at != std::string_view::npos && at > 0) return std::string(r.name.substr(0, at));
  }
  return fresh_name(base_name(target));
}

std::string GraphReader::fresh_name(const std::string& base) {
  if (reserved_.empty()) reserve_names(*source_);
  const auto taken = [&](const std::string& name) { return reserved_.count(name) != 0 || values_.count(name) != 0; };
  std::string name = base;
  for (std::uint32_t& suffix = next_suffix_[base]; taken(name);) name = base + "_" + std::to_string(++suffix);
  return name;
}

void GraphReader::name_all(const Result& result, std::unordered_set<std::string_view>& names) {
  names.insert(result.name);
  for (const Result& item : result.items) name_all(item, names);
}

void GraphReader::reserve_names(const Json& graph) {
  graph["nodes"].each([&](const Json& node) {
    const Json name = node["name"];
    if (name.is_string()) reserved_.insert(name.string());
    node["outputs"].each([&](const Json& output) { name_all(result(output), reserved_); });
  });
  reserved_.insert("");
}

/// Is the argument `name` passed by keyword? Files since schema 8 say so; for older ones the op's schema tells where keywords
/// start.
bool GraphReader::is_keyword(const Json& input, const Node& node, const std::string& name) const {
  constexpr std::int64_t kPositional = 1, kKeyword = 2;
  const Json kind = input["kind"];
  if (name.empty() || (!kind.is_null() && kind.integer() == kPositional)) return false;
  if (!kind.is_null() && kind.integer() == kKeyword) return true;
  const Target& target = context_.target(node.target);
  const Schema* schema = target.is_op() ? SchemaTable::builtin().find(target) : nullptr;
  if (schema == nullptr) return false;
  const SchemaArgument* argument = schema->argument(name);
  if (argument == nullptr) return false;
  // An argument that stands behind one that was left out cannot be positional either.
  return argument->keyword_only || static_cast<std::size_t>(argument - schema->arguments.data()) != node.args.size();
}

void GraphReader::read_arguments(const Json& inputs, Node& node) {
  inputs.each([&](const Json& input) {
    const std::string name = input["name"].text();
    Argument value = argument(input["arg"]);
    if (is_keyword(input, node, name)) {
      node.kwargs.push_back({name, std::move(value)});
    } else {
      node.args.push_back(std::move(value));
    }
  });
}

ValueId GraphReader::add_subgraph(const Json& argument) {
  const std::string attribute = argument["name"].text();
  const auto is_known = [&](const Subgraph& s) { return s.attribute == attribute; };
  if (std::none_of(graph_.subgraphs.begin(), graph_.subgraphs.end(), is_known)) {
    Subgraph subgraph{attribute, {}};
    subgraph.graph.class_name = attribute;
    const Json graph = argument["graph"];
    GraphReader(context_, subgraph.graph).read(graph);
    graph_.subgraphs.push_back(std::move(subgraph));
  }
  Node node;
  node.kind = Node::Kind::get_attr;
  node.target = context_.intern({Target::Kind::python, "", attribute, ""});
  node.name = fresh_name(attribute);
  return add_node(argument, std::move(node));
}

Argument GraphReader::value_named(const Json& json) const {
  const auto found = values_.find(json.text());
  if (found == values_.end())
    throw UndefinedValue(json.pointer(), "uses '" + json.text() + "', which nothing before it defines", json.text());
  return found->second;
}

Argument GraphReader::symbolic(const Json& json) const {
  const std::string_view tag = json.tag();
  const Json value = json[tag];
  if (tag == "as_name") return value_named(value);
  if (tag == "as_int") return value.integer();
  if (tag == "as_float") return value.number();
  if (tag == "as_bool") return value.boolean();
  json.fail("expected as_name or a constant");
}

Argument GraphReader::optional_tensor(const Json& json) const {
  if (json.tag() == "as_none") return {};
  const Json tensor = json["as_tensor"];
  if (tensor.is_string()) return value_named(tensor);
  return value_named(tensor["name"]);
}

Argument GraphReader::custom_object(const Json& json) const {
  const auto found = values_.find(json["name"].text());
  if (found != values_.end()) return found->second;
  return Symbol{Symbol::Kind::other, json["name"].text()};
}

Argument GraphReader::opaque(const Json& json, const std::string& text, const std::string& what) {
  context_.warn(json, what + " is not known; it is kept as a word that names no value");
  return Symbol{Symbol::Kind::other, text};
}

Argument GraphReader::scalar_type(const Json& json) {
  const DType dtype = dtype_from_number(json.integer(), context_.numbering());
  const std::string number = std::to_string(json.integer());
  if (dtype == DType::unknown) return opaque(json, "scalar_type_" + number, "scalar type " + number);
  return Symbol{Symbol::Kind::dtype, std::string(python_name(dtype))};
}

template <typename F>
Argument GraphReader::list(const Json& json, F&& item) {
  ListArgument list;
  json.each([&](const Json& j) { list.items.push_back(item(j)); });
  return list;
}

Argument GraphReader::argument(const Json& json) {
  const std::string_view tag = json.tag();
  const Json value = json[tag];
  const auto integer = [](const Json& j) -> Argument { return j.integer(); };
  const auto number = [](const Json& j) -> Argument { return j.number(); };
  const auto boolean = [](const Json& j) -> Argument { return j.boolean(); };
  const auto string = [](const Json& j) -> Argument { return j.text(); };
  const auto tensor = [this](const Json& j) { return j.is_string() ? value_named(j) : value_named(j["name"]); };
  const auto sym = [this](const Json& j) { return symbolic(j); };
  if (tag == "as_none") return {};
  if (tag == "as_tensor") return tensor(value);
  if (tag == "as_tensors") return list(value, tensor);
  if (tag == "as_int") return integer(value);
  if (tag == "as_ints") return list(value, integer);
  if (tag == "as_float") return number(value);
  if (tag == "as_floats") return list(value, number);
  if (tag == "as_bool") return boolean(value);
  if (tag == "as_bools") return list(value, boolean);
  if (tag == "as_string") return string(value);
  if (tag == "as_strings") return list(value, string);
  if (tag == "as_sym_int" || tag == "as_sym_float" || tag == "as_sym_bool") return symbolic(value);
  if (tag == "as_sym_ints" || tag == "as_sym_floats" || tag == "as_sym_bools") return list(value, sym);
  if (tag == "as_optional_tensor") return optional_tensor(value);
  if (tag == "as_optional_tensors") return list(value, [this](const Json& j) { return optional_tensor(j); });
  if (tag == "as_nested_tensors") return list(value, [&](const Json& j) { return list(j, tensor); });
  if (tag == "as_float_lists") return list(value, [&](const Json& j) { return list(j, number); });
  if (tag == "as_int_lists") {
    return list(value, [&](const Json& j) {
      Argument item = list(j, integer);
      std::get<ListArgument>(item).tuple = true;
      return item;
    });
  }
  if (tag == "as_string_to_argument") {
    DictArgument dict;
    value.members([&](std::string_view key, const Json& j) { dict.items.emplace_back(key, argument(j)); });
    return dict;
  }
  if (tag == "as_scalar_type") return scalar_type(value);
  if (tag == "as_layout") {
    const auto name = layout_from_number(value.integer());
    if (!name) return opaque(json, "layout_" + std::to_string(value.integer()), "this layout");
    return Symbol{Symbol::Kind::layout, std::string(*name)};
  }
  if (tag == "as_memory_format") {
    const auto name = memory_format_from_number(value.integer());
    if (!name) return opaque(json, "memory_format_" + std::to_string(value.integer()), "this memory format");
    return Symbol{Symbol::Kind::memory_format, std::string(*name)};
  }
  if (tag == "as_device") return Symbol{Symbol::Kind::device, device_text(value, true)};
  if (tag == "as_operator") return Symbol{Symbol::Kind::op, value.text()};
  if (tag == "as_complex") return Symbol{Symbol::Kind::other, complex_text(value["real"].number(), value["imag"].number())};
  if (tag == "as_custom_obj") return custom_object(value);
  if (tag == "as_graph") return add_subgraph(value);
  return opaque(json, std::string(tag), "the argument kind '" + std::string(tag) + "'");
}

}  // namespace writeback::impl
