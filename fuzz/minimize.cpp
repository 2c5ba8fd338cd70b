#include "fuzz/minimize.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>

#include "fuzz/builder.h"
#include "fuzz/edit.h"
#include "fuzz/generate.h"
#include "ref/graph/error.h"
#include "ref/graph/well_formed.h"

namespace writeback::fuzz {
namespace {

using Clock = std::chrono::steady_clock;

/// Tells a reduction whether its candidate was taken; then the reduction starts again from the new program.
using Try = std::function<bool(Program)>;
using Reduce = bool (*)(const Program&, const Try&);
struct Reduction {
  const char* name;
  Reduce run;  ///< true as soon as a candidate was taken
};

bool same_kind(const Program& p, ValueId a, ValueId b) {
  const TensorMeta* x = tensor_meta(p.graph.meta_of(a));
  const TensorMeta* y = tensor_meta(p.graph.meta_of(b));
  return x != nullptr && y != nullptr && x->dtype == y->dtype && x->sizes == y->sizes;
}

bool is_used(const Program& p, ValueId value) {
  bool found = false;
  const auto look = [&](ValueId v) { found |= v == value; };
  for (const Node& node : p.graph.nodes) for_each_operand(node, look);
  for (const Argument& a : p.graph.outputs) for_each_value(a, look);
  return found;
}

/// What may stand for a dropped node's result: an operand of the same kind, else the first such value before it.
std::optional<ValueId> stand_in(const Program& p, NodeId n) {
  const ValueId value = p.graph.result_of(n);
  std::optional<ValueId> found;
  for_each_operand(p.graph.node(n), [&](ValueId operand) {
    if (!found && same_kind(p, operand, value)) found = operand;
  });
  for (std::size_t v = 0; !found && v < index_of(value); ++v) {
    if (same_kind(p, value_id(v), value)) found = value_id(v);
  }
  return found;
}

/// Nodes that name a branch go with the op that takes it.
void drop_unused_branches(const Program& p, Edit& edit) {
  if (p.graph.subgraphs.empty()) return;
  std::vector<bool> used(p.graph.value_count());
  for (const NodeId n : edit.nodes) for_each_operand(p.graph.node(n), [&](ValueId v) { used[index_of(v)] = true; });
  std::erase_if(edit.nodes,
                [&](NodeId n) { return p.graph.node(n).kind == Node::Kind::get_attr && !used[index_of(p.graph.result_of(n))]; });
}

/// Without these nodes, their uses rewired; nullopt where a use has nothing to stand for it.
std::optional<Program> without_nodes(const Program& p, std::size_t first, std::size_t count) {
  Edit edit(p);
  for (std::size_t n = first; n < first + count; ++n) {
    const ValueId value = p.graph.result_of(node_id(n));
    edit.drop(node_id(n));
    const std::optional<ValueId> other = stand_in(p, node_id(n));
    if (other)
      edit.substitute[index_of(value)] = edit.substitute[index_of(*other)];
    else if (is_used(p, value))
      edit.substitute[index_of(value)] = value_id(p.graph.value_count());  // no stand-in
  }
  drop_unused_branches(p, edit);
  bool whole = true;
  const auto check = [&](ValueId v) { whole &= index_of(edit.substitute[index_of(v)]) < p.graph.value_count(); };
  for (const NodeId n : edit.nodes) for_each_operand(p.graph.node(n), check);
  for (const Argument& a : p.graph.outputs) for_each_value(a, check);
  if (!whole) return std::nullopt;
  return apply(p, edit);
}

bool drop_outputs(const Program& p, const Try& take) {
  for (std::size_t i = 0; i < p.graph.outputs.size(); ++i) {
    if (take(without_output(p, i))) return true;
  }
  return false;
}

bool drop_node_runs(const Program& p, const Try& take) {
  const std::size_t count = p.graph.nodes.size();
  for (std::size_t length = count; length >= 1; length /= 2) {
    for (std::size_t end = count; end >= length; end -= std::min(end, length)) {
      std::optional<Program> without = without_nodes(p, end - length, length);
      if (without && take(std::move(*without))) return true;
    }
  }
  return false;
}

bool drop_unused_nodes(const Program& p, const Try& take) {
  Edit edit(p);
  std::vector<bool> used(p.graph.value_count());
  for (const Argument& a : p.graph.outputs) for_each_value(a, [&](ValueId v) { used[index_of(v)] = true; });
  for (std::size_t n = p.graph.nodes.size(); n-- > 0;) {
    if (!used[index_of(p.graph.result_of(node_id(n)))])
      edit.drop(node_id(n));
    else
      for_each_operand(p.graph.nodes[n], [&](ValueId v) { used[index_of(v)] = true; });
  }
  return edit.nodes.size() < p.graph.nodes.size() && take(apply(p, edit));
}

bool drop_pairs(const Program& p, const Try& take) {
  const std::size_t count = p.graph.nodes.size();
  if (count > 8) return false;
  for (std::size_t second = count; second-- > 1;) {
    for (std::size_t first = second; first-- > 0;) {
      const std::optional<Program> one = without_nodes(p, second, 1);
      std::optional<Program> both = one ? without_nodes(*one, first, 1) : std::nullopt;
      if (both && take(std::move(*both))) return true;
    }
  }
  for (std::size_t n = count; n-- > 0;) {
    for (std::size_t i = 0; i < p.graph.outputs.size(); ++i) {
      std::optional<Program> without = without_nodes(without_output(p, i), n, 1);
      if (without && take(std::move(*without))) return true;
    }
  }
  return false;
}

bool drop_placeholders(const Program& p, const Try& take) {
  for (std::size_t v = p.graph.placeholders.size(); v-- > 0;) {
    const auto targets_v = [&](const OutputSpec& o) { return is_mutation(o.kind) && placeholder_of(p, o) == value_id(v); };
    if (is_used(p, value_id(v)) || std::any_of(p.output_specs.begin(), p.output_specs.end(), targets_v)) continue;
    Edit edit(p);
    edit.keep_placeholder[v] = false;
    if (take(apply(p, edit))) return true;
  }
  return false;
}

/// All uses of one placeholder become uses of another of the same kind.
bool merge_storages(const Program& p, const Try& take) {
  for (std::size_t v = p.graph.placeholders.size(); v-- > 1;) {
    for (std::size_t into = 0; into < v; ++into) {
      if (!is_used(p, value_id(v)) || !same_kind(p, value_id(into), value_id(v))) continue;
      Edit edit(p);
      edit.substitute[v] = value_id(into);
      if (take(apply(p, edit))) return true;
    }
  }
  return false;
}

bool drop_annotations(const Program& p, const Try& take) {
  for (std::size_t g = 0; g < p.alias_groups.size(); ++g) {
    for (std::size_t m = 1; m < p.alias_groups[g].size(); ++m) {
      Program less = p;
      less.alias_groups[g].erase(less.alias_groups[g].begin() + static_cast<std::ptrdiff_t>(m));
      if (less.alias_groups[g].size() < 2) less.alias_groups.erase(less.alias_groups.begin() + static_cast<std::ptrdiff_t>(g));
      if (take(std::move(less))) return true;
    }
  }
  for (std::size_t s = 0; s < p.share_allocations.size(); ++s) {
    Program less = p;
    less.share_allocations.erase(less.share_allocations.begin() + static_cast<std::ptrdiff_t>(s));
    if (take(std::move(less))) return true;
  }
  for (std::size_t w = 0; w + 1 < p.options.size(); w += 2) {
    Program less = p;
    less.options.erase(less.options.begin() + static_cast<std::ptrdiff_t>(w),
                       less.options.begin() + static_cast<std::ptrdiff_t>(w) + 2);
    if (take(std::move(less))) return true;
  }
  return false;
}

bool drop_list_elements(const Program& p, const Try& take) {
  for (std::size_t n = 0; n < p.graph.nodes.size(); ++n) {
    for (std::size_t a = 0; a < p.graph.nodes[n].args.size(); ++a) {
      const ListArgument* list = as_list(p.graph.nodes[n].args[a]);
      if (list == nullptr || list->items.size() < 2 || as_value(list->items[0]) == nullptr) continue;
      for (std::size_t i = 0; i < list->items.size(); ++i) {
        Program less = p;
        auto& items = std::get<ListArgument>(less.graph.nodes[n].args[a]).items;
        items.erase(items.begin() + static_cast<std::ptrdiff_t>(i));
        if (take(std::move(less))) return true;
      }
    }
  }
  return false;
}

/// Other ops in place of one, for as long as the arguments fit: one operand that looks at everything, then fewer alias choices.
bool simplify_ops(const Program& p, const Try& take) {
  for (std::size_t n = 0; n < p.graph.nodes.size(); ++n) {
    const ValueId value = p.graph.result_of(node_id(n));
    std::vector<ValueId> operands;
    for_each_operand(p.graph.nodes[n], [&](ValueId v) { operands.push_back(v); });
    for (const ValueId operand : operands) {
      if (!same_kind(p, operand, value)) continue;
      for (const char* op : {"neg", "alias", "neg_"}) {
        Program simpler = p;
        Node& node = simpler.graph.nodes[n];
        node.target = simpler.intern({Target::Kind::op, "aten", op, "default"});
        node.args = {operand};
        node.kwargs.clear();
        if (take(std::move(simpler))) return true;
      }
    }
  }
  return false;
}

bool use_earlier_values(const Program& p, const Try& take) {
  Program scratch = p;
  std::vector<ValueId> uses;
  for_each_use(scratch.graph, [&](ValueId& v) { uses.push_back(v); });
  for (std::size_t use = 0; use < uses.size(); ++use) {
    for (std::size_t v = 0; v < index_of(uses[use]); ++v) {
      if (!same_kind(p, value_id(v), uses[use])) continue;
      Program earlier = p;
      std::size_t at = 0;
      for_each_use(earlier.graph, [&](ValueId& u) {
        if (at++ == use) u = value_id(v);
      });
      if (take(std::move(earlier))) return true;
    }
  }
  return false;
}

/// The attribute that a node names of which `a` is the result.
std::string attribute_named(const Program& p, const Argument& a) {
  const ValueId* v = as_value(a);
  if (v == nullptr || p.graph.is_placeholder(*v)) return {};
  const Node& node = p.graph.node(p.graph.producer_of(*v));
  return node.kind == Node::Kind::get_attr ? p.target(node).name : std::string();
}

bool are_values(const std::vector<Argument>& list) {
  return std::all_of(list.begin(), list.end(), [](const Argument& a) { return as_value(a) != nullptr; });
}

bool is_simple_cond(const Program& p, const Node& node) {
  if (p.target(node).kind != Target::Kind::higher_order || p.target(node).name != "cond" || node.args.size() != 4) return false;
  return as_list(node.args[3]) != nullptr && are_values(as_list(node.args[3])->items);
}

/// One that can be written into the program: no branch of its own, as many inputs as values are passed.
bool is_simple_branch(const Graph& branch, const Node& node) {
  return branch.subgraphs.empty() && are_values(branch.outputs) &&
         branch.placeholders.size() == as_list(node.args[3])->items.size();
}

/// The nodes of a branch in place of the cond, whose elements become its outputs.
Program with_branch_inlined(const Program& p, std::size_t cond, const Graph& branch) {
  const ListArgument& passed = *as_list(p.graph.nodes[cond].args.back());
  Program inlined = p;
  std::vector<Argument> values(passed.items);
  for (std::size_t i = 0; i < branch.nodes.size(); ++i) {
    Node node = branch.nodes[i];
    node.name = p.graph.nodes[cond].name + "_" + node.name;
    for (Argument& a : node.args) for_each_value_mut(a, [&](ValueId& v) { v = *as_value(values[index_of(v)]); });
    inlined = with_node_inserted(inlined, cond + i, std::move(node));
    values.emplace_back(inlined.graph.result_of(node_id(cond + i)));
  }
  const NodeId call = node_id(cond + branch.nodes.size());
  Edit edit(inlined);
  for (std::size_t n = index_of(call) + 1; n < inlined.graph.nodes.size(); ++n) {
    const Node& node = inlined.graph.nodes[n];
    if (!inlined.target(node).is_getitem() || node.args[0] != Argument(inlined.graph.result_of(call))) continue;
    const Argument& output = branch.outputs[static_cast<std::size_t>(*as_int(node.args[1]))];
    edit.substitute[index_of(inlined.graph.result_of(node_id(n)))] = *as_value(values[index_of(*as_value(output))]);
    edit.drop(node_id(n));
  }
  edit.drop(call);
  drop_unused_branches(inlined, edit);
  return apply(inlined, edit);
}

bool inline_branches(const Program& p, const Try& take) {
  for (std::size_t n = 0; n < p.graph.nodes.size(); ++n) {
    const Node& node = p.graph.nodes[n];
    if (!is_simple_cond(p, node)) continue;
    for (const Subgraph& s : p.graph.subgraphs) {
      const bool taken_here = s.attribute == attribute_named(p, node.args[1]) || s.attribute == attribute_named(p, node.args[2]);
      if (taken_here && is_simple_branch(s.graph, node) && take(with_branch_inlined(p, n, s.graph))) return true;
    }
  }
  return false;
}

bool swap_neighbours(const Program& p, const Try& take) {
  for (std::size_t n = 0; n + 1 < p.graph.nodes.size(); ++n) {
    bool dependent = false;
    for_each_operand(p.graph.nodes[n + 1], [&](ValueId v) { dependent |= v == p.graph.result_of(node_id(n)); });
    if (dependent) continue;
    Edit edit(p);
    std::swap(edit.nodes[n], edit.nodes[n + 1]);
    if (take(apply(p, edit))) return true;
  }
  return false;
}

/// Shrinks the decisions themselves: shapes, regions, dtypes, list lengths, forms.
bool shrink_choices(const Program& p, const Try& take) {
  const Sizes sizes{64, static_cast<std::uint32_t>(p.graph.nodes.size() + 1), 64};
  const std::optional<Records> records = encode(p, sizes);
  if (!records) return false;
  for (std::size_t r = 0; r < records->size(); ++r) {
    for (std::size_t b = 1; b < Record::kBytes; ++b) {
      const std::uint8_t byte = (*records)[r].bytes[b];
      for (std::uint32_t smaller = 0; smaller < byte; ++smaller) {
        Records shrunk = *records;
        shrunk[r].bytes[b] = static_cast<std::uint8_t>(smaller);
        if (take(generate(shrunk, sizes))) return true;
      }
    }
  }
  return false;
}

constexpr Reduction kReductions[] = {
    {"drop unused nodes", drop_unused_nodes},
    {"drop a run of nodes and rewire", drop_node_runs},
    {"drop an output or a write-back", drop_outputs},
    {"drop an unused placeholder", drop_placeholders},
    {"merge two placeholders", merge_storages},
    {"drop an alias, a shared allocation or an option", drop_annotations},
    {"drop an element of a list", drop_list_elements},
    {"simplify an op", simplify_ops},
    {"inline a branch", inline_branches},
    {"use an earlier value", use_earlier_values},
    {"shrink a choice", shrink_choices},
    {"swap neighbours", swap_neighbours},
    {"drop two at once", drop_pairs},
};

std::uint64_t op_rank(const Program& p, const Node& node) {
  const std::string name = p.target(node).qualified_name();
  std::uint64_t rank = 0;
  for (const Form& form : forms()) {
    if (form.target.qualified_name() == name) return rank;
    ++rank;
  }
  return rank;
}

std::uint64_t cells_of(const ValueMeta& meta) {
  const TensorMeta* tensor = tensor_meta(meta);
  if (tensor == nullptr) return 0;
  std::uint64_t cells = tensor->dtype == DType::f32 ? 1 : 2;
  for (const SymInt& s : tensor->sizes) cells = cells * static_cast<std::uint64_t>(s.is_number() ? s.number() : 2) + 1;
  return cells;
}

class Minimizer {
 public:
  Minimizer(Implementation& implementation, const Options& base, const Signature& signature, const Checks& checks, double seconds)
      : implementation_(implementation),
        base_(base),
        signature_(signature),
        checks_(checks),
        until_(Clock::now() + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds))) {}

  Minimized run(const Program& program) {
    best_.program = program;
    best_.judged = judge(implementation_, program, options_of(program, base_), checks_for(program));
    encodable_ = encode(program, kSizes).has_value();
    size_ = measure(program);
    bool again = best_.judged.signature == signature_;
    while (again && Clock::now() < until_) again = step();
    best_.one_minimal = !again && best_.judged.signature == signature_;
    if (encodable_ && best_.kept > 0) give_usual_names();
    return std::move(best_);
  }

 private:
  static constexpr Sizes kSizes{64, 4096, 64};
  static constexpr std::size_t kSmall = 12;  ///< nodes

  bool step() {
    for (const Reduction& reduction : kReductions) {
      const bool taken = reduction.run(best_.program, [&](Program candidate) { return take(std::move(candidate)); });
      if (taken) return ++best_.kept, ++best_.kept_by_reduction[reduction.name], true;
      if (Clock::now() >= until_) return true;
    }
    return false;
  }

  /// The choices that witness the failure go along; a program that is small enough is tried under all of its own.
  Checks checks_for(const Program& candidate) const {
    Checks checks = checks_;
    checks.first_choices = best_.judged.choices;
    if (candidate.graph.nodes.size() <= kSmall) checks.choices = std::max(checks.choices, ref::Limits().choices);
    return checks;
  }

  void give_usual_names() {
    Program named = canonical(best_.program);
    Judged judged = judge(implementation_, named, options_of(named, base_), checks_for(named));
    if (judged.signature != signature_) return;
    best_.program = std::move(named);
    best_.judged = std::move(judged);
  }

  bool take(Program candidate) {
    if (Clock::now() >= until_) return false;
    candidate = tidy(std::move(candidate));
    std::vector<std::uint64_t> size = measure(candidate);
    if (size >= size_) return false;
    if (encodable_ ? !encode(candidate, kSizes) : !breaches(candidate).empty()) return false;
    ++best_.tried;
    Judged judged;
    try {
      judged = judge(implementation_, candidate, options_of(candidate, base_), checks_for(candidate));
    } catch (const InputError&) {
      return false;  // outside of what can be judged
    }
    if (judged.verdict == Verdict::right || judged.verdict == Verdict::skipped) return false;
    if (judged.signature != signature_) return best_.set_aside.emplace(judged.signature, candidate), false;
    best_.program = std::move(candidate);
    best_.judged = std::move(judged);
    size_ = std::move(size);
    return true;
  }

  Implementation& implementation_;
  const Options& base_;
  const Signature& signature_;
  Checks checks_;
  Clock::time_point until_;
  Minimized best_;
  std::vector<std::uint64_t> size_;
  bool encodable_ = false;
};

}  // namespace

std::vector<std::uint64_t> measure(const Program& p) {
  std::uint64_t members = 0, cells = 0, ranks = 0, operands = 0, leaves = 0, numbers = 0;
  for (const auto& group : p.alias_groups) {
    for (const AliasMember& m : group) members += m.geometry ? 3 : 2;
  }
  for (const Placeholder& placeholder : p.graph.placeholders) cells += cells_of(placeholder.meta);
  std::vector<std::uint64_t> order;
  for (const Node& node : p.graph.nodes) {
    cells += cells_of(node.meta);
    order.push_back(op_rank(p, node));
    ranks += order.back();
    for_each_operand(node, [&](ValueId v) { operands += index_of(v), ++leaves; });
    for (const Argument& a : node.args) numbers += as_int(a) ? static_cast<std::uint64_t>(std::abs(*as_int(a))) : 0;
  }
  for (const Argument& a : p.graph.outputs) for_each_value(a, [&](ValueId v) { operands += index_of(v); });
  for (const OutputSpec& o : p.output_specs) {
    const std::optional<ValueId> target = is_mutation(o.kind) ? placeholder_of(p, o) : std::nullopt;
    operands += target ? index_of(*target) : 0;
  }
  std::uint64_t kinds = 0;
  for (const InputSpec& input : p.input_specs) kinds += input.kind == InputKind::buffer ? 0 : 1;
  std::vector<std::uint64_t> parts{p.graph.nodes.size(),
                                   p.graph.outputs.size(),
                                   p.graph.placeholders.size(),
                                   members + p.share_allocations.size() + p.options.size() + p.schemas.size(),
                                   kinds,
                                   leaves,
                                   cells,
                                   ranks,
                                   operands,
                                   numbers};
  parts.insert(parts.end(), order.begin(), order.end());
  return parts;
}

Minimized minimize(Implementation& implementation, const Program& program, const Options& base, const Signature& signature,
                   const Checks& checks, double seconds) {
  return Minimizer(implementation, base, signature, checks, seconds).run(program);
}

std::vector<std::string> reductions() {
  std::vector<std::string> names;
  for (const Reduction& r : kReductions) names.emplace_back(r.name);
  return names;
}

}  // namespace writeback::fuzz
