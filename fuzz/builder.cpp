#include "fuzz/builder.h"

#include <algorithm>
#include <array>
#include <string>

#include "ref/graph/view_geometry_ops.h"

namespace writeback::fuzz {
namespace {

constexpr std::size_t kLatest = 3;  ///< so many of the latest values stand twice among the candidates for an operand

/// The cells of a region as bits; the generator's storages have at most 64.
std::uint64_t cells(const Region& region) {
  std::uint64_t bits = 0;
  const std::int64_t count = region.numel();
  for (std::int64_t i = 0; i < count; ++i) {
    std::int64_t rest = i, cell = region.offset;
    for (std::size_t d = region.sizes.size(); d-- > 0;) {
      cell += rest % region.sizes[d] * region.strides[d];
      rest /= region.sizes[d];
    }
    bits |= std::uint64_t{1} << (cell & 63);
  }
  return bits;
}

ValueMeta meta_of(const Tensor& t) {
  TensorMeta meta;
  meta.dtype = t.dtype;
  meta.sizes.assign(t.sizes().begin(), t.sizes().end());
  return meta;
}

std::vector<SymInt> sym(const Shape& sizes) { return {sizes.begin(), sizes.end()}; }

Argument argument(const Shape& sizes) {
  ListArgument list;
  for (const std::int64_t size : sizes) list.items.emplace_back(size);
  return list;
}

std::optional<std::size_t> found(const auto& range, const auto& wanted) {
  const auto at = std::find(std::begin(range), std::end(range), wanted);
  if (at == std::end(range)) return std::nullopt;
  return static_cast<std::size_t>(at - std::begin(range));
}

/// Where a placeholder may lie in the storage of an earlier one that is contiguous.
std::vector<AliasMember::Geometry> places_inside(const Region& host) {
  std::vector<AliasMember::Geometry> places{{0, host.sizes, host.strides}};
  const std::int64_t cells_of_host = host.numel();
  if (cells_of_host == 4) {
    places.insert(places.end(),
                  {{0, {2}, {1}}, {1, {2}, {1}}, {2, {2}, {1}}, {0, {2}, {2}}, {1, {2}, {2}}, {0, {2, 2}, {1, 2}}, {0, {3}, {1}}});
  } else if (cells_of_host == 2) {
    places.insert(places.end(), {{0, {1}, {1}}, {1, {1}, {1}}});
  }
  return places;
}

const std::array<Shape, 5> kPlaceholderShapes{Shape{4}, Shape{2, 2}, Shape{2}, Shape{}, Shape{3}};

}  // namespace

std::string placeholder_name(InputKind kind, std::size_t index) {
  std::string name = kind == InputKind::user_input ? "x_" : kind == InputKind::parameter ? "p_" : "b_";
  name += static_cast<char>('a' + index % 26);
  if (index >= 26) name += std::to_string(index / 26);
  return name;
}

std::string node_name(std::size_t index) {
  std::string name = "t";
  name += std::to_string(index);
  return name;
}

std::string branch_name(bool taken, std::size_t k) { return (taken ? "true_graph_" : "false_graph_") + std::to_string(k); }
std::string branch_placeholder_name(std::size_t i) { return "p" + std::to_string(i); }
std::string branch_node_name(std::size_t i) { return "s" + std::to_string(i); }

bool is_writable(const Tensor& t) { return !t.frozen && std::popcount(cells(t.region)) == t.region.numel(); }

bool apart(const Tensor& a, const Tensor& b) {
  if ((a.storages & b.storages) == 0) return true;
  if (!a.exact || !b.exact || a.home != b.home) return false;
  return same_region(a.region, b.region) || (cells(a.region) & cells(b.region)) == 0;
}

std::optional<Shape> broadcast(const Shape& a, const Shape& b) {
  const Shape& longer = a.size() >= b.size() ? a : b;
  const Shape& shorter = a.size() >= b.size() ? b : a;
  Shape sizes = longer;
  const std::size_t shift = longer.size() - shorter.size();
  for (std::size_t d = 0; d < shorter.size(); ++d) {
    std::int64_t& size = sizes[shift + d];
    if (size == 1)
      size = shorter[d];
    else if (shorter[d] != 1 && shorter[d] != size)
      return std::nullopt;
  }
  return sizes;
}

bool broadcasts_to(const Shape& from, const Shape& to) {
  if (from.size() > to.size()) return false;
  const std::size_t shift = to.size() - from.size();
  for (std::size_t d = 0; d < from.size(); ++d) {
    if (from[d] != 1 && from[d] != to[shift + d]) return false;
  }
  return true;
}

Builder::Builder(const Sizes& sizes, const Program* wanted) : sizes_(sizes), wanted_(wanted) {
  target_of_form_.resize(forms().size());
  interned_.resize(forms().size());
}

// --- Questions ---

std::uint32_t Builder::pick(std::size_t n, const Answer& answer) {
  const auto options = static_cast<std::uint32_t>(n);
  if (wanted_ == nullptr) return choices_->pick(options);
  const std::optional<std::size_t> found = answer();
  if (!found) throw NotEncodable{};
  record.put(options, static_cast<std::uint32_t>(*found));
  return static_cast<std::uint32_t>(*found);
}

bool Builder::flag(std::uint32_t one_in, bool wanted) {
  return pick(one_in, [&] { return std::optional<std::size_t>(wanted ? one_in - 1 : 0); }) == one_in - 1;
}

const Node* Builder::wanted_node() const {
  if (wanted_ == nullptr) return nullptr;
  const std::size_t n = program_.graph.nodes.size();
  if (n >= wanted_->graph.nodes.size()) throw NotEncodable{};
  return &wanted_->graph.nodes[n];
}

const Argument* Builder::wanted_argument() const {
  const Node* node = wanted_node();
  if (node == nullptr) return nullptr;
  if (node_.args.size() >= node->args.size()) throw NotEncodable{};
  return &node->args[node_.args.size()];
}

const Tensor* Builder::tensor(const Fits& fits, const Argument* wanted) {
  candidates_.clear();
  for (const Value& v : values_) {
    if (v.tensor && fits(*v.tensor)) candidates_.push_back(&*v.tensor);
  }
  if (candidates_.empty()) return nullptr;
  const std::size_t n = candidates_.size();
  const std::size_t latest = prefer_latest_ ? std::min(kLatest, n) : 0;
  const std::size_t k = pick(n + latest, [&]() -> std::optional<std::size_t> {
    const ValueId* value = as_value(*wanted);
    if (value == nullptr) return std::nullopt;
    for (std::size_t i = 0; i < n; ++i) {
      if (candidates_[i]->value == *value) return i;
    }
    return std::nullopt;
  });
  return candidates_[k < n ? k : 2 * n - 1 - k];
}

const Tensor* Builder::operand(const Fits& fits) {
  const Tensor* t = tensor(fits, wanted_argument());
  if (t != nullptr) node_.args.emplace_back(t->value);
  return t;
}

bool Builder::has_tensor(const Fits& fits) const {
  return std::any_of(values_.begin(), values_.end(), [&](const Value& v) { return v.tensor && fits(*v.tensor); });
}

const Tensor* Builder::operand_preferring(const Fits& rare, std::uint32_t one_in, const Fits& fits) {
  const Fits both = [&](const Tensor& t) { return fits(t) && rare(t); };
  if (!prefer_latest_ || !has_tensor(both)) return operand(fits);
  return flag(one_in, is_wanted(both, wanted_argument())) ? operand(both) : operand(fits);
}

bool Builder::is_wanted(const Fits& fits, const Argument* wanted) const {
  const ValueId* v = wanted == nullptr ? nullptr : as_value(*wanted);
  return v != nullptr && values_[index_of(*v)].tensor && fits(*values_[index_of(*v)].tensor);
}

const Tensor* Builder::keyword(const char* name, const Fits& fits) {
  const Node* node = wanted_node();
  if (node != nullptr && node_.kwargs.size() >= node->kwargs.size()) throw NotEncodable{};
  const Tensor* t = tensor(fits, node == nullptr ? nullptr : &node->kwargs[node_.kwargs.size()].value);
  if (t != nullptr) node_.kwargs.push_back({name, t->value});
  return t;
}

bool Builder::list(std::uint32_t least, std::uint32_t most, const Fits& fits, bool tuple) {
  const Argument* wanted = wanted_argument();
  const ListArgument* wanted_items = wanted == nullptr ? nullptr : as_list(*wanted);
  if (wanted != nullptr && (wanted_items == nullptr || wanted_items->items.size() < least)) throw NotEncodable{};
  const std::size_t count = least + pick(most - least + 1, [&] { return std::optional(wanted_items->items.size() - least); });
  ListArgument items;
  items.tuple = tuple;
  items_.clear();
  while (items_.size() < count) {
    if (wanted_items != nullptr && items_.size() >= wanted_items->items.size()) throw NotEncodable{};
    const Tensor* t = tensor(fits, wanted_items == nullptr ? nullptr : &wanted_items->items[items_.size()]);
    if (t == nullptr) break;
    items.items.emplace_back(t->value);
    items_.push_back(t);
  }
  node_.args.emplace_back(std::move(items));
  return items_.size() >= least;
}

const Shape& Builder::shape(const std::vector<Shape>& options) {
  const Argument* wanted = wanted_argument();
  const std::size_t k = pick(options.size(), [&]() -> std::optional<std::size_t> {
    for (std::size_t i = 0; i < options.size(); ++i) {
      if (argument(options[i]) == *wanted) return i;
    }
    return std::nullopt;
  });
  node_.args.push_back(argument(options[k]));
  return options[k];
}

std::int64_t Builder::integer(std::int64_t first, std::int64_t last) {
  const Argument* wanted = wanted_argument();
  const auto k = pick(static_cast<std::size_t>(last - first + 1), [&]() -> std::optional<std::size_t> {
    const std::int64_t* value = as_int(*wanted);
    if (value == nullptr || *value < first || *value > last) return std::nullopt;
    return static_cast<std::size_t>(*value - first);
  });
  node_.args.emplace_back(first + k);
  return first + k;
}

bool Builder::element_of_tuple() {
  std::vector<std::pair<ValueId, std::int64_t>> options;
  for (std::size_t v = 0; v < values_.size(); ++v) {
    for (std::size_t i = 0; i < values_[v].elements.size(); ++i) options.emplace_back(value_id(v), i);
  }
  if (options.empty()) return false;
  const Node* wanted = wanted_node();
  const auto k = pick(options.size(), [&]() -> std::optional<std::size_t> {
    if (wanted->args.size() != 2 || !as_value(wanted->args[0]) || !as_int(wanted->args[1])) return std::nullopt;
    return found(options, std::pair(*as_value(wanted->args[0]), *as_int(wanted->args[1])));
  });
  node_.args = {options[k].first, options[k].second};
  result_ = values_[index_of(options[k].first)].elements[static_cast<std::size_t>(options[k].second)];
  return true;
}

// --- Branches of a cond ---

namespace {

/// What a branch computes, the first operand being `a` and the last `b`. Each gives something like `a`.
constexpr std::array<std::array<const char*, 3>, 6> kBodies{{{"neg a"},
                                                             {"zeros_like a"},           // looks at metadata
                                                             {"alias a", "neg s0"},      // reads through a view
                                                             {"neg b", "zeros_like a"},  // the reader is dead
                                                             {"sum b", "add a s0"},      // reads both
                                                             {"sum b", "add a s0", "neg s1"}}};

/// "add a s0" in a graph of `operands` placeholders.
Node body_node(Program& program, Graph& graph, std::string_view text) {
  Node node;
  std::size_t end = text.find(' ');
  const std::string op(text.substr(0, end));
  node.target = program.intern({Target::Kind::op, "aten", op, op == "add" ? "Tensor" : "default"});
  while (end != std::string_view::npos) {
    const char word = text[end + 1];
    const std::size_t last = graph.placeholders.size() - 1;
    const std::size_t number = word == 'a' ? 0 : word == 'b' ? last : last + 1 + static_cast<std::size_t>(text[end + 2] - '0');
    node.args.emplace_back(value_id(number));
    end = text.find(' ', end + 1);
  }
  node.meta = graph.meta_of(*as_value(node.args.front()));
  if (op == "sum") std::get<TensorMeta>(node.meta).sizes.clear();
  node.name = branch_node_name(graph.nodes.size());
  if (graph.nodes.empty()) node.comments.emplace_back(kFirstComment);
  return node;
}

std::optional<std::size_t> body_of(const Program& program, const Graph& graph) {
  for (std::size_t k = 0; k < kBodies.size(); ++k) {
    bool same = true;
    std::size_t count = 0;
    for (const char* text : kBodies[k]) {
      if (text == nullptr) continue;
      const std::string_view op = std::string_view(text).substr(0, std::string_view(text).find(' '));
      same = same && count < graph.nodes.size() && program.target(graph.nodes[count]).name == op;
      ++count;
    }
    if (same && count == graph.nodes.size()) return k;
  }
  return std::nullopt;
}

}  // namespace

std::pair<ValueId, ValueId> Builder::branches() {
  std::array<ValueId, 2> made;
  const std::size_t k = program_.graph.subgraphs.size() / 2;
  for (const bool taken : {true, false}) {
    Node node;
    node.kind = Node::Kind::get_attr;
    node.name = branch_name(taken, k);
    node.target = program_.intern({Target::Kind::python, "", node.name, ""});
    if (program_.graph.nodes.empty()) node.comments.emplace_back(kFirstComment);
    made[taken ? 0 : 1] = value_id(values_.size());
    program_.graph.nodes.push_back(std::move(node));
    values_.emplace_back();
  }
  return {made[0], made[1]};
}

void Builder::body(bool taken) {
  const std::string name = branch_name(taken, program_.graph.subgraphs.size() / 2);
  const std::size_t k = pick(kBodies.size(), [&]() -> std::optional<std::size_t> {
    for (const Subgraph& s : wanted_->graph.subgraphs) {
      if (s.attribute == name) return body_of(*wanted_, s.graph);
    }
    return std::nullopt;
  });
  Graph graph;
  graph.class_name = name;
  for (const Tensor* item : items_) {
    graph.placeholders.push_back({branch_placeholder_name(graph.placeholders.size()), meta_of(*item)});
  }
  for (const char* text : kBodies[k]) {
    if (text != nullptr) graph.nodes.push_back(body_node(program_, graph, text));
  }
  graph.outputs.emplace_back(graph.result_of(node_id(graph.nodes.size() - 1)));
  program_.graph.subgraphs.push_back({name, std::move(graph)});
}

// --- Results ---

Tensor Builder::fresh(DType dtype, Shape sizes, bool plain) {
  Tensor t;
  t.dtype = dtype;
  t.region = Region::contiguous(std::move(sizes));
  t.home = storages_++;
  t.storages = std::uint64_t{1} << (t.home % 64);
  t.plain = plain;
  t.object = ++objects_;
  return t;
}

Tensor Builder::view_of(const Tensor& base, Region region) {
  Tensor t = base;
  t.region = std::move(region);
  t.link = t.pinned = t.stale = t.restrided = false;
  t.view = true;
  t.object = ++objects_;
  return t;
}

Tensor Builder::may_view(const Tensor& base, Region region) {
  Tensor t = view_of(base, std::move(region));
  t.storages |= std::uint64_t{1} << (storages_++ % 64);
  return t;
}

Tensor Builder::opaque(const Tensor& like, std::uint64_t storages) {
  Tensor t = fresh(like.dtype, like.sizes(), false);
  t.storages |= storages;
  t.exact = false;
  return t;
}

template <typename F>
void Builder::for_each_name(std::uint32_t object, F f) {
  for (Value& v : values_) {
    if (v.tensor && v.tensor->object == object) f(*v.tensor);
    for (Tensor& element : v.elements) {
      if (element.object == object) f(element);
    }
  }
}

void Builder::rebound(const Tensor& operand, const Region& region) {
  for_each_name(operand.object, [&](Tensor& t) { t.region = region, t.link = false, t.stale = true; });
  result(operand);
  result_->stale = false;
}

void Builder::restride(const Tensor& operand) {
  for_each_name(operand.object, [](Tensor& t) { t.restrided = true; });
}

void Builder::pin(const Tensor& operand) {
  for_each_name(operand.object, [](Tensor& t) { t.pinned = true; });
}

void Builder::declare(const char* schema) {
  if (std::find(program_.schemas.begin(), program_.schemas.end(), schema) == program_.schemas.end())
    program_.schemas.emplace_back(schema);
}

// --- Statements ---

void Builder::setting(Choices& choices) {
  choices_ = &choices;
  static const std::vector<std::vector<std::string>> kSettings{{"--lowering", "none"}, {"--trust", "my"}};
  const auto& words = kSettings[pick(kSettings.size(), [&] {
    const std::size_t at = program_.options.size();
    return at + 1 < wanted_->options.size() ? found(kSettings, std::vector{wanted_->options[at], wanted_->options[at + 1]})
                                            : std::nullopt;
  })];
  if (found(program_.options, words[0])) return;
  program_.options.insert(program_.options.end(), words.begin(), words.end());
  if (words[0] == "--trust") trusts_custom_ops_ = true;
}

void Builder::placeholder(InputKind kind, Choices& choices) {
  choices_ = &choices;
  const std::size_t index = program_.graph.placeholders.size();
  const ValueId id = value_id(index);
  if (wanted_ != nullptr && index >= wanted_->graph.placeholders.size()) throw NotEncodable{};
  const TensorMeta* wanted = wanted_ == nullptr ? nullptr : tensor_meta(wanted_->graph.placeholders[index].meta);
  const std::vector<AliasMember>* wanted_group = nullptr;
  std::size_t wanted_member = 0;
  if (wanted_ != nullptr) {
    for (const auto& group : wanted_->alias_groups) {
      for (std::size_t m = 1; m < group.size(); ++m) {
        if (group[m].value == id) wanted_group = &group, wanted_member = m;
      }
    }
  }
  // A host is the first of its group and contiguous; members that lie inside it are no hosts themselves.
  std::vector<ValueId> hosts;
  if (kind != InputKind::user_input) {
    for (std::size_t v = 0; v < index; ++v) {
      if (values_[v].tensor->home == v && program_.input_specs[v].kind != InputKind::user_input) hosts.push_back(value_id(v));
    }
  }
  Tensor t;
  if (!hosts.empty() && flag(4, wanted_group != nullptr)) {
    const ValueId host = hosts[pick(hosts.size(), [&] { return found(hosts, wanted_group->front().value); })];
    const Tensor& base = *values_[index_of(host)].tensor;
    const auto places = places_inside(base.region);
    const std::size_t k = pick(places.size(), [&]() -> std::optional<std::size_t> {
      const auto& geometry = (*wanted_group)[wanted_member].geometry;
      return geometry ? found(places, *geometry) : std::optional<std::size_t>(0);
    });
    t = view_of(base, {places[k].offset, places[k].sizes, places[k].strides});
    auto& groups = program_.alias_groups;
    auto group = std::find_if(groups.begin(), groups.end(), [&](const auto& g) { return g.front().value == host; });
    if (group == groups.end()) group = groups.insert(groups.end(), {AliasMember{host, std::nullopt}});
    group->push_back({id, k == 0 ? std::nullopt : std::optional(places[k])});
  } else {
    const Shape& sizes = kPlaceholderShapes[pick(kPlaceholderShapes.size(), [&]() -> std::optional<std::size_t> {
      for (std::size_t i = 0; wanted != nullptr && i < kPlaceholderShapes.size(); ++i) {
        if (sym(kPlaceholderShapes[i]) == wanted->sizes) return i;
      }
      return std::nullopt;
    })];
    const bool integers = flag(5, wanted != nullptr && wanted->dtype == DType::i64);
    storages_ = static_cast<std::uint32_t>(index);  // home = index of the placeholder that has the storage
    t = fresh(integers ? DType::i64 : DType::f32, sizes);
  }
  storages_ = static_cast<std::uint32_t>(index) + 1;
  t.value = id;
  t.pinned = true;
  const std::string name = placeholder_name(kind, index);
  program_.graph.placeholders.push_back({name, meta_of(t)});
  InputSpec spec{kind, "", std::nullopt};
  if (kind != InputKind::user_input) spec.target = name.substr(2);
  if (kind == InputKind::buffer) spec.persistent = true;
  program_.input_specs.push_back(spec);
  values_.push_back({std::move(t), {}});
}

void Builder::build(std::uint32_t form) {
  const auto reset = [&] { node_ = {}, result_.reset(), elements_.clear(), elementwise_ = false; };
  reset();
  if (forms()[form].build(*this)) return add_node(form);
  if (wanted_ != nullptr) throw NotEncodable{};
  reset();
  const std::uint32_t full = form_index("aten::full");
  forms()[full].build(*this);
  add_node(full);
}

void Builder::add_node(std::uint32_t form) {
  if (!interned_[form]) target_of_form_[form] = program_.intern(forms()[form].target), interned_[form] = true;
  node_.target = target_of_form_[form];
  const ValueId id = value_id(values_.size());
  if (program_.graph.nodes.empty()) node_.comments.emplace_back(kFirstComment);
  node_.name = node_name(program_.graph.nodes.size());
  if (result_) {
    result_->value = id;
    node_.meta = meta_of(*result_);
  }
  program_.graph.nodes.push_back(std::move(node_));
  values_.push_back({std::move(result_), std::move(elements_)});
}

void Builder::node(Choices& choices) {
  choices_ = &choices;
  static const std::vector<std::uint32_t> table = [] {
    std::vector<std::uint32_t> entries;
    for (std::uint32_t f = 0; f < forms().size(); ++f) entries.insert(entries.end(), forms()[f].weight, f);
    return entries;
  }();
  const Node* wanted = wanted_node();
  const auto k = pick(table.size(), [&]() -> std::optional<std::size_t> {
    const bool branch = wanted->kind == Node::Kind::get_attr;
    for (std::size_t i = 0; i < table.size(); ++i) {
      const Target& made = forms()[table[i]].target;
      if (branch ? made.kind == Target::Kind::higher_order : made == wanted_->target(*wanted)) return i;
    }
    return std::nullopt;
  });
  build(table[k]);
  share_allocation();
}

void Builder::node_of(std::span<const std::uint32_t> alphabet, Choices& choices) {
  choices_ = &choices;
  prefer_latest_ = false;
  build(alphabet[choices.pick(static_cast<std::uint32_t>(alphabet.size()))]);
}

void Builder::share_allocation() {
  if (!elementwise_) return;
  const Tensor& made = *values_.back().tensor;
  const NodeId n = node_id(program_.graph.nodes.size() - 1);
  const Node& node = program_.graph.nodes.back();
  std::vector<std::uint32_t> options;
  bool links = false;
  for (std::uint32_t a = 0; a < node.args.size(); ++a) {
    const ValueId* v = as_value(node.args[a]);
    if (v == nullptr) continue;
    const Tensor& t = *values_[index_of(*v)].tensor;
    const bool whole = t.exact && geometry::is_contiguous(t.region) && is_writable(t);
    if (whole && t.dtype == made.dtype && t.sizes() == made.sizes()) options.push_back(a), links |= t.link;
  }
  if (options.empty()) return;
  const ShareAllocation* wanted = nullptr;
  if (wanted_ != nullptr) {
    for (const ShareAllocation& s : wanted_->share_allocations) {
      if (s.node == n) wanted = &s;
    }
  }
  if (!flag(links ? 5 : 20, wanted != nullptr)) return;  // to write over what a later pass makes an alias is rare and dear
  program_.share_allocations.push_back({n, options[pick(options.size(), [&] { return found(options, wanted->argument); })]});
}

OutputSpec Builder::mutation_of(ValueId target) const {
  const InputSpec& input = program_.input_specs[index_of(target)];
  if (input.kind == InputKind::buffer) return {OutputKind::buffer_mutation, input.target};
  if (input.kind == InputKind::parameter) return {OutputKind::parameter_mutation, input.target};
  return {OutputKind::user_input_mutation, program_.graph.name_of(target)};
}

void Builder::write_back_of(ValueId target, Choices& choices) {
  const Shape& sizes = values_[index_of(target)].tensor->sizes();
  one_or_none(mutation_of(target), [&](const Tensor& t) { return t.sizes() == sizes; }, choices);
}

void Builder::user_output(Choices& choices) {
  one_or_none({OutputKind::user_output, ""}, [](const Tensor&) { return true; }, choices);
}

void Builder::one_or_none(OutputSpec spec, const Fits& fits, Choices& choices) {
  candidates_.clear();
  for (const Value& v : values_) {
    if (v.tensor && fits(*v.tensor)) candidates_.push_back(&*v.tensor);
  }
  const std::uint32_t k = choices.pick(static_cast<std::uint32_t>(candidates_.size() + 1));
  if (k == 0) return;
  program_.graph.outputs.emplace_back(candidates_[k - 1]->value);
  program_.output_specs.push_back(std::move(spec));
}

void Builder::output(Choices& choices) {
  choices_ = &choices;
  const std::size_t index = program_.graph.outputs.size();
  if (wanted_ != nullptr && index >= wanted_->output_specs.size()) throw NotEncodable{};
  const OutputSpec* wanted = wanted_ == nullptr ? nullptr : &wanted_->output_specs[index];
  const Argument* wanted_value = wanted_ == nullptr ? nullptr : &wanted_->graph.outputs[index];
  std::vector<ValueId> fresh_targets, all_targets;
  for (std::size_t v = 0; v < program_.graph.placeholders.size(); ++v) {
    all_targets.push_back(value_id(v));
    const auto writes_v = [&](const OutputSpec& o) { return is_mutation(o.kind) && placeholder_of(program_, o) == value_id(v); };
    if (std::none_of(program_.output_specs.begin(), program_.output_specs.end(), writes_v)) fresh_targets.push_back(value_id(v));
  }
  const std::optional<ValueId> wanted_target =
      wanted != nullptr && is_mutation(wanted->kind) ? placeholder_of(*wanted_, *wanted) : std::nullopt;
  const bool mutation = !all_targets.empty() && !flag(3, wanted != nullptr && !is_mutation(wanted->kind));
  OutputSpec spec{OutputKind::user_output, ""};
  const Tensor* value = nullptr;
  if (mutation) {
    const bool again =
        fresh_targets.empty() || (fresh_targets.size() < all_targets.size() &&
                                  flag(16, wanted != nullptr && wanted_target && !found(fresh_targets, *wanted_target)));
    const std::vector<ValueId>& targets = again ? all_targets : fresh_targets;
    const ValueId target =
        targets[pick(targets.size(), [&] { return wanted_target ? found(targets, *wanted_target) : std::nullopt; })];
    spec = mutation_of(target);
    const Shape& sizes = values_[index_of(target)].tensor->sizes();
    const Fits fits = [&](const Tensor& t) { return broadcasts_to(t.sizes(), sizes); };
    const Fits restrided = [&](const Tensor& t) { return fits(t) && t.restrided; };
    const Fits other_input = [&](const Tensor& t) {
      return fits(t) && program_.graph.is_placeholder(t.value) && t.value != target;
    };
    const ValueId* v = wanted_value == nullptr ? nullptr : as_value(*wanted_value);
    const bool from_input = v != nullptr && program_.graph.is_placeholder(*v) && *v != target;
    if (has_tensor(other_input) && flag(5, from_input))
      value = tensor(other_input, wanted_value);
    else if (has_tensor(restrided) && flag(3, is_wanted(restrided, wanted_value)))
      value = tensor(restrided, wanted_value);
    else
      value = tensor(fits, wanted_value);
  } else {
    // What a later pass does to a view_copy depends on whether it leaves the program, so those that do are drawn on purpose.
    const Fits all = [](const Tensor&) { return true; }, link = [](const Tensor& t) { return t.link; };
    value = tensor(has_tensor(link) && flag(3, is_wanted(link, wanted_value)) ? link : all, wanted_value);
  }
  if (value == nullptr) return;
  program_.graph.outputs.emplace_back(value->value);
  program_.output_specs.push_back(spec);
}

}  // namespace writeback::fuzz
