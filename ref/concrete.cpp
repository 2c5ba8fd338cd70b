#include "ref/concrete.h"

#include <algorithm>

namespace writeback::ref {
namespace {

/// The operands of a call as elements, by value.
class Operands : public KernelArguments {
 public:
  Operands(const Call<Number>& call, Regions& regions) : steps_(call.steps) {
    for (const Input& input : call.operands) {
      Elements e;
      e.sizes = regions.geometry(input.region)->sizes;
      for (std::uint32_t i = 0; i < input.count; ++i) e.cells.push_back(call.inputs[input.first + i].value);
      e.dtype = steps_.leaf(input.leaf).dtype;
      by_leaf_.emplace(input.leaf, std::move(e));
    }
    for (const Block& block : call.blocks) {  // written and perhaps not read: the sizes still matter
      if (block.number < call.step.leaf_count) continue;
      std::uint32_t number = call.step.leaf_count;
      for (const OperandStep& operand : steps_.operands(call.step)) {
        for (std::uint32_t i = 0; i < operand.leaves.count; ++i, ++number) {
          if (number != block.number || by_leaf_.contains(operand.leaves.first + i)) continue;
          const std::vector<std::int64_t>& sizes = regions.geometry(block.to.region)->sizes;
          by_leaf_[operand.leaves.first + i] = {sizes, std::vector<std::int64_t>(block.count, 0), block.dtype};
        }
      }
    }
  }

  const Elements* tensor(ValueId v) const override {
    const LeafRange range = steps_.leaves_of(v);
    const auto found = by_leaf_.find(range.first);
    return range.count != 1 || found == by_leaf_.end() || steps_.leaf(range.first).shape == kNoRegion ? nullptr : &found->second;
  }
  std::optional<std::int64_t> scalar(ValueId v) const override {
    const auto found = by_leaf_.find(steps_.leaves_of(v).first);
    return found == by_leaf_.end() || found->second.cells.size() != 1 ? std::nullopt : std::optional(found->second.cells[0]);
  }

 private:
  const Steps& steps_;
  std::map<std::uint32_t, Elements> by_leaf_;
};

}  // namespace

Number ConcreteDomain::initial(Name storage, std::uint32_t cell) const {
  const auto found = contents_.find(storage);
  return {found == contents_.end() || cell >= found->second.size() ? 0 : found->second[cell], true, {}};
}

Number ConcreteDomain::unspecified(Name node, std::uint32_t cell) { return {0, false, terms_.make(node, {}, 0, cell)}; }

Number ConcreteDomain::cast(Cell c, DType from, DType to) {
  if (c.known) return {wrap(c.value, to), true, {}};
  const Name name = symbols_.intern(std::string(short_name(to)) + " of " + std::string(short_name(from)));
  return {0, false, terms_.make(name, {&c.term, 1})};
}

Term ConcreteDomain::term_of(Cell c) { return c.known ? terms_.make(symbols_.intern(std::to_string(c.value)), {}) : c.term; }

void ConcreteDomain::evaluate(const Call<Cell>& call) {
  std::vector<bool> done(call.blocks.size(), false);
  if (std::ranges::all_of(call.inputs, &Number::known) && !call.step.random) run_kernels(call, done);
  std::vector<Term> inputs;
  for (const Cell c : call.inputs) inputs.push_back(term_of(c));
  const Term all = terms_.make(symbols_.intern(""), inputs);
  for (std::size_t k = 0; k < call.blocks.size(); ++k) {
    if (done[k]) continue;
    const Block& b = call.blocks[k];
    for (std::uint32_t i = 0; i < b.count; ++i)
      call.outputs[b.first + i] = {0, false, terms_.make(call.step.symbol, {&all, 1}, b.number, i)};
  }
}

void ConcreteDomain::run_kernels(const Call<Cell>& call, std::vector<bool>& done) {
  const Program& program = call.steps.program();
  const Target& target = program.target(call.step.node);
  if (!has_kernel(target)) return;
  const Operands operands(call, regions_);
  const bool list = call.step.leaf_count > 1 || target.name.starts_with("_foreach_");
  for (std::size_t k = 0; k < call.blocks.size(); ++k) {
    const Block& b = call.blocks[k];
    const std::uint32_t element = b.number < call.step.leaf_count ? b.number : b.number - call.step.leaf_count;
    const auto result = run_kernel(program, call.step.node, operands, list ? element : 0, b.dtype);
    done[k] = result && result->cells.size() == b.count;
    for (std::uint32_t i = 0; done[k] && i < b.count; ++i) call.outputs[b.first + i] = {result->cells[i], true, {}};
  }
}

std::string ConcreteDomain::text(Cell c) const { return c.known ? std::to_string(c.value) : terms_.text(c.term, symbols_); }

}  // namespace writeback::ref
