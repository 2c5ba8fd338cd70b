// The arguments half of graph_writer.h: which member of the union an argument becomes. torch decides by the values first and by the
// schema only for empty lists; so does this.
#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>

#include "impl/import/encoding.h"
#include "impl/import/graph_writer.h"

namespace writeback::impl {
namespace {

/// A double as torch writes it: what JSON has no number for becomes a word.
JsonOut number_json(double number) {
  if (std::isnan(number)) return "NaN";
  if (std::isinf(number)) return number > 0 ? "Infinity" : "-Infinity";
  return number;
}

/// `device(type='cuda', index=1)` or `cuda:1`.
JsonOut device_json(const std::string& text) {
  const auto quoted = text.find('\'');
  const std::string type = quoted != std::string::npos ? text.substr(quoted + 1, text.find('\'', quoted + 1) - quoted - 1)
                                                       : text.substr(0, text.find(':'));
  const auto digits = text.find_last_not_of("0123456789)");
  JsonOut index = nullptr;
  int number = 0;
  if (digits != std::string::npos && (text[digits] == '=' || text[digits] == ':')) {
    const auto read = std::from_chars(text.data() + digits + 1, text.data() + text.size(), number);
    if (read.ec == std::errc()) index = number;
  }
  return {{"type", type}, {"index", index}};
}

/// Reads `(1-2.5j)` or `2j`.
std::optional<JsonOut> complex_json(std::string text) {
  if (!text.empty() && text.front() == '(' && text.back() == ')') text = text.substr(1, text.size() - 2);
  if (text.empty() || text.back() != 'j') return std::nullopt;
  double first = 0, second = 0;
  const char* end = text.data() + text.size() - 1;
  const auto read = std::from_chars(text.data(), end, first);
  if (read.ec != std::errc()) return std::nullopt;
  if (read.ptr == end) return JsonOut{{"real", 0.0}, {"imag", first}};
  const auto rest = std::from_chars(*read.ptr == '+' ? read.ptr + 1 : read.ptr, end, second);
  if (rest.ec != std::errc() || rest.ptr != end) return std::nullopt;
  return JsonOut{{"real", first}, {"imag", second}};
}

template <typename T>
bool holds(const Argument& a) {
  return std::holds_alternative<T>(a);
}

template <typename T>
bool all_hold(const std::vector<Argument>& items) {
  return std::all_of(items.begin(), items.end(), holds<T>);
}

template <typename T>
JsonOut values_of(const std::vector<Argument>& items) {
  JsonOut json = JsonOut::array();
  for (const Argument& a : items) json.push_back(std::get<T>(a));
  return json;
}

JsonOut numbers_of(const std::vector<Argument>& items) {
  JsonOut json = JsonOut::array();
  for (const Argument& a : items) json.push_back(number_json(std::get<double>(a)));
  return json;
}

/// The tag of an empty list, by the schema's element type.
const char* empty_list_tag(const SchemaType* type) {
  if (type == nullptr || type->base == "Tensor") return "as_tensors";
  if (type->base == "bool") return "as_bools";
  if (type->base == "float") return "as_floats";
  if (type->base == "str") return "as_strings";
  return "as_ints";
}

}  // namespace

JsonOut GraphWriter::named(ValueKind kind, const std::string& name) const {
  switch (kind) {
    case ValueKind::tensor:
      return {{"as_tensor", {{"name", name}}}};
    case ValueKind::integer:
      return {{"as_sym_int", {{"as_name", name}}}};
    case ValueKind::floating:
      return {{"as_sym_float", {{"as_name", name}}}};
    case ValueKind::boolean:
      return {{"as_sym_bool", {{"as_name", name}}}};
    case ValueKind::custom_object:
      return {{"as_custom_obj", {{"name", name}, {"class_fqn", ""}}}};
  }
  return nullptr;
}

JsonOut GraphWriter::value(ValueId v) const {
  if (const Subgraph* subgraph = subgraph_of(v)) {
    const JsonOut graph = GraphWriter(program_, schemas_, subgraph->graph).graph();
    return {{"as_graph", {{"name", subgraph->attribute}, {"graph", graph}}}};
  }
  return named(kind_of(v), name(v));
}

JsonOut GraphWriter::symbol(const Symbol& symbol) const {
  switch (symbol.kind) {
    case Symbol::Kind::dtype:
      if (const auto dtype = dtype_from_python_name(symbol.text)) return {{"as_scalar_type", number_of(*dtype)}};
      break;
    case Symbol::Kind::layout:
      if (const auto number = layout_number(symbol.text)) return {{"as_layout", *number}};
      break;
    case Symbol::Kind::memory_format:
      if (const auto number = memory_format_number(symbol.text)) return {{"as_memory_format", *number}};
      break;
    case Symbol::Kind::device:
      return {{"as_device", device_json(symbol.text)}};
    case Symbol::Kind::op:
      return {{"as_operator", symbol.text}};
    case Symbol::Kind::other:
      if (const auto number = complex_json(symbol.text)) return {{"as_complex", *number}};
      return {{"as_custom_obj", {{"name", symbol.text}, {"class_fqn", ""}}}};
  }
  return {{"as_string", symbol.text}};
}

/// What the schema has no kind of list for: values stay values, under their positions as keys.
JsonOut GraphWriter::by_position(const std::vector<Argument>& items) const {
  JsonOut json = JsonOut::object();
  for (std::size_t i = 0; i < items.size(); ++i) json[std::to_string(i)] = argument(items[i]);
  return {{"as_string_to_argument", json}};
}

JsonOut GraphWriter::list_of_lists(const ListArgument& lists) const {
  const auto all = [&](auto&& fits) {
    return std::all_of(lists.items.begin(), lists.items.end(), [&](const Argument& a) { return fits(*as_list(a)); });
  };
  const auto rows = [&](auto&& row_of) {
    JsonOut json = JsonOut::array();
    for (const Argument& a : lists.items) json.push_back(row_of(as_list(a)->items));
    return json;
  };
  if (all([](const ListArgument& row) { return all_hold<ValueId>(row.items); })) {
    return {{"as_nested_tensors", rows([&](const std::vector<Argument>& row) {
               JsonOut names = JsonOut::array();
               for (const Argument& a : row) names.push_back({{"name", name(*as_value(a))}});
               return names;
             })}};
  }
  if (all([](const ListArgument& row) { return all_hold<std::int64_t>(row.items); })) {
    return {{"as_int_lists", rows(values_of<std::int64_t>)}};
  }
  if (all([](const ListArgument& row) { return all_hold<double>(row.items); })) return {{"as_float_lists", rows(numbers_of)}};
  return by_position(lists.items);
}

JsonOut GraphWriter::list(const ListArgument& list, const SchemaType* type) const {
  const std::vector<Argument>& items = list.items;
  if (items.empty()) return {{empty_list_tag(type), JsonOut::array()}};
  if (all_hold<bool>(items)) return {{"as_bools", values_of<bool>(items)}};
  if (all_hold<std::int64_t>(items)) return {{"as_ints", values_of<std::int64_t>(items)}};
  if (all_hold<double>(items)) return {{"as_floats", numbers_of(items)}};
  if (all_hold<std::string>(items)) return {{"as_strings", values_of<std::string>(items)}};
  if (all_hold<ListArgument>(items)) return list_of_lists(list);
  const auto each = [&](auto&& json_of) {
    JsonOut json = JsonOut::array();
    for (const Argument& a : items) json.push_back(json_of(a));
    return json;
  };
  const auto is_value = [&](const Argument& a, ValueKind kind) { return holds<ValueId>(a) && kind_of(*as_value(a)) == kind; };
  const auto all = [&](auto&& fits) { return std::all_of(items.begin(), items.end(), fits); };
  if (all([&](const Argument& a) { return holds<std::int64_t>(a) || is_value(a, ValueKind::integer); })) {
    return {{"as_sym_ints", each([&](const Argument& a) -> JsonOut {
               return as_int(a) != nullptr ? JsonOut{{"as_int", *as_int(a)}} : JsonOut{{"as_name", name(*as_value(a))}};
             })}};
  }
  if (all([&](const Argument& a) { return holds<double>(a) || is_value(a, ValueKind::floating); })) {
    return {{"as_sym_floats", each([&](const Argument& a) -> JsonOut {
               return holds<double>(a) ? JsonOut{{"as_float", std::get<double>(a)}} : JsonOut{{"as_name", name(*as_value(a))}};
             })}};
  }
  if (all([&](const Argument& a) { return holds<bool>(a) || is_value(a, ValueKind::boolean); })) {
    return {{"as_sym_bools", each([&](const Argument& a) -> JsonOut {
               return holds<bool>(a) ? JsonOut{{"as_bool", std::get<bool>(a)}} : JsonOut{{"as_name", name(*as_value(a))}};
             })}};
  }
  if (all([&](const Argument& a) { return is_value(a, ValueKind::tensor); })) {
    return {{"as_tensors", each([&](const Argument& a) -> JsonOut { return {{"name", name(*as_value(a))}}; })}};
  }
  if (all([&](const Argument& a) { return is_none(a) || is_value(a, ValueKind::tensor); })) {
    return {{"as_optional_tensors", each([&](const Argument& a) -> JsonOut {
               return is_none(a) ? JsonOut{{"as_none", true}} : JsonOut{{"as_tensor", {{"name", name(*as_value(a))}}}};
             })}};
  }
  return by_position(items);
}

JsonOut GraphWriter::argument(const Argument& a, const SchemaType* type) const {
  if (is_none(a)) return {{"as_none", true}};
  if (const auto* v = as_value(a)) return value(*v);
  if (const auto* i = as_int(a)) return {{"as_int", *i}};
  if (const auto* d = std::get_if<double>(&a)) return {{"as_float", number_json(*d)}};
  if (const auto* b = std::get_if<bool>(&a)) return {{"as_bool", *b}};
  if (const auto* s = std::get_if<std::string>(&a)) return {{"as_string", *s}};
  if (const auto* s = std::get_if<Symbol>(&a)) return symbol(*s);
  if (const auto* l = as_list(a)) return list(*l, type);
  if (const auto* s = std::get_if<SliceArgument>(&a)) return by_position(s->parts);
  JsonOut dict = JsonOut::object();
  for (const auto& [key, item] : std::get<DictArgument>(a).items) dict[key] = argument(item);
  return {{"as_string_to_argument", dict}};
}

}  // namespace writeback::impl
