#include "fuzz/edit.h"

#include <algorithm>
#include <string_view>

namespace writeback::fuzz {
namespace {

/// Alias groups with one member left are none.
void renumber_groups(Program& program, const std::vector<bool>& keep, const std::vector<ValueId>& renumbered) {
  for (auto& group : program.alias_groups) {
    std::erase_if(group, [&](const AliasMember& m) { return !keep[index_of(m.value)]; });
    for (AliasMember& m : group) m.value = renumbered[index_of(m.value)];
  }
  std::erase_if(program.alias_groups, [](const auto& group) { return group.size() < 2; });
}

std::string_view attribute_of(const Program& program, const Node& node) { return program.target(node).name; }

}  // namespace

Edit::Edit(const Program& program) : keep_placeholder(program.graph.placeholders.size(), true) {
  for (std::size_t n = 0; n < program.graph.nodes.size(); ++n) nodes.push_back(node_id(n));
  for (std::size_t v = 0; v < program.graph.value_count(); ++v) substitute.push_back(value_id(v));
}

void Edit::drop(NodeId n) { std::erase(nodes, n); }

Program apply(const Program& program, const Edit& edit) {
  Program result = program;
  Graph& graph = result.graph;
  std::vector<ValueId> renumbered(program.graph.value_count());
  graph.placeholders.clear();
  result.input_specs.clear();
  for (std::size_t v = 0; v < edit.keep_placeholder.size(); ++v) {
    if (!edit.keep_placeholder[v]) continue;
    renumbered[v] = value_id(graph.placeholders.size());
    graph.placeholders.push_back(program.graph.placeholders[v]);
    result.input_specs.push_back(program.input_specs[v]);
  }
  graph.nodes.clear();
  result.share_allocations.clear();
  result.births.clear();
  for (const NodeId n : edit.nodes) {
    renumbered[index_of(program.graph.result_of(n))] = value_id(graph.placeholders.size() + graph.nodes.size());
    for (const ShareAllocation& s : program.share_allocations) {
      if (s.node == n) result.share_allocations.push_back({node_id(graph.nodes.size()), s.argument});
    }
    for (const Birth& b : program.births) {
      const bool kept = b.node == n && edit.keep_placeholder[index_of(b.target)];
      if (kept) result.births.push_back({node_id(graph.nodes.size()), renumbered[index_of(b.target)]});
    }
    graph.nodes.push_back(program.graph.node(n));
  }
  for_each_use(graph, [&](ValueId& v) { v = renumbered[index_of(edit.substitute[index_of(v)])]; });
  renumber_groups(result, edit.keep_placeholder, renumbered);
  return result;
}

Program with_node_inserted(const Program& program, std::size_t at, Node node) {
  Program result = program;
  Graph& graph = result.graph;
  const std::size_t first = graph.placeholders.size() + at;
  const auto shift = [&](ValueId& v) {
    if (index_of(v) >= first) v = value_id(index_of(v) + 1);
  };
  for_each_use(graph, shift);
  for (ShareAllocation& s : result.share_allocations) {
    if (index_of(s.node) >= at) s.node = node_id(index_of(s.node) + 1);
  }
  for (Birth& b : result.births) {
    if (index_of(b.node) >= at) b.node = node_id(index_of(b.node) + 1);
  }
  graph.nodes.insert(graph.nodes.begin() + static_cast<std::ptrdiff_t>(at), std::move(node));
  return result;
}

Program without_output(const Program& program, std::size_t index) {
  Program result = program;
  result.graph.outputs.erase(result.graph.outputs.begin() + static_cast<std::ptrdiff_t>(index));
  result.output_specs.erase(result.output_specs.begin() + static_cast<std::ptrdiff_t>(index));
  return result;
}

Program tidy(Program program) {
  const std::vector<Target> targets = std::move(program.targets);
  program.targets.clear();
  const auto keep = [&](auto& self, Graph& graph) -> void {
    for (Node& node : graph.nodes) node.target = program.intern(targets[index_of(node.target)]);
    std::erase_if(graph.subgraphs, [&](const Subgraph& s) {
      return std::none_of(graph.nodes.begin(), graph.nodes.end(), [&](const Node& node) {
        return node.kind == Node::Kind::get_attr && attribute_of(program, node) == s.attribute;
      });
    });
    for (Subgraph& s : graph.subgraphs) self(self, s.graph);
  };
  keep(keep, program.graph);
  std::erase_if(program.schemas, [&](const std::string& schema) {
    return std::none_of(program.targets.begin(), program.targets.end(), [&](const Target& t) {
      return t.is_op() && (schema.starts_with(t.qualified_name() + "(") || schema.starts_with(t.ns + "::" + t.name + ".default("));
    });
  });
  return program;
}

}  // namespace writeback::fuzz
