#include "proofs/symbolic_run.h"

#include <fmt/format.h>

#include "ref/graph/error.h"

namespace writeback::proofs {

using ref::Movement;
using ref::OperandStep;
using ref::RegionId;
using ref::ResultStep;
using ref::Step;
using ref::Tensor;
using z3::expr;

namespace {

expr both(const expr& a, const expr& b) { return a.is_true() ? b : b.is_true() ? a : a && b; }
expr choose(const expr& when, const expr& yes, const expr& otherwise) {
  return when.is_true() || z3::eq(yes, otherwise) ? yes : when.is_false() ? otherwise : z3::ite(when, yes, otherwise);
}

}  // namespace

// ---- choices ------------------------------------------------------------------------------------------------------------------

SymbolicChoices::SymbolicChoices(z3::context& context, const ref::Steps& steps) : context_(context) {
  for (const ref::ChoicePoint& p : steps.semantic_choices()) {
    std::vector<expr>& values = semantic_.emplace_back();
    for (std::uint32_t v = 0; v < p.options; ++v)
      values.push_back(context.bool_const(fmt::format("choice {} is {}", semantic_.size(), v).c_str()));
  }
  for (std::size_t i = 0; i < steps.lowering_choices().size(); ++i)
    lowering_.push_back(context.bool_const(fmt::format("lowering {}", i).c_str()));
}

expr SymbolicChoices::well_formed() const {
  expr result = context_.bool_val(true);
  for (const std::vector<expr>& values : semantic_) {
    z3::expr_vector some(context_);
    for (std::size_t i = 0; i < values.size(); ++i) {
      some.push_back(values[i]);
      for (std::size_t j = 0; j < i; ++j) result = result && !(values[i] && values[j]);
    }
    result = result && z3::mk_or(some);
  }
  return result;
}

std::string SymbolicChoices::describe(const ref::Steps& steps, const z3::model& model) const {
  std::string text;
  const auto add = [&](const ref::ChoicePoint& p, std::uint32_t value) {
    text +=
        fmt::format("{}{}: {}", text.empty() ? "" : ", ", steps.name_of(p), steps.describe(p, static_cast<std::uint8_t>(value)));
  };
  for (std::size_t c = 0; c < semantic_.size(); ++c)
    for (std::uint32_t v = 1; v < semantic_[c].size(); ++v)
      if (model.eval(semantic_[c][v], true).is_true()) add(steps.semantic_choices()[c], v);
  for (std::size_t c = 0; c < lowering_.size(); ++c)
    if (model.eval(lowering_[c], true).is_true()) add(steps.lowering_choices()[c], 1);
  return text;
}

// ---- cells and tensors --------------------------------------------------------------------------------------------------------

SymbolicRun::SymbolicRun(z3::context& context, const ref::Steps& steps, ref::Regions& one_cell, const SymbolicChoices& choices)
    : context_(context),
      steps_(steps),
      regions_(one_cell),
      choices_(choices),
      content_(context.uninterpreted_sort("Content")),
      tensors_{{}},  // what is not computed yet lies nowhere
      tensor_of_(steps.leaf_count(), 0),
      trapped_(context.bool_val(false)) {
  for (const ref::InputStorage& s : steps.input_storages())
    allocate(constant(fmt::format("input {}", static_cast<std::uint32_t>(s.name))), s.birth);
  std::uint32_t leaf = 0;
  for (const ref::InputTensor& input : steps.inputs()) bind(leaf++, {{yes(), {input.storage, input.region}}});
  generator_ = allocate(constant("generator"), regions_.intern({}));
}

expr SymbolicRun::choice(const Step& s, std::uint32_t nth, std::uint32_t value) const {
  return choices_.is(static_cast<std::uint32_t>(s.choice) + nth, value);
}

expr SymbolicRun::lowered(const Step& s) const {
  return lowers_ && s.lowering >= 0 ? choices_.lowered(static_cast<std::uint32_t>(s.lowering)) : context_.bool_val(false);
}

SymbolicRun::Alternatives SymbolicRun::under(const expr& when, Alternatives some) {
  if (when.is_false()) return {};
  for (Alternative& a : some) a.when = both(when, a.when);
  return some;
}

expr SymbolicRun::apply(const std::string& function, const std::vector<expr>& arguments) const {
  z3::sort_vector domain(context_);
  z3::expr_vector values(context_);
  for (const expr& a : arguments) {
    domain.push_back(content_);
    values.push_back(a);
  }
  if (arguments.empty()) return constant(function);
  return context_.function(fmt::format("{}/{}", function, arguments.size()).c_str(), domain, content_)(values);
}

expr SymbolicRun::part(RegionId region, const expr& whole) const { return apply("part " + regions_.text(region), {whole}); }

expr SymbolicRun::cast(const expr& cell, ref::Leaf from, ref::Leaf to) const {
  if (from.dtype == to.dtype || from.dtype == DType::unknown || to.dtype == DType::unknown) return cell;
  return apply(fmt::format("{} of {}", short_name(to.dtype), short_name(from.dtype)), {cell});
}

bool SymbolicRun::is_whole(const Tensor& t) const {
  const RegionId birth = storages_[t.storage].birth;
  return birth != ref::kNoRegion && regions_.same_elements(birth, t.region);
}

void SymbolicRun::bind(std::uint32_t leaf, Alternatives some) {
  tensor_of_[leaf] = static_cast<std::uint32_t>(tensors_.size());
  tensors_.push_back(std::move(some));
}

std::uint32_t SymbolicRun::allocate(const expr& cell, RegionId birth) {
  storages_.push_back({cell, birth});
  return static_cast<std::uint32_t>(storages_.size()) - 1;
}

SymbolicRun::Alternatives SymbolicRun::fresh(RegionId shape) {
  if (shape == ref::kNoRegion) shape = regions_.intern({});
  return {{yes(), {allocate(constant("unwritten"), shape), shape}}};
}

expr SymbolicRun::read(const Tensor& t) const {
  const expr& cell = storages_[t.storage].cell;
  return is_whole(t) ? cell : part(t.region, cell);
}

expr SymbolicRun::read(const Alternatives& some) const {
  expr result = constant("nothing");
  for (std::size_t i = 0; i < some.size(); ++i)
    result = i == 0 ? read(some[0].tensor) : choose(some[i].when, read(some[i].tensor), result);
  return result;
}

/// What arrives in a target: broadcast and cast.
expr SymbolicRun::read_for(std::uint32_t target, const Alternatives& value, std::uint32_t leaf) {
  expr result = constant("nothing");
  for (const Alternative& v : value)
    for (const Alternative& t : tensor(target)) {
      const bool as_is = regions_.geometry(v.tensor.region) == nullptr && steps_.leaf(leaf).shape == steps_.leaf(target).shape;
      const RegionId region = as_is ? v.tensor.region : regions_.expand(v.tensor.region, t.tensor.region);
      if (region == ref::kNoRegion) throw InputError("", "a value cannot be broadcast to the tensor that it is copied to");
      result = choose(both(v.when, t.when), read(Tensor{v.tensor.storage, region}), result);
    }
  return cast(result, steps_.leaf(leaf), steps_.leaf(target));
}

void SymbolicRun::write(const Alternatives& some, const expr& when, const expr& value) {
  for (const Alternative& a : some) {
    expr& cell = storages_[a.tensor.storage].cell;
    const expr after = is_whole(a.tensor) ? value : apply("update " + regions_.text(a.tensor.region), {cell, value});
    cell = choose(both(when, a.when), after, cell);
  }
}

// ---- nodes --------------------------------------------------------------------------------------------------------------------

void SymbolicRun::run(const Step& s) {
  if (s.idle) return;
  if (s.born_leaf >= 0) require_born_apart(s);
  switch (s.movement) {
    case Movement::none:
      return s.group > 0 ? compute_elements(s) : compute(s);
    case Movement::view:
    case Movement::clone:
      return move(s);
    case Movement::copy:
      return copy_into(s);
  }
}

std::uint32_t SymbolicRun::choices_of(const ResultStep& r) {
  const bool chooses = r.kind == ResultKind::may_alias || r.kind == ResultKind::opaque ||
                       (r.kind == ResultKind::alias && r.source_count > 1 && !r.elementwise);
  return chooses ? r.leaves.count : 0;
}

std::uint32_t SymbolicRun::source_leaf(const Step& s, const ResultStep& r, std::uint32_t i, std::uint32_t which) const {
  const std::span<const std::uint32_t> sources = steps_.sources(r);
  const std::size_t source = r.elementwise ? std::min<std::size_t>(i, sources.size() - 1) : which;
  const OperandStep& operand = steps_.operands(s)[sources[source]];
  return operand.leaves.first + (r.elementwise && sources.size() == 1 ? std::min(i, operand.leaves.count - 1) : 0);
}

SymbolicRun::Alternatives SymbolicRun::views(const Step& s, std::uint32_t element, const Alternatives& base) const {
  Alternatives result;
  for (const Alternative& b : base) {
    const RegionId region = steps_.view(s, element, b.tensor.region);
    if (region != ref::kNoRegion) result.push_back({b.when, {b.tensor.storage, region}});
  }
  return result;
}

/// Where a result lies that is not fresh.
SymbolicRun::Alternatives SymbolicRun::results_elsewhere(const Step& s, const ResultStep& r, std::uint32_t i, std::uint32_t nth) {
  const std::uint32_t element = r.elementwise ? 0 : i;
  const std::uint32_t sources = r.elementwise ? std::min(r.source_count, 1u) : r.source_count;
  const auto base = [&](std::uint32_t which) -> const Alternatives& { return tensor(source_leaf(s, r, i, which)); };
  Alternatives result;
  switch (r.kind) {
    case ResultKind::none:
    case ResultKind::fresh:
    case ResultKind::same:
      break;
    case ResultKind::alias:
      if (choices_of(r) == 0) return views(s, element, base(0));
      for (std::uint32_t w = 0; w < sources; ++w) append(result, under(choice(s, nth + i, w), views(s, element, base(w))));
      break;
    case ResultKind::may_alias:
      for (std::uint32_t w = 0; w < sources; ++w) append(result, under(choice(s, nth + i, w + 1), views(s, element, base(w))));
      break;
    case ResultKind::opaque:
      for (std::uint32_t w = 0; w < r.source_count; ++w) {
        const Alternatives& whole = tensor(source_leaf(s, r, 0, w));
        append(result, under(choice(s, nth + i, 2 * w + 1), whole));
        Alternatives parts = under(choice(s, nth + i, 2 * w + 2), whole);
        for (Alternative& p : parts)
          p.tensor.region = regions_.intern_path(p.tensor.region, fmt::format("part by node {}", index_of(s.node)));
        append(result, parts);
      }
      break;
  }
  return result;
}

void SymbolicRun::bind_result(const Step& s, const ResultStep& r, std::uint32_t i, std::uint32_t nth, std::vector<Block>& blocks) {
  const std::uint32_t leaf = r.leaves.first + i;
  if (s.rebinds) return rebind(s, leaf, source_leaf(s, r, i, 0));
  if (r.kind == ResultKind::same) {
    tensor_of_[leaf] = tensor_of_[source_leaf(s, r, i, 0)];
    return;
  }
  Alternatives elsewhere = results_elsewhere(s, r, i, nth);
  expr is_fresh = yes();
  for (const Alternative& a : elsewhere) is_fresh = both(is_fresh, !a.when);
  const bool born = s.born_leaf >= 0;
  Alternatives own = born ? tensor(static_cast<std::uint32_t>(s.born_leaf)) : under(is_fresh, fresh(steps_.leaf(leaf).shape));
  if (s.shares >= 0 && lowers_) {
    const Alternatives& base = tensor(steps_.operands(s)[static_cast<std::uint32_t>(s.shares)].leaves.first);
    const expr shares = lowered(s);
    own = under(!shares, own);
    append(own, under(both(is_fresh, shares), base));
  }
  if (!is_fresh.is_false()) blocks.push_back({leaf - s.first_leaf, yes(), own});
  append(elsewhere, own);
  bind(leaf, std::move(elsewhere));
}

/// A result born over an operand that the op still reads would have cells of any content; where the operand is the very tensor and
/// read cell by cell it has not.
void SymbolicRun::require_born_apart(const Step& s) const {
  if (s.movement != Movement::none) throw NotModelled("copies and views born in a placeholder are not modelled");
  const auto overwrites = [&](const Tensor& read, const Tensor& born, bool cellwise) {
    return read.storage == born.storage && !(cellwise && regions_.same(read.region, born.region));
  };
  for (const OperandStep& operand : steps_.operands(s))
    for (std::uint32_t i = 0; i < operand.leaves.count && operand.reads; ++i)
      for (const Alternative& read : tensor(operand.leaves.first + i))
        for (const Alternative& born : tensor(static_cast<std::uint32_t>(s.born_leaf)))
          if (overwrites(read.tensor, born.tensor, operand.cellwise))
            throw NotModelled("results born over what they are computed from are modelled only cell by cell");
}

/// t_ and the like: the operand itself, under all its names, gets another geometry.
void SymbolicRun::rebind(const Step& s, std::uint32_t leaf, std::uint32_t source) {
  tensor_of_[leaf] = tensor_of_[source];
  for (Alternative& a : tensors_[tensor_of_[source]]) {
    const RegionId region = steps_.view(s, 0, a.tensor.region);
    if (region != ref::kNoRegion) a.tensor.region = region;
  }
}

void SymbolicRun::compute(const Step& s) {
  std::vector<expr> inputs;
  for (const OperandStep& operand : steps_.operands(s))
    for (std::uint32_t i = 0; i < operand.leaves.count && operand.reads; ++i)
      inputs.push_back(read(tensor(operand.leaves.first + i)));
  for (const std::uint32_t scalar : steps_.scalars(s)) inputs.push_back(read(tensor(scalar)));
  if (s.random) inputs.push_back(storages_[generator_].cell);
  std::vector<Block> blocks;
  std::uint32_t nth = 0;
  for (const ResultStep& r : steps_.results(s)) {
    for (std::uint32_t i = 0; i < r.leaves.count; ++i) bind_result(s, r, i, nth, blocks);
    nth += choices_of(r);
  }
  std::uint32_t number = s.leaf_count;
  for (const OperandStep& operand : steps_.operands(s)) {
    const expr writes = !s.opaque ? yes() : operand.writes ? choice(s, nth, 1) : context_.bool_val(false);
    nth += s.opaque && operand.writes;
    for (std::uint32_t i = 0; i < operand.leaves.count; ++i, ++number)
      if (operand.writes) blocks.push_back({number, writes, tensor(operand.leaves.first + i)});
  }
  evaluate(s, inputs, blocks);
}

/// _foreach_ ops: element i of the result, or of the written list, from element i of every list, one after the other.
void SymbolicRun::compute_elements(const Step& s) {
  const std::span<const OperandStep> operands = steps_.operands(s);
  for (std::uint32_t i = 0; i < s.group; ++i) {
    std::vector<expr> inputs;
    for (std::size_t k = i; k < operands.size(); k += s.group)
      if (operands[k].reads) inputs.push_back(read(tensor(operands[k].leaves.first)));
    for (const std::uint32_t scalar : steps_.scalars(s)) inputs.push_back(read(tensor(scalar)));
    if (!operands[i].writes) bind(s.first_leaf + i, fresh(steps_.leaf(s.first_leaf + i).shape));
    const Block block = operands[i].writes ? Block{s.leaf_count + i, yes(), tensor(operands[i].leaves.first)}
                                           : Block{i, yes(), tensor(s.first_leaf + i)};
    evaluate(s, inputs, {block});
  }
}

void SymbolicRun::evaluate(const Step& s, const std::vector<expr>& inputs, const std::vector<Block>& blocks) {
  if (s.observed) observations_.insert(observations_.end(), inputs.begin(), inputs.end());
  const auto name = static_cast<std::uint32_t>(s.name), symbol = static_cast<std::uint32_t>(s.symbol);
  for (const Block& b : blocks) {
    const expr value = s.uninitialized ? constant(fmt::format("unspecified {}.{}", name, b.number))
                                       : apply(fmt::format("op {}.{}", symbol, b.number), inputs);
    write(b.to, b.when, value);
  }
  if (s.random) storages_[generator_].cell = constant(fmt::format("generator after {}", name));
}

/// The elements of the source as a view that copies picks them.
expr SymbolicRun::moved(const Step& s, std::uint32_t source, std::uint32_t leaf) {
  expr result = constant("nothing");
  for (const Alternative& a : tensor(source)) {
    const Region* geometry = regions_.geometry(a.tensor.region);
    const RegionId logical = geometry == nullptr ? steps_.leaf(source).shape : regions_.intern(Region::contiguous(geometry->sizes));
    RegionId picked = s.movement == Movement::view ? steps_.view(s, 0, logical) : logical;
    if (picked == ref::kNoRegion) picked = logical;
    const expr whole = read(a.tensor);
    result = choose(a.when, regions_.same_elements(picked, logical) ? whole : part(picked, whole), result);
  }
  return cast(result, steps_.leaf(source), steps_.leaf(leaf));
}

/// View ops that copy, clones, and what may be an alias instead; a lowered view_copy is one of its root, or copies the root.
void SymbolicRun::move(const Step& s) {
  const ResultStep& r = steps_.results(s)[0];
  const std::uint32_t source = source_leaf(s, r, 0, 0), leaf = r.leaves.first;
  const expr lowers = s.root_leaf >= 0 ? lowered(s) : context_.bool_val(false);
  expr content = moved(s, source, leaf);
  if (s.root_leaf >= 0) content = choose(lowers, moved(s, static_cast<std::uint32_t>(s.root_leaf), leaf), content);
  Alternatives result;
  const bool stays = index_of(s.node) < returned_.size() && returned_[index_of(s.node)] != 0;
  if (s.root_leaf >= 0 && !stays) append(result, under(lowers, views(s, 0, tensor(static_cast<std::uint32_t>(s.root_leaf)))));
  if (r.kind == ResultKind::may_alias) append(result, under(!choice(s, 0, 0), views(s, 0, tensor(source))));
  expr copies = yes();
  for (const Alternative& a : result) copies = both(copies, !a.when);
  const Alternatives own = under(copies, fresh(steps_.leaf(leaf).shape));
  write(own, yes(), content);
  append(result, own);
  bind(leaf, std::move(result));
}

/// copy_(self, src) writes self; copy(self, src) gives a fresh tensor of self's sizes.
void SymbolicRun::copy_into(const Step& s) {
  const std::span<const OperandStep> operands = steps_.operands(s);
  const std::uint32_t self = operands[0].leaves.first, source = operands[1].leaves.first, leaf = s.first_leaf;
  const expr content = read_for(self, tensor(source), source);
  if (!operands[0].writes)
    bind(leaf, fresh(steps_.leaf(leaf).shape));
  else if (s.leaf_count > 0)
    tensor_of_[leaf] = tensor_of_[self];
  write(operands[0].writes ? tensor(self) : tensor(leaf), yes(), content);
}

// ---- the two runs -------------------------------------------------------------------------------------------------------------

void SymbolicRun::run_meaning(bool parallel) {
  for (const Step& s : steps_.steps()) run(s);
  const std::vector<WriteBack> all = write_backs(steps_.program());
  std::vector<expr> values;
  const auto read_value = [&](const WriteBack& w) {
    values.push_back(read_for(leaf(w.target), tensor(leaf(w.value)), leaf(w.value)));
  };
  if (parallel) {
    for (const WriteBack& w : all) read_value(w);
    see_outputs(nullptr);
  }
  for (std::size_t k = 0; k < all.size(); ++k) {
    if (!parallel) read_value(all[k]);
    write(tensor(leaf(all[k].target)), yes(), values[k]);
  }
  if (!parallel) see_outputs(nullptr);
  see_inputs();
}

void SymbolicRun::run_placed(const ref::Schedule& schedule) {
  lowers_ = true;
  returned_ = schedule.returned();
  const Placement& placement = schedule.placement();
  const std::vector<WriteBack> all = write_backs(steps_.program());
  temporaries_.assign(placement.temporaries.size(), {});
  for (const ref::Item& item : schedule.items()) {
    switch (item.kind) {
      case ref::Item::Kind::node:
        run(steps_.step(node_id(item.index)));
        break;
      case ref::Item::Kind::temporary: {
        const std::uint32_t of = leaf(placement.temporaries[item.index].of);
        temporaries_[item.index] = fresh(steps_.leaf(of).shape);
        write(temporaries_[item.index], yes(), read(tensor(of)));
        break;
      }
      case ref::Item::Kind::copy: {
        const auto& temporary = placement.copies[item.index].temporary;
        write_back(all[item.index], temporary ? temporaries_[*temporary] : tensor(leaf(all[item.index].value)));
        break;
      }
    }
  }
  see_outputs(&schedule);
  see_inputs();
}

void SymbolicRun::write_back(const WriteBack& w, const Alternatives& value) {
  const std::uint32_t target = leaf(w.target);
  for (const Alternative& v : value)
    for (const Alternative& t : tensor(target)) {
      const bool wrongly = v.tensor.storage == t.tensor.storage && !regions_.same(v.tensor.region, t.tensor.region) &&
                           regions_.may_overlap(v.tensor.region, t.tensor.region);
      if (wrongly) trapped_ = trapped_ || both(v.when, t.when);
    }
  write(tensor(target), yes(), read_for(target, value, leaf(w.value)));
}

void SymbolicRun::see_outputs(const ref::Schedule* schedule) {
  const Program& program = steps_.program();
  for (std::uint32_t i = 0; i < program.graph.outputs.size(); ++i) {
    if (is_mutation(program.output_specs[i].kind)) continue;
    const Alternatives* first = nullptr;
    if (schedule != nullptr)
      for (const OutputReadFirst& o : schedule->placement().outputs_read_first)
        if (o.output == i) first = &temporaries_[o.temporary];
    for_each_value(program.graph.outputs[i], [&](ValueId v) {
      const ref::LeafRange range = steps_.leaves_of(v);
      for (std::uint32_t k = 0; k < range.count; ++k) outcome_.push_back(read(first != nullptr ? *first : tensor(range.first + k)));
    });
  }
}

void SymbolicRun::see_inputs() {
  for (std::size_t s = 0; s < steps_.input_storages().size(); ++s) outcome_.push_back(storages_[s].cell);
  outcome_.insert(outcome_.end(), observations_.begin(), observations_.end());
}

}  // namespace writeback::proofs
