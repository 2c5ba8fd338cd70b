#include "ref/run.h"

#include <fmt/format.h>

#include "ref/arena.h"
#include "ref/concrete.h"
#include "ref/execution.h"
#include "ref/graph/error.h"

namespace writeback::ref {
namespace {

constexpr std::int64_t kMostCells = 1 << 22;

std::uint64_t mix(std::uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
  return x ^ (x >> 31);
}

/// Small numbers, so that products stay readable: integers are 0 or 1 (they may be indices), floats -8 to 8.
std::int64_t draw(std::uint64_t seed, std::size_t placeholder, std::size_t cell, DType dtype) {
  const std::uint64_t x = mix(seed * 0x9e3779b97f4a7c15ull + (placeholder << 32) + cell + 1);
  return is_floating(dtype) ? static_cast<std::int64_t>(x % 17) - 8 : static_cast<std::int64_t>(x % 2);
}

class Runner {
 public:
  Runner(const Program& program, const Options& options, const RunOptions& how)
      : program_(program),
        how_(how),
        steps_(program, options, arena_.regions, arena_.symbols),
        domain_(arena_.terms, arena_.symbols, arena_.regions),
        execution_(steps_, arena_.regions, domain_, options.semantics) {
    if (!steps_.unknown_sizes().empty())
      throw InputError("size " + steps_.unknown_sizes().front(), "a run needs a number for every size (--size SYMBOL=NUMBER)");
    fill();
  }

  RunResult run(const Placement* placement) {
    const std::vector<std::uint8_t> choices = choose();
    const auto semantic = std::span(choices).first(steps_.semantic_choices().size());
    const auto after = [&](const Item& item) { record(item, placement); };
    if (placement == nullptr) {
      execution_.run_meaning(semantic, after);
    } else {
      const Schedule schedule(program_, *placement);
      execution_.run_placed(schedule, choices, schedule.returned(), after);
    }
    if (const auto node = execution_.interpreter().overlapping_write()) {
      throw InputError("node %" + program_.graph.node(*node).name, "writes a tensor that overlaps itself");
    }
    take();
    return std::move(result_);
  }

 private:
  std::vector<std::uint8_t> choose() const {
    std::vector<std::uint8_t> choices;
    for (const ChoicePoint& p : steps_.semantic_choices()) choices.push_back(p.kind == ChoicePoint::Kind::may_alias && how_.alias);
    for (std::size_t i = 0; i < steps_.lowering_choices().size(); ++i) choices.push_back(how_.lowered);
    return choices;
  }

  /// Contents of every storage: what is given, else drawn. Placeholders that share cells are filled one after the other.
  void fill() {
    std::vector<std::vector<std::int64_t>> storages;
    std::int64_t total = 0;
    for (const InputStorage& s : steps_.input_storages()) {
      total += s.cells;
      if (total > kMostCells) throw InputError("", fmt::format("a run holds at most {} cells", kMostCells));
      storages.emplace_back(s.cells, 0);
    }
    for (std::size_t i = 0; i < program_.graph.placeholders.size(); ++i) {
      const Placeholder& p = program_.graph.placeholders[i];
      const InputTensor& input = steps_.inputs()[i];
      const std::span<const std::uint32_t> cells = arena_.regions.cells(input.region);
      const DType dtype = steps_.leaf(static_cast<std::uint32_t>(i)).dtype;
      const auto given = how_.inputs.find(p.name);
      if (given != how_.inputs.end() && given->second.size() != cells.size()) {
        throw InputError("input " + p.name, fmt::format("has {} elements, {} are given", cells.size(), given->second.size()));
      }
      for (std::size_t k = 0; k < cells.size(); ++k) {
        const std::int64_t value = given != how_.inputs.end() ? given->second[k] : draw(how_.seed, i, k, dtype);
        storages[input.storage][cells[k]] = wrap(value, dtype);
      }
    }
    for (const auto& [name, value] : how_.inputs) {
      if (const auto v = find_value(program_.graph, name); !v || !program_.graph.is_placeholder(*v))
        throw InputError("input " + name, "is no input of the program");
    }
    for (std::size_t i = 0; i < program_.graph.placeholders.size(); ++i) {
      const InputTensor& input = steps_.inputs()[i];
      Values values;
      for (const std::uint32_t cell : arena_.regions.cells(input.region))
        values.push_back(std::to_string(storages[input.storage][cell]));
      if (tensor_meta(program_.graph.placeholders[i].meta) != nullptr)
        result_.inputs[program_.graph.placeholders[i].name] = std::move(values);
    }
    for (std::size_t s = 0; s < storages.size(); ++s) domain_.set_contents(steps_.input_storages()[s].name, std::move(storages[s]));
  }

  Values values_of(Tensor t) {
    std::vector<Number> cells;
    execution_.interpreter().read_cells(t, cells);
    return texts(cells);
  }
  Values texts(std::span<const Number> cells) const {
    Values values;
    for (const Number n : cells) values.push_back(domain_.text(n));
    return values;
  }

  void record(const Item& item, const Placement* placement) {
    TraceEntry e;
    switch (item.kind) {
      case Item::Kind::node: {
        const NodeId n = node_id(item.index);
        const LeafRange leaves = steps_.leaves_of(program_.graph.result_of(n));
        e.name = program_.graph.node(n).name;
        e.op = program_.target(n).qualified_name();
        for (std::uint32_t i = 0; i < leaves.count; ++i)
          e.results.push_back(values_of(execution_.interpreter().tensor(leaves.first + i)));
        break;
      }
      case Item::Kind::temporary:
        e.name = placement->temporaries[item.index].name;
        e.op = "clone";
        e.results.push_back(values_of(execution_.temporary(item.index)));
        break;
      case Item::Kind::copy: {
        const WriteBack& w = execution_.write_backs_in_order()[item.index];
        e.name = e.op = "copy_";
        e.target = program_.graph.name_of(w.target);
        e.results.push_back(values_of(execution_.interpreter().tensor(execution_.leaf(w.target))));
        break;
      }
    }
    result_.trace.push_back(std::move(e));
  }

  void take() {
    std::size_t first = 0;
    for (const auto& o : execution_.outputs()) {
      result_.outputs.push_back(texts(execution_.output_cells().subspan(first, o.count)));
      const ValueId* v = as_value(program_.graph.outputs[o.output]);
      result_.output_names.push_back(v == nullptr ? std::to_string(o.output) : program_.graph.name_of(*v));
      first += o.count;
    }
    for (std::size_t i = 0; i < program_.graph.placeholders.size(); ++i) {
      if (tensor_meta(program_.graph.placeholders[i].meta) == nullptr) continue;
      result_.state[program_.graph.placeholders[i].name] =
          values_of(execution_.interpreter().tensor(static_cast<std::uint32_t>(i)));
    }
    result_.trapped = execution_.interpreter().trapped();
  }

  const Program& program_;
  const RunOptions& how_;
  Arena arena_;
  Steps steps_;
  ConcreteDomain domain_;
  Execution<ConcreteDomain> execution_;
  RunResult result_;
};

}  // namespace

RunResult run(const Program& program, const Placement* placement, const Options& options, const RunOptions& how) {
  return Runner(program, options, how).run(placement);
}

}  // namespace writeback::ref
