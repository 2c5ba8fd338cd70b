#include "ref/planned.h"

#include <algorithm>
#include <map>

#include "ref/choices.h"
#include "ref/conflicts.h"
#include "ref/domain.h"
#include "ref/graph/error.h"
#include "ref/interpreter.h"
#include "ref/schedule.h"

namespace writeback::ref {
namespace {

constexpr std::int64_t kMostBytes = std::int64_t{1} << 26;

/// The places of all leaves, found by the names of their values.
class Layout {
 public:
  Layout(const Steps& steps, std::span<const PlannedStorage> plan) : steps_(steps), places_(steps.leaf_count()) {
    for (const PlannedStorage& s : plan) {
      const std::int64_t end = s.offset + s.bytes;
      if (s.offset < 0 || s.bytes < 0 || end > kMostBytes) throw InputError("plan", "expected '" + s.name + "' within 64 MiB");
      by_name_.emplace(s.name, &s);
      bytes_ = std::max(bytes_, end);
    }
    const Graph& graph = steps.program().graph;
    for (std::size_t v = 0; v < graph.value_count(); ++v) place(value_id(v));
  }

  const std::vector<Place>& places() const { return places_; }
  std::uint32_t bytes() const { return static_cast<std::uint32_t>(bytes_); }

 private:
  void place(ValueId v) {
    const std::string& name = steps_.program().graph.name_of(v);
    const LeafRange leaves = steps_.leaves_of(v);
    for (std::uint32_t i = 0; i < leaves.count; ++i) {
      auto found = leaves.count == 1 ? by_name_.find(name) : by_name_.end();
      if (found == by_name_.end()) found = by_name_.find(name + "[" + std::to_string(i) + "]");
      if (found == by_name_.end()) continue;
      const auto width = static_cast<std::uint32_t>(byte_size(steps_.leaf(leaves.first + i).dtype));
      const PlannedStorage& s = *found->second;
      places_[leaves.first + i] = {static_cast<std::uint32_t>(s.offset), static_cast<std::uint32_t>(s.bytes), width};
    }
  }

  const Steps& steps_;
  std::map<std::string, const PlannedStorage*> by_name_;
  std::vector<Place> places_;
  std::int64_t bytes_ = 0;
};

/// One run of the program as it is written, and what anybody may look at afterwards.
class Run {
 public:
  Run(const Program& program, const Steps& steps, Regions& regions, TermDomain& domain)
      : program_(program),
        steps_(steps),
        live_(live_nodes(program, steps.effects())),
        interpreter_(steps, regions, domain, blind_) {}

  void lay_out(const Layout& layout) { interpreter_.lay_out(layout.places(), layout.bytes()); }

  void run(std::span<const std::uint8_t> choices, std::span<const std::uint8_t> returned) {
    interpreter_.start(choices, returned);
    for (const Step& s : steps_.steps()) {
      const bool removed = s.shares >= 0 && live_[index_of(s.node)] == 0;  // dead: it never writes the storage that it would share
      if (!removed) interpreter_.run(s);
    }
    for_each_result([&](std::uint32_t leaf, const std::string&) { interpreter_.read_cells(interpreter_.tensor(leaf), seen_); });
  }

  /// The first thing that differs from another run.
  std::optional<std::string> difference(const Run& other) {
    std::optional<std::string> first;
    std::size_t at = 0;
    for_each_result([&](std::uint32_t leaf, const std::string& name) {
      mine_.clear();
      interpreter_.read_cells(interpreter_.tensor(leaf), mine_);
      const bool same =
          at + mine_.size() <= other.seen_.size() && std::ranges::equal(mine_, std::span(other.seen_).subspan(at, mine_.size()));
      if (!same && !first) first = name;
      at += mine_.size();
    });
    return first;
  }

  void forget() { seen_.clear(); }

 private:
  /// User outputs and the targets of write-backs, leaf by leaf.
  template <typename F>
  void for_each_result(F&& f) const {
    for (std::uint32_t i = 0; i < program_.graph.outputs.size(); ++i) {
      if (is_mutation(program_.output_specs[i].kind)) continue;
      for_each_value(program_.graph.outputs[i], [&](ValueId v) {
        const LeafRange leaves = steps_.leaves_of(v);
        for (std::uint32_t k = 0; k < leaves.count; ++k) f(leaves.first + k, "output " + output_name(program_, i));
      });
    }
    for (const WriteBack& w : write_backs(program_))
      f(steps_.leaves_of(w.target).first, "target " + program_.graph.name_of(w.target));
  }

  const Program& program_;
  const Steps& steps_;
  const std::vector<std::uint8_t> live_;
  Blind blind_;
  Interpreter<TermDomain> interpreter_;
  std::vector<Term> seen_, mine_;
};

}  // namespace

std::optional<std::string> difference_on_arena(const Program& placed, std::span<const PlannedStorage> plan, const Options& options,
                                               std::uint64_t most_choices, Arena& arena) {
  constexpr std::uint64_t kMostCells = std::uint64_t{1} << 24;
  if (needs_one_cell(placed, kMostCells)) throw InputError("plan", "expected sizes that are numbers, and not too large");
  arena.clear();
  Placement nothing_more = end_placement(placed);
  for (PlacedCopy& copy : nothing_more.copies) copy.in_place = true;
  const Schedule schedule(placed, nothing_more);
  const Steps steps(placed, options, arena.regions, arena.symbols);
  TermDomain domain(arena.terms, arena.symbols, arena.regions);
  Run apart(placed, steps, arena.regions, domain), together(placed, steps, arena.regions, domain);
  together.lay_out(Layout(steps, plan));
  ChoiceWalk walk(options_of(steps.semantic_choices()), {}, most_choices);
  while (walk.next()) {
    std::vector<std::uint8_t> choices(walk.choices().begin(), walk.choices().end());
    for (const ChoicePoint& p : steps.lowering_choices()) choices.push_back(static_cast<std::uint8_t>(p.options - 1));
    apart.forget();
    apart.run(choices, schedule.returned());
    together.run(choices, schedule.returned());
    if (const auto difference = together.difference(apart)) return difference;
  }
  return std::nullopt;
}

}  // namespace writeback::ref
