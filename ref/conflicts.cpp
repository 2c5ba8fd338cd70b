#include "ref/conflicts.h"

#include <algorithm>

namespace writeback::ref {
namespace {

void mark(std::vector<std::uint8_t>& live, const Graph& graph, const Argument& a) {
  for_each_value(a, [&](ValueId v) {
    if (!graph.is_placeholder(v)) live[index_of(graph.producer_of(v))] = 1;
  });
}

/// Does a use of this operand look at more than metadata: are its cells read or written, or does a result alias it?
std::vector<std::uint8_t> real_uses(const Effects& effects, NodeId n) {
  const std::span<const OperandEffect> operands = effects.operands(n);
  std::vector<std::uint8_t> real(operands.size());
  for (std::size_t k = 0; k < operands.size(); ++k)
    real[k] = operands[k].reads || operands[k].writes || effects.has(n, Trait::opaque);
  for (const ResultEffect& r : effects.results(n)) {
    if (r.kind == ResultKind::fresh || r.kind == ResultKind::none) continue;
    for (const std::uint32_t k : r.operands) real[k] = 1;
  }
  return real;
}

bool starts_live(const Effects& effects, NodeId n) {
  const auto operands = effects.operands(n);
  return effects.has(n, Trait::opaque) || effects.has(n, Trait::returns_nothing) || effects.has(n, Trait::observed) ||
         std::ranges::any_of(operands, [](const OperandEffect& o) { return o.writes; });
}

}  // namespace

std::vector<std::uint8_t> live_nodes(const Program& program, const Effects& effects) {
  const Graph& graph = program.graph;
  std::vector<std::uint8_t> live(graph.nodes.size());
  for (const Argument& a : graph.outputs) mark(live, graph, a);
  for (std::size_t i = graph.nodes.size(); i-- > 0;) {
    const NodeId n = node_id(i);
    if (!live[i] && !starts_live(effects, n)) continue;
    live[i] = 1;
    if (effects.has(n, Trait::getitem)) {
      for (const Argument& a : graph.node(n).args) mark(live, graph, a);
      continue;
    }
    const std::vector<std::uint8_t> real = real_uses(effects, n);
    std::size_t next = 0;
    const auto operands = effects.operands(n);
    const auto visit = [&](ValueId v) {
      const bool tensor = next < operands.size() && operands[next].value == v;
      if ((!tensor || real[next]) && !graph.is_placeholder(v)) live[index_of(graph.producer_of(v))] = 1;
      next += tensor;
    };
    for (const Argument& a : graph.node(n).args) for_each_value(a, visit);
    for (const KeywordArgument& a : graph.node(n).kwargs) for_each_value(a.value, visit);
  }
  return live;
}

std::vector<std::uint8_t> returned_nodes(const Program& program, const Placement* placement) {
  const Graph& graph = program.graph;
  std::vector<std::uint8_t> returned(graph.nodes.size());
  std::uint32_t copy = 0;
  for (std::uint32_t i = 0; i < graph.outputs.size(); ++i) {
    const bool mutation = is_mutation(program.output_specs[i].kind);
    const bool in_place = mutation && placement != nullptr && placement->copies[copy].in_place;
    copy += mutation;
    const bool read_first = placement != nullptr && placement->reads_first(i);
    if ((!mutation || in_place) && !read_first) mark(returned, graph, graph.outputs[i]);
  }
  return returned;
}

namespace {

std::uint32_t add_source(Conflicts& c, const Steps& steps, ValueId v) {
  Source s;
  s.value = v;
  s.leaf = steps.leaves_of(v).first;
  const Graph& graph = steps.program().graph;
  if (!graph.is_placeholder(v)) s.computed.raise(graph.producer_of(v));
  c.sources.push_back(std::move(s));
  return static_cast<std::uint32_t>(c.sources.size() - 1);
}

/// The source with this value, of those from `first` on.
std::uint32_t source_of(Conflicts& c, const Steps& steps, ValueId v, std::size_t first) {
  const auto found = std::ranges::find(c.sources.begin() + static_cast<std::ptrdiff_t>(first), c.sources.end(), v, &Source::value);
  return found != c.sources.end() ? static_cast<std::uint32_t>(found - c.sources.begin()) : add_source(c, steps, v);
}

}  // namespace

Conflicts no_conflicts(const Steps& steps, Semantics semantics) {
  Conflicts result;
  const Program& program = steps.program();
  const bool parallel = semantics == Semantics::parallel;
  result.slots = static_cast<std::uint32_t>(program.graph.nodes.size());
  for (const WriteBack& w : write_backs(program)) {
    CopyConflicts c;
    c.write_back = w;
    c.target_leaf = steps.leaves_of(w.target).first;
    c.source = parallel ? source_of(result, steps, w.value, 0) : add_source(result, steps, w.value);
    result.copies.push_back(std::move(c));
  }
  for (std::uint32_t i = 0; i < program.graph.outputs.size(); ++i) {
    const ValueId* v = as_value(program.graph.outputs[i]);
    if (v == nullptr || is_mutation(program.output_specs[i].kind) || steps.leaves_of(*v).count != 1) continue;
    result.outputs.push_back({i, source_of(result, steps, *v, parallel ? 0 : result.copies.size())});
  }
  for (Source& s : result.sources) {
    s.overlaps.assign(result.copies.size(), 0);
    s.lowered_overlaps = s.overlaps;
  }
  for (CopyConflicts& c : result.copies) c.same_cells.assign(result.copies.size(), 0);
  return result;
}

Tracer::Tracer(const Steps& steps, Regions& regions, Semantics semantics, std::vector<std::uint8_t> returned, bool definite)
    : steps_(steps),
      regions_(regions),
      definite_(definite),
      interpreter_(steps, regions, domain_, recorder_),
      live_(live_nodes(steps.program(), steps.effects())),
      returned_(std::move(returned)) {
  found_ = no_conflicts(steps, semantics);
  truly_written_.assign(found_.sources.size(), std::vector<std::uint8_t>(found_.slots));
  truly_overlaps_.assign(found_.sources.size(), std::vector<std::uint8_t>(found_.copies.size()));
  born_.assign(found_.sources.size(), 0);
}

void Tracer::trace_all(std::uint64_t limit) {
  ChoiceWalk walk(steps_, limit);
  found_.exhaustive = walk.exhaustive();
  while (walk.next()) trace(walk.choices(), walk.semantics_changed());
}

// The unlowered run of the same semantic choices comes first: it tells which writes truly reach a value.
void Tracer::trace(std::span<const std::uint8_t> choices, bool semantics_changed) {
  const std::span<const std::uint8_t> semantic = choices.first(steps_.semantic_choices().size()),
                                      lowering = choices.subspan(semantic.size());
  if (semantics_changed) {
    run(semantic);
    look(false);
  }
  if (std::ranges::all_of(lowering, [](std::uint8_t c) { return c == 0; })) return;
  run(choices);
  look(true);
}

void Tracer::run(std::span<const std::uint8_t> choices) {
  recorder_.events.clear();
  interpreter_.start(choices, returned_);
  for (const Step& s : steps_.steps()) interpreter_.run(s);
}

bool Tracer::touches(const Event& e, Tensor t, std::uint32_t identity) const {
  return e.kind == Event::Kind::rebind ? e.identity == identity : share_a_cell(e.tensor, t);
}

void Tracer::look(bool lowered) {
  for (std::size_t i = 0; i < found_.sources.size(); ++i) look_at_source(i, lowered);
  for (CopyConflicts& c : found_.copies) look_at_copy(c, lowered);
}

void Tracer::look_at_source(std::size_t source, bool lowered) {
  Source& s = found_.sources[source];
  std::vector<std::uint8_t>& truly_written = truly_written_[source];
  const Tensor tensor = interpreter_.tensor(s.leaf);
  const std::uint32_t identity = interpreter_.identity(s.leaf);
  if (!lowered) {
    std::ranges::fill(truly_written, 0);
    born_[source] = interpreter_.born(tensor.storage);
  }
  // A view shows what was written to its storage before it was made: what lowering alone writes there is too late for any copy.
  for (const Event& e : recorder_.events) {
    if (e.kind == Event::Kind::read || index_of(e.node) < born_[source] || !touches(e, tensor, identity)) continue;
    if (lowered) {
      if (!truly_written[index_of(e.node)]) s.deadline.lower(e.node);
      continue;
    }
    truly_written[index_of(e.node)] = 1;
    if (index_of(e.node) >= s.computed.slot) s.written.raise(e.node);
  }
  for (std::size_t j = 0; j < found_.copies.size(); ++j) {
    const bool overlaps = share_a_cell(tensor, interpreter_.tensor(found_.copies[j].target_leaf));
    s.overlaps[j] |= overlaps;
    if (!lowered)
      truly_overlaps_[source][j] = overlaps;
    else if (overlaps && !truly_overlaps_[source][j])
      s.lowered_overlaps[j] = 1;
  }
}

void Tracer::look_at_copy(CopyConflicts& c, bool lowered) {
  const Source& source = found_.sources[c.source];
  const Tensor target = interpreter_.tensor(c.target_leaf), value = interpreter_.tensor(source.leaf);
  for (std::size_t j = 0; j < found_.copies.size(); ++j) {
    if (share_a_cell(target, interpreter_.tensor(found_.copies[j].target_leaf))) c.same_cells[j] = 1;
  }
  const bool exact = value.storage == target.storage && regions_.same(value.region, target.region);
  c.always_exact &= exact;
  c.overlaps_itself |= !exact && share_a_cell(value, target);
  bool disturbed = false;
  for (const Event& e : recorder_.events) {
    const bool is_read = e.kind == Event::Kind::read;
    // Where the value is the target, the copy changes nothing that the program itself did not; what lowering brought it undoes, and
    // those that read the target after that see it.
    if (exact && !disturbed && (is_read || !lowered || truly_written_[c.source][index_of(e.node)])) continue;
    disturbed |= !is_read && index_of(e.node) >= born_[c.source] && touches(e, target, interpreter_.identity(c.target_leaf));
    if (touches(e, target, interpreter_.identity(c.target_leaf))) {
      if (!is_read)
        c.target_written.raise(e.node);
      else if (live_[index_of(e.node)])
        c.target_read.raise(e.node);
    }
    if (!is_read && !lowered && index_of(e.node) >= source.computed.slot && touches(e, value, interpreter_.identity(source.leaf))) {
      c.value_written.raise(e.node);
    }
  }
}

std::vector<std::uint8_t> in_place(const Conflicts& conflicts) {
  std::vector<std::uint8_t> result(conflicts.copies.size());
  for (std::size_t i = 0; i < result.size(); ++i) {
    bool overwritten = false;
    for (std::size_t j = 0; j < i; ++j) overwritten |= !result[j] && conflicts.copies[i].same_cells[j];
    const bool reached = conflicts.sources[conflicts.copies[i].source].deadline.slot != kNever;
    result[i] = conflicts.copies[i].always_exact && !overwritten && !reached;
  }
  return result;
}

std::vector<Clobbered> clobbered(const Conflicts& conflicts) {
  std::vector<Clobbered> result;
  const std::vector<std::uint8_t> dropped = in_place(conflicts);
  for (std::uint32_t i = 0; i < conflicts.copies.size(); ++i) {
    for (std::uint32_t by = 0; by < i; ++by) {
      const Source& source = conflicts.sources[conflicts.copies[i].source];
      if (!dropped[by] && source.overlaps[by]) result.push_back({i, by});
    }
  }
  return result;
}

}  // namespace writeback::ref
