#include "impl/hazards.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_set>

namespace writeback::impl {
inline namespace WRITEBACK_BUILD {
namespace {

class Finder {
 public:
  Finder(const Problem& problem, const std::vector<std::uint32_t>& hopeless) : problem_(problem), hopeless_(hopeless) {}

  std::vector<LoweringHazard> find() {
    if (in_force(Clause::node_sees_lowering)) readers();
    if (in_force(Clause::rebased_read)) rebased_readers();
    outputs();
    if (in_force(Clause::input_sees_lowering)) inputs();
    for (const std::uint32_t k : hopeless_) {
      const ValueId v = problem_.write_backs[k].value;
      add(*problem_.bounds.deadline(v), problem_.aliases.cells[index_of(v)],
          name(v) + " is written again, before any copy of it is safe")
          .copy = k;
    }
    return std::move(found_);
  }

 private:
  /// True once for each node.
  bool first_hazard_of(NodeId n) { return nodes_.insert(n).second; }

  std::string name(ValueId v) const { return "%" + problem_.program.graph.name_of(v); }
  std::string name(NodeId n) const { return "%" + problem_.program.graph.node(n).name; }

  LoweringHazard& add(const Bound& write, SetId cells, const std::string& consequence) {
    const Touch& touch = problem_.aliases.touches[*write.touch];
    LoweringHazard hazard;
    hazard.view = lowered_node(touch, cells);
    hazard.sentence = fmt::format("{} writes {}, which lowering {} lets reach cells that {}", name(touch.node), name(touch.value),
                                  name(hazard.view), consequence);
    return found_.emplace_back(std::move(hazard));
  }

  /// The node whose lowering makes the write reach the cells.
  NodeId lowered_node(const Touch& touch, SetId cells) const {
    const Aliases& aliases = problem_.aliases;
    const Graph& graph = problem_.program.graph;
    for (const Entry& a : aliases.sets[touch.cells]) {
      for (const Entry& b : aliases.sets[cells]) {
        if (!meet(aliases.regions, a, b) || same_home(a, b)) continue;
        for (const std::uint32_t home : {b.home, a.home}) {
          if (home < graph.value_count() && !graph.is_placeholder(value_id(home))) return graph.producer_of(value_id(home));
        }
      }
    }
    return touch.node;
  }

  /// The node comes after the write; or it makes that write itself, to an element of a list that comes before what it reads.
  bool sees(const Touch& reader, const Bound& write) const {
    if (index_of(reader.node) > write.slot) return true;
    const bool own = write.node == reader.node && &problem_.aliases.touches[*write.touch] != &reader;
    return own && problem_.aliases.writes_several(reader.node);
  }

  void readers() {
    for (const Touch& touch : problem_.aliases.touches) {
      if (!touch.reads) continue;
      const auto& deadline = problem_.bounds.deadline(touch.value);
      if (!deadline || !sees(touch, *deadline) || !first_hazard_of(touch.node)) continue;
      add(*deadline, problem_.aliases.cells[index_of(touch.value)],
          fmt::format("{} reads as {}", name(touch.node), name(touch.value)))
          .node = touch.node;
    }
  }

  void rebased_readers() {
    for (const RebasedRead& read : problem_.aliases.rebased) {
      const auto write = problem_.bounds.write_after(read.chain, problem_.aliases.birth[index_of(read.link)]);
      if (!write || write->slot > index_of(read.node) || !first_hazard_of(read.node)) continue;
      LoweringHazard& hazard = add(*write, read.chain, fmt::format("{} reads as {}", name(read.node), name(read.link)));
      hazard.node = read.node;
      hazard.view = problem_.program.graph.producer_of(read.link);
      hazard.sentence = fmt::format("{} is re-based on the root of its chain and no longer reads {}, although {} writes in between",
                                    name(read.node), name(read.link), name(*write->node));
    }
  }

  /// An output can be read first, unless its last writer comes after its deadline.
  void outputs() {
    const Graph& graph = problem_.program.graph;
    for (std::uint32_t i = 0; i < graph.outputs.size(); ++i) {
      if (i < problem_.program.output_specs.size() && is_mutation(problem_.program.output_specs[i].kind)) continue;
      for_each_value(graph.outputs[i], [&](ValueId v) {
        const auto& deadline = problem_.bounds.deadline(v);
        if (!deadline) return;
        const bool readable = as_value(graph.outputs[i]) != nullptr && problem_.bounds.earliest_read(v).slot <= deadline->slot;
        if (readable) return;
        add(*deadline, problem_.aliases.cells[index_of(v)], "are the output " + name(v)).output = i;
      });
    }
  }

  /// Inputs that no write-back writes as a whole.
  void inputs() {
    std::vector<bool> restored(problem_.program.graph.placeholders.size(), false);
    const auto entries = [&](std::size_t i) { return problem_.aliases.entries(value_id(i)); };
    for (const WriteBack& w : problem_.write_backs) restored[index_of(w.target)] = true;
    for (std::size_t i = 0; i < restored.size(); ++i) {
      const auto write = restored[i] || entries(i).empty() ? std::nullopt : problem_.bounds.lowered_write(value_id(i));
      if (!write) continue;
      const bool covered = std::ranges::any_of(problem_.write_backs, [&](const WriteBack& w) {
        const auto target = problem_.aliases.entries(w.target);
        return !target.empty() && target[0].storage == entries(i)[0].storage &&
               problem_.aliases.regions.same(target[0].region, entries(i)[0].region);
      });
      if (!covered) add(*write, problem_.aliases.cells[i], "are the input " + name(value_id(i))).input = value_id(i);
    }
  }

  const Problem& problem_;
  const std::vector<std::uint32_t>& hopeless_;
  std::unordered_set<NodeId> nodes_;
  std::vector<LoweringHazard> found_;
};

}  // namespace

std::vector<LoweringHazard> lowering_hazards(const Problem& problem, const std::vector<std::uint32_t>& hopeless_copies) {
  return Finder(problem, hopeless_copies).find();
}

}  // namespace WRITEBACK_BUILD
}  // namespace writeback::impl
