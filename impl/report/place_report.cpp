#include "impl/report/place_report.h"

#include <fmt/core.h>
#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "impl/report/table.h"
#include "ref/graph/error.h"

namespace writeback::impl {
namespace {

using Json = nlohmann::ordered_json;

Json null_or(const Program& program, std::optional<NodeId> node) {
  return node ? Json(program.graph.node(*node).name) : Json(nullptr);
}

Json reason_json(const Program& program, const Reason& reason) {
  Json via = Json::array();
  for (ValueId v : reason.via) via.push_back(program.graph.name_of(v));
  return {{"rule", name_of(reason.rule)},
          {"node", null_or(program, reason.node)},
          {"copy", reason.copy ? Json(*reason.copy) : Json(nullptr)},
          {"via", via}};
}

Json copy_json(const Program& program, const PlaceResult& result, const SlotNames& slots, std::size_t i) {
  const WriteBack& w = result.write_backs[i];
  const PlacedCopy& c = result.placement.copies[i];
  Json json = {{"index", i},
               {"target", program.graph.name_of(w.target)},
               {"value", program.graph.name_of(w.value)},
               {"in_place", c.in_place}};
  json["slot"] = c.in_place ? Json(nullptr) : Json(slots.number(c.at.slot));
  json["after"] = c.in_place ? Json(nullptr) : Json(slots.after(c.at.slot));
  json["end_slot"] = slots.number(slots.end());
  json["order"] = c.in_place ? Json(nullptr) : Json(c.at.order);
  json["temporary"] = c.temporary ? Json(result.placement.temporaries[*c.temporary].name) : Json(nullptr);
  json["reason"] = result.reasons.empty() ? Json(nullptr) : reason_json(program, result.reasons[i]);
  return json;
}

Json hazard_json(const Program& program, const PlaceResult& result, const LoweringHazard& h) {
  Json json = {{"node", null_or(program, h.node)}, {"view", program.graph.node(h.view).name}, {"sentence", h.sentence}};
  if (h.output) {
    const ValueId* v = as_value(program.graph.outputs[*h.output]);
    json["output"] = v ? Json(program.graph.name_of(*v)) : Json(*h.output);
  }
  if (h.input) json["input"] = program.graph.name_of(*h.input);
  if (h.copy) {
    json["copy"] = *h.copy;
    json["target"] = program.graph.name_of(result.write_backs[*h.copy].target);
  }
  return json;
}

std::string output_name(const Program& program, std::uint32_t output) {
  const ValueId* v = as_value(program.graph.outputs[output]);
  return v ? program.graph.name_of(*v) : fmt::format("output {}", output);
}

/// Empty where the placement came from an implementation that gives no reasons.
std::string reason_sentence(const Program& program, const PlaceResult& result, std::size_t copy) {
  return result.reasons.empty() ? "" : sentence(program, result, static_cast<std::uint32_t>(copy));
}

std::string pair_name(const Program& program, const WriteBack& w) {
  return fmt::format("{} <- {}", program.graph.name_of(w.target), program.graph.name_of(w.value));
}

template <typename T>
T member(const nlohmann::json& json, const char* key, const std::string& pointer) {
  const auto found = json.find(key);
  if (found == json.end()) throw InputError(pointer, fmt::format("expected a member \"{}\"", key));
  try {
    return found->get<T>();
  } catch (const nlohmann::json::exception&) {
    throw InputError(fmt::format("{}/{}", pointer, key), "has the wrong type");
  }
}

/// What is told twice must agree.
template <typename T>
void require_same(const nlohmann::json& json, const char* key, const T& expected, const std::string& pointer,
                  const std::string& reason) {
  if (!json.contains(key)) return;
  const T found = member<T>(json, key, pointer);
  if (found != expected)
    throw InputError(fmt::format("{}/{}", pointer, key), fmt::format("expected {} {}, found {}", expected, reason, found));
}

Position position_from(const SlotNames& slots, const nlohmann::json& json, const std::string& pointer) {
  const std::uint32_t order = json.contains("order") ? member<std::uint32_t>(json, "order", pointer) : 0;
  if (!json.contains("after") && json.contains("slot")) {
    const std::optional<Slot> slot = slots.slot_numbered(member<std::uint32_t>(json, "slot", pointer));
    if (!slot) throw InputError(pointer + "/slot", fmt::format("expected at most {}", slots.number(slots.end())));
    return {*slot, order};
  }
  const auto name = member<std::string>(json, "after", pointer);
  const std::optional<Slot> slot = slots.slot_after_name(name);
  if (!slot) throw InputError(pointer + "/after", fmt::format("no node is named '{}'", name));
  require_same(json, "slot", slots.number(*slot), pointer, fmt::format("as it is after '{}'", name));
  return {*slot, order};
}

const nlohmann::json& array_in(const nlohmann::json& json, const char* key) {
  static const nlohmann::json none = nlohmann::json::array();
  const auto found = json.find(key);
  if (found == json.end()) return none;
  if (!found->is_array()) throw InputError(fmt::format("/{}", key), "expected an array");
  return *found;
}

std::vector<Temporary> temporaries_from(const Program& program, const SlotNames& slots, const nlohmann::json& json) {
  std::vector<Temporary> temporaries;
  for (const auto& item : array_in(json, "temporaries")) {
    const std::string pointer = fmt::format("/temporaries/{}", temporaries.size());
    const auto of = member<std::string>(item, "of", pointer);
    const std::optional<ValueId> value = find_value(program.graph, of);
    if (!value) throw InputError(pointer + "/of", fmt::format("no value is named '{}'", of));
    temporaries.push_back({member<std::string>(item, "name", pointer), *value, position_from(slots, item, pointer)});
  }
  return temporaries;
}

std::uint32_t temporary_named(const std::vector<Temporary>& temporaries, const std::string& name, const std::string& pointer) {
  const auto found = std::find_if(temporaries.begin(), temporaries.end(), [&](const Temporary& t) { return t.name == name; });
  if (found == temporaries.end()) throw InputError(pointer, fmt::format("no temporary is named '{}'", name));
  return static_cast<std::uint32_t>(found - temporaries.begin());
}

void read_outputs_first(const Program& program, const nlohmann::json& json, Placement& placement) {
  for (const auto& item : array_in(json, "outputs_read_first")) {
    if (!item.is_string()) throw InputError("/outputs_read_first", "expected names of outputs");
    const auto name = item.get<std::string>();
    const auto of_it = [&](const Temporary& t) { return program.graph.name_of(t.of) == name; };
    const auto t = std::find_if(placement.temporaries.begin(), placement.temporaries.end(), of_it);
    if (t == placement.temporaries.end()) throw InputError("/outputs_read_first", fmt::format("'{}' has no temporary", name));
    for (std::size_t i = 0; i < program.graph.outputs.size(); ++i) {
      const ValueId* v = as_value(program.graph.outputs[i]);
      if (v == nullptr || *v != t->of || is_mutation(program.output_specs[i].kind)) continue;
      placement.outputs_read_first.push_back(
          {static_cast<std::uint32_t>(i), static_cast<std::uint32_t>(t - placement.temporaries.begin())});
    }
  }
}

}  // namespace

SlotNames::SlotNames(const Program& program) : program_(program), before_{0}, last_counted_{-1} {
  const std::vector<bool> counted = counted_nodes(program);
  for (std::size_t n = 0; n < counted.size(); ++n) {
    before_.push_back(before_.back() + (counted[n] ? 1 : 0));
    last_counted_.push_back(counted[n] ? static_cast<std::int64_t>(n) : last_counted_.back());
  }
}

std::uint32_t SlotNames::number(Slot slot) const { return before_[index_of(slot)]; }

std::string_view SlotNames::after(Slot slot) const {
  const std::int64_t n = last_counted_[index_of(slot)];
  return n < 0 ? std::string_view("start") : std::string_view(program_.graph.nodes[static_cast<std::size_t>(n)].name);
}

std::optional<Slot> SlotNames::slot_after_name(std::string_view name) const {
  if (name == "start") return slot_at(0);
  const std::optional<ValueId> value = find_value(program_.graph, name);
  if (!value || program_.graph.is_placeholder(*value)) return std::nullopt;
  return slot_after(program_.graph.producer_of(*value));
}

std::optional<Slot> SlotNames::slot_numbered(std::uint32_t number) const {
  const auto found = std::find(before_.begin(), before_.end(), number);
  return found == before_.end() ? std::nullopt : std::optional(slot_at(static_cast<std::size_t>(found - before_.begin())));
}

Json place_json(const Program& program, const PlaceResult& result) {
  const SlotNames slots(program);
  Json copies = Json::array(), temporaries = Json::array(), clobbered = Json::array(), hazards = Json::array();
  for (std::size_t i = 0; i < result.write_backs.size(); ++i) copies.push_back(copy_json(program, result, slots, i));
  for (const Temporary& t : result.placement.temporaries) {
    temporaries.push_back({{"name", t.name},
                           {"of", program.graph.name_of(t.of)},
                           {"slot", slots.number(t.at.slot)},
                           {"after", slots.after(t.at.slot)},
                           {"order", t.at.order}});
  }
  for (const Clobbered& c : result.clobbered) {
    const WriteBack& w = result.write_backs[c.copy];
    clobbered.push_back({{"copy", c.copy},
                         {"target", program.graph.name_of(w.target)},
                         {"value", program.graph.name_of(w.value)},
                         {"by_copy", c.by},
                         {"by", program.graph.name_of(result.write_backs[c.by].target)}});
  }
  for (const LoweringHazard& h : result.lowering_hazards) hazards.push_back(hazard_json(program, result, h));
  Json first = Json::array();
  for (const OutputReadFirst& o : result.placement.outputs_read_first) {
    const std::string name = output_name(program, o.output);
    if (std::find(first.begin(), first.end(), Json(name)) == first.end()) first.push_back(name);
  }
  return {{"nodes", slots.number(slots.end())}, {"copies", copies},       {"temporaries", temporaries},
          {"outputs_read_first", first},        {"clobbered", clobbered}, {"lowering_hazards", hazards},
          {"warnings", result.warnings}};
}

Placement placement_from_json(const Program& program, const nlohmann::json& json) {
  if (!json.is_object()) throw InputError("", "expected an object with \"copies\", as place --json prints it");
  const SlotNames slots(program);
  const std::vector<WriteBack> expected = write_backs(program);
  Placement placement;
  placement.temporaries = temporaries_from(program, slots, json);
  for (const auto& item : array_in(json, "copies")) {
    const std::size_t index = placement.copies.size();
    if (index == expected.size()) break;
    const std::string pointer = fmt::format("/copies/{}", index);
    require_same(item, "target", program.graph.name_of(expected[index].target), pointer, "by the program's outputs");
    require_same(item, "value", program.graph.name_of(expected[index].value), pointer, "by the program's outputs");
    PlacedCopy copy;
    copy.in_place = member<bool>(item, "in_place", pointer);
    if (!copy.in_place) copy.at = position_from(slots, item, pointer);
    if (item.contains("temporary") && !item["temporary"].is_null()) {
      copy.temporary =
          temporary_named(placement.temporaries, member<std::string>(item, "temporary", pointer), pointer + "/temporary");
    }
    placement.copies.push_back(copy);
  }
  if (const std::size_t got = array_in(json, "copies").size(); got != expected.size()) {
    throw InputError("/copies", fmt::format("expected {} copies, one per write-back, got {}", expected.size(), got));
  }
  read_outputs_first(program, json, placement);
  return placement;
}

std::string place_table(const Program& program, const PlaceResult& result) {
  const SlotNames slots(program);
  std::string text;
  if (result.write_backs.empty()) text = "nothing to write back\n";
  std::vector<std::vector<std::string>> rows{{"target", "value", "end", "earliest", "after", "reason"}};
  for (std::size_t i = 0; i < result.write_backs.size(); ++i) {
    const WriteBack& w = result.write_backs[i];
    const PlacedCopy& c = result.placement.copies[i];
    rows.push_back({program.graph.name_of(w.target), program.graph.name_of(w.value), std::to_string(slots.number(slots.end())),
                    c.in_place ? "-" : std::to_string(slots.number(c.at.slot)),
                    c.in_place ? "in place" : std::string(slots.after(c.at.slot)), reason_sentence(program, result, i)});
  }
  if (rows.size() > 1) text += aligned_table(rows);
  for (const Temporary& t : result.placement.temporaries) {
    text += fmt::format("temporary {} = clone({}) after {}\n", t.name, program.graph.name_of(t.of), slots.after(t.at.slot));
  }
  for (const OutputReadFirst& o : result.placement.outputs_read_first) {
    text += fmt::format("output {} is read first, by {}\n", output_name(program, o.output),
                        result.placement.temporaries[o.temporary].name);
  }
  for (const Clobbered& c : result.clobbered) {
    text += fmt::format("clobbered at the end of the graph: {} by {}\n", pair_name(program, result.write_backs[c.copy]),
                        pair_name(program, result.write_backs[c.by]));
  }
  for (const LoweringHazard& h : result.lowering_hazards) text += fmt::format("lowering hazard: {}\n", h.sentence);
  return text;
}

std::vector<std::string> copy_comments(const Program& program, const PlaceResult& result) {
  std::vector<std::string> comments;
  for (std::size_t i = 0; i < result.write_backs.size(); ++i) {
    const bool in_place = result.placement.copies[i].in_place;
    const std::string reason = in_place ? "" : reason_sentence(program, result, i);
    comments.push_back(reason.empty() ? "" : "# " + reason);
  }
  return comments;
}

std::string place_dot(const Program& program, const PlaceResult& result) {
  const Graph& graph = program.graph;
  std::string text = "digraph program {\n  rankdir=TB;\n  node [shape=box, fontname=\"monospace\"];\n";
  const auto out = std::back_inserter(text);
  for (const Placeholder& p : graph.placeholders) fmt::format_to(out, "  \"{}\" [shape=ellipse];\n", p.name);
  for (std::size_t n = 0; n < graph.nodes.size(); ++n) {
    const Node& node = graph.nodes[n];
    fmt::format_to(out, "  \"{}\" [label=\"{}\\n{}\"];\n", node.name, node.name, program.target(node).qualified_name());
    const auto edge = [&](ValueId v) { fmt::format_to(out, "  \"{}\" -> \"{}\";\n", graph.name_of(v), node.name); };
    for (const Argument& a : node.args) for_each_value(a, edge);
    for (const KeywordArgument& a : node.kwargs) for_each_value(a.value, edge);
  }
  for (std::size_t i = 0; i < result.write_backs.size(); ++i) {
    const WriteBack& w = result.write_backs[i];
    const bool in_place = result.placement.copies[i].in_place;
    const std::string id = fmt::format("write-back {}", i);
    fmt::format_to(out, "  \"{}\" [shape=cds, style=filled, fillcolor=lightyellow, label=\"{}{}\"];\n", id, pair_name(program, w),
                   in_place ? "\\nin place" : "");
    fmt::format_to(out, "  \"{}\" -> \"{}\";\n  \"{}\" -> \"{}\" [style=dotted];\n", graph.name_of(w.value), id, id,
                   graph.name_of(w.target));
    if (result.reasons.empty()) continue;
    if (const auto node = result.reasons[i].node) {
      fmt::format_to(out, "  \"{}\" -> \"{}\" [color=red, label=\"{}\"];\n", graph.node(*node).name, id,
                     name_of(result.reasons[i].rule));
    }
    if (const auto copy = result.reasons[i].copy) {
      fmt::format_to(out, "  \"write-back {}\" -> \"{}\" [color=red, label=\"{}\"];\n", *copy, id, name_of(result.reasons[i].rule));
    }
  }
  return text + "}\n";
}

}  // namespace writeback::impl
