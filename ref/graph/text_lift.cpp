#include "ref/graph/text_lift.h"

#include <algorithm>
#include <unordered_set>

namespace writeback::text {
namespace {

class Lifter {
 public:
  Lifter(Program& program, InputKind kind) : program_(program), graph_(program.graph), kind_(kind) {}

  /// How many attributes became placeholders.
  std::size_t lift() {
    const std::vector<bool> modules = taken_by_higher_order();
    std::vector<bool> tensor(graph_.nodes.size(), false);
    for (std::size_t n = 0; n < graph_.nodes.size(); ++n) {
      const Node& node = graph_.nodes[n];
      if (node.kind != Node::Kind::get_attr || is_subgraph(program_.target(node).name)) continue;
      tensor[n] = tensor_meta(node.meta) != nullptr || !modules[n];
    }
    if (std::find(tensor.begin(), tensor.end(), true) == tensor.end()) return 0;
    renumber(tensor);
    return lifted_.size();
  }

 private:
  bool is_subgraph(const std::string& attribute) const {
    return std::any_of(graph_.subgraphs.begin(), graph_.subgraphs.end(),
                       [&](const Subgraph& s) { return s.attribute == attribute; });
  }

  std::vector<bool> taken_by_higher_order() const {
    std::vector<bool> taken(graph_.nodes.size(), false);
    for (const Node& node : graph_.nodes) {
      if (program_.target(node).kind != Target::Kind::higher_order) continue;
      const auto take = [&](ValueId v) {
        if (!graph_.is_placeholder(v)) taken[index_of(graph_.producer_of(v))] = true;
      };
      for (const Argument& a : node.args) for_each_value(a, take);
      for (const KeywordArgument& a : node.kwargs) for_each_value(a.value, take);
    }
    return taken;
  }

  /// The lifted stand first, each attribute once; the other values follow in their order.
  void renumber(const std::vector<bool>& tensor) {
    const std::size_t inputs = graph_.placeholders.size();
    std::vector<ValueId> now(graph_.value_count());
    for (std::size_t n = 0; n < graph_.nodes.size(); ++n) {
      if (tensor[n]) now[inputs + n] = placeholder_for(graph_.nodes[n]);
    }
    std::size_t next = lifted_.size();
    for (std::size_t v = 0; v < inputs; ++v) now[v] = value_id(next++);
    std::vector<Node> kept;
    for (std::size_t n = 0; n < graph_.nodes.size(); ++n) {
      if (tensor[n]) continue;
      now[inputs + n] = value_id(next++);
      kept.push_back(std::move(graph_.nodes[n]));
    }
    graph_.nodes = std::move(kept);
    graph_.placeholders.insert(graph_.placeholders.begin(), lifted_.begin(), lifted_.end());
    program_.input_specs.insert(program_.input_specs.begin(), specs_.begin(), specs_.end());
    rewire(now);
  }

  ValueId placeholder_for(const Node& node) {
    const std::string& attribute = program_.target(node).name;
    const auto found = std::find_if(specs_.begin(), specs_.end(), [&](const InputSpec& s) { return s.target == attribute; });
    const auto index = static_cast<std::size_t>(found - specs_.begin());
    if (found == specs_.end()) {
      lifted_.push_back({node.name, node.meta});
      specs_.push_back({kind_, attribute, std::nullopt});
    }
    return value_id(index);
  }

  void rewire(const std::vector<ValueId>& now) {
    const auto move = [&](ValueId& v) { v = now[index_of(v)]; };
    for (Node& node : graph_.nodes) {
      for (Argument& a : node.args) for_each_value_mut(a, move);
      for (KeywordArgument& a : node.kwargs) for_each_value_mut(a.value, move);
    }
    for (Argument& a : graph_.outputs) for_each_value_mut(a, move);
  }

  Program& program_;
  Graph& graph_;
  InputKind kind_;
  std::vector<Placeholder> lifted_;
  std::vector<InputSpec> specs_;
};

void warn_of_missing_subgraphs(const Program& program, Warnings& warnings) {
  std::unordered_set<std::string_view> shown;
  for (const Subgraph& subgraph : program.graph.subgraphs) shown.insert(subgraph.attribute);
  for (const Node& node : program.graph.nodes) {
    const std::string& attribute = program.target(node).name;
    if (node.kind != Node::Kind::get_attr || !shown.insert(attribute).second) continue;
    warnings.add("the text does not show the graph '" + attribute + "': the operator that takes it is opaque");
  }
}

}  // namespace

void lift_attributes(Program& program, InputKind kind, Warnings& warnings) {
  const std::size_t count = Lifter(program, kind).lift();
  warn_of_missing_subgraphs(program, warnings);
  if (count == 0) return;
  warnings.add(std::to_string(count) + (kind == InputKind::buffer ? " attributes of the module were taken as buffers"
                                                                  : " attributes of the module were taken as constants"));
}

}  // namespace writeback::text
