// How long placement takes at 10 k, 400 k and 1 M nodes with a copy for every 50, in two shapes, beside a bare walk over the same
// objects in the same run: what counts is the ratio, and how it grows.
//
//   decoder      layers with a key and a value cache each, written by index_put and read again through views
//   one buffer   one storage that thousands of inputs share, each a slice of it; views of the whole, readers and copies of slices
#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <map>

#include "impl/place.h"

namespace writeback {
namespace {

constexpr std::size_t kNodesPerCopy = 50;

/// Builds a program node by node.
class Builder {
 public:
  ValueId input(std::string name, std::vector<SymInt> sizes, bool buffer) {
    program_.input_specs.push_back(buffer ? InputSpec{InputKind::buffer, name, true} : InputSpec{InputKind::user_input, {}, {}});
    program_.graph.placeholders.push_back({std::move(name), meta(std::move(sizes))});
    return value_id(program_.graph.placeholders.size() - 1);
  }

  ValueId call(const char* op, const char* overload, std::vector<Argument> args, std::vector<SymInt> sizes) {
    Node node;
    node.target = target(op, overload);
    node.name = fmt::format("{}_{}", op, program_.graph.nodes.size());
    node.args = std::move(args);
    node.meta = meta(std::move(sizes));
    program_.graph.nodes.push_back(std::move(node));
    return program_.graph.result_of(node_id(program_.graph.nodes.size() - 1));
  }

  void output(ValueId v, OutputSpec spec) {
    program_.graph.outputs.emplace_back(v);
    program_.output_specs.push_back(std::move(spec));
  }
  void write_back(ValueId target, ValueId v) {
    output(v, {OutputKind::buffer_mutation, program_.input_specs[index_of(target)].target});
  }

  std::size_t nodes() const { return program_.graph.nodes.size(); }
  Program take() { return std::move(program_); }
  Program& program() { return program_; }

 private:
  static ValueMeta meta(std::vector<SymInt> sizes) { return TensorMeta{DType::f32, std::move(sizes), {}, 0, {}}; }

  TargetId target(const std::string& op, const std::string& overload) {
    const auto [found, added] = targets_.try_emplace({op, overload}, TargetId{});
    if (added) found->second = program_.intern({Target::Kind::op, "aten", op, overload});
    return found->second;
  }

  Program program_;
  std::map<std::pair<std::string, std::string>, TargetId> targets_;
};

ListArgument ints(std::initializer_list<std::int64_t> values) {
  ListArgument list;
  for (const std::int64_t v : values) list.items.emplace_back(v);
  return list;
}

Program decoder(std::size_t nodes) {
  Builder b;
  std::vector<ValueId> caches;
  const std::size_t layers = std::max<std::size_t>(1, nodes / (2 * kNodesPerCopy));
  for (std::size_t i = 0; i < 2 * layers; ++i) caches.push_back(b.input(fmt::format("b_cache_{}", i), {1, 128, 64}, true));
  const ValueId position = b.input("position", {1}, false);
  ValueId x = b.input("x", {1, 1, 64}, false);
  std::vector<std::pair<ValueId, ValueId>> updates;
  for (std::size_t layer = 0; layer < layers; ++layer) {
    ListArgument index;
    index.items = {std::monostate{}, position};
    ValueId attention = x;
    for (const ValueId cache : {caches[2 * layer], caches[2 * layer + 1]}) {
      const ValueId row = b.call("view_copy", "default", {x, ints({1, 1, 64})}, {1, 1, 64});
      const ValueId updated = b.call("index_put", "default", {cache, index, row}, {1, 128, 64});
      const ValueId turned = b.call("permute_copy", "default", {updated, ints({0, 2, 1})}, {1, 64, 128});
      const ValueId flat = b.call("view_copy", "default", {turned, ints({64, 128})}, {64, 128});
      attention = b.call("mul", "Tensor", {attention, flat}, {64, 128});
      updates.emplace_back(cache, updated);
    }
    x = b.call("sum", "default", {attention}, {1, 1, 64});
    while (b.nodes() < (layer + 1) * 2 * kNodesPerCopy) x = b.call("add", "Tensor", {x, attention}, {1, 1, 64});
  }
  for (const auto& [cache, updated] : updates) b.write_back(cache, updated);
  b.output(x, {OutputKind::user_output, {}});
  return b.take();
}

Program one_buffer(std::size_t nodes) {
  Builder b;
  const auto copies = static_cast<std::int64_t>(std::max<std::size_t>(1, nodes / kNodesPerCopy));
  std::vector<AliasMember> group;
  const ValueId whole = b.input("b_whole", {64 * copies}, true);
  group.push_back({whole, AliasMember::Geometry{0, {64 * copies}, {1}}});
  std::vector<ValueId> slices;
  for (std::int64_t i = 0; i < copies; ++i) {
    slices.push_back(b.input(fmt::format("b_slice_{}", i), {64}, true));
    group.push_back({slices.back(), AliasMember::Geometry{64 * i, {64}, {1}}});
  }
  ValueId x = b.input("x", {64}, false);
  std::vector<ValueId> values;
  for (std::int64_t i = 0; i < copies; ++i) {
    while (b.nodes() + 3 < static_cast<std::size_t>(i + 1) * kNodesPerCopy) {
      const std::int64_t from = 64 * ((i * 7 + static_cast<std::int64_t>(b.nodes())) % copies);
      const ValueId view = b.call("slice", "Tensor", {whole, std::int64_t{0}, from, from + 64}, {64});
      x = b.call("add", "Tensor", {view, x}, {64});
    }
    const std::int64_t from = 64 * i;
    const ValueId view = b.call("slice", "Tensor", {whole, std::int64_t{0}, from, from + 64}, {64});
    values.push_back(b.call("mul", "Tensor", {view, x}, {64}));
  }
  b.program().alias_groups.push_back(std::move(group));
  for (std::int64_t i = 0; i < copies; ++i) b.write_back(slices[static_cast<std::size_t>(i)], values[static_cast<std::size_t>(i)]);
  b.output(x, {OutputKind::user_output, {}});
  return b.take();
}

/// Looks once at every argument and every size.
std::uint64_t bare_walk(const Program& program) {
  std::uint64_t sum = 0;
  for (const Node& node : program.graph.nodes) {
    sum += static_cast<std::uint64_t>(node.target) + node.name.size();
    for (const Argument& a : node.args) for_each_value(a, [&](ValueId v) { sum += index_of(v); });
    for (const KeywordArgument& a : node.kwargs) for_each_value(a.value, [&](ValueId v) { sum += index_of(v); });
    if (const TensorMeta* meta = tensor_meta(node.meta)) {
      for (const SymInt& size : meta->sizes) sum += static_cast<std::uint64_t>(size.number());
    }
  }
  return sum;
}

/// Programs are built once: the largest takes longer to build than to place.
const Program& program_of(Program (*build)(std::size_t), std::size_t nodes) {
  static std::map<std::pair<Program (*)(std::size_t), std::size_t>, Program> built;
  const auto [found, added] = built.try_emplace({build, nodes});
  if (added) found->second = build(nodes);
  return found->second;
}

void report_size(benchmark::State& state, const Program& program) {
  state.counters["nodes"] = static_cast<double>(program.graph.nodes.size());
  state.counters["copies"] = static_cast<double>(write_backs(program).size());
}

template <Program (*build)(std::size_t)>
void walk(benchmark::State& state) {
  const Program& program = program_of(build, static_cast<std::size_t>(state.range(0)));
  for (auto _ : state) benchmark::DoNotOptimize(bare_walk(program));
  report_size(state, program);
}

template <Program (*build)(std::size_t)>
void place(benchmark::State& state) {
  const Program& program = program_of(build, static_cast<std::size_t>(state.range(0)));
  for (auto _ : state) benchmark::DoNotOptimize(impl::place(program));
  report_size(state, program);
}

void sizes(benchmark::internal::Benchmark* b) {
  for (const std::int64_t nodes : {10'000, 400'000, 1'000'000}) b->Arg(nodes);
  b->Unit(benchmark::kMillisecond);
}

BENCHMARK(walk<decoder>)->Name("walk/decoder")->Apply(sizes);
BENCHMARK(place<decoder>)->Name("place/decoder")->Apply(sizes);
BENCHMARK(walk<one_buffer>)->Name("walk/one_buffer")->Apply(sizes);
BENCHMARK(place<one_buffer>)->Name("place/one_buffer")->Apply(sizes);

}  // namespace
}  // namespace writeback
