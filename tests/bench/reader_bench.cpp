// How fast programs are read, in MB of input a second: printed text and export-schema JSON of a program of 100,000 nodes, and the
// real archives under tests/models, each beside a bare copy of its bytes in the same run.
#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <cstring>
#include <string>

#include "impl/import/import.h"
#include "ref/graph/text.h"

namespace writeback {
namespace {

/// `count` additions one after the other, and a write-back.
Program chain(std::size_t count) {
  Program p;
  const ValueMeta meta = TensorMeta{DType::f32, {4, 4}, {}, 0, {}};
  p.input_specs = {{InputKind::buffer, "state", true}, {InputKind::user_input, {}, {}}};
  p.graph.placeholders = {{"b_state", meta}, {"x", meta}};
  const TargetId add = p.intern({Target::Kind::op, "aten", "add", "Tensor"});
  ValueId last = value_id(0);
  for (std::size_t n = 0; n < count; ++n) {
    Node node;
    node.target = add;
    node.name = fmt::format("add_{}", n);
    node.args = {last, value_id(1)};
    node.meta = meta;
    p.graph.nodes.push_back(std::move(node));
    last = p.graph.result_of(node_id(n));
  }
  p.graph.outputs.emplace_back(last);
  p.output_specs.push_back({OutputKind::buffer_mutation, "state"});
  return p;
}

const std::string& text_of_chain() {
  static const std::string kText = print_text(chain(100'000));
  return kText;
}
const std::string& json_of_chain() {
  static const std::string kJson = impl::write_json(chain(100'000));
  return kJson;
}
const std::string& decoder() {
  static const std::string kArchive = impl::read_file(WRITEBACK_TESTS_DIR "/models/decoder.pt2");
  return kArchive;
}
const std::string& text_of_decoder() {
  static const std::string kText = impl::read_file(WRITEBACK_TESTS_DIR "/models/decoder.decomposed.txt");
  return kText;
}

using Input = const std::string& (*)();

template <Input input>
void read(benchmark::State& state) {
  const std::string& bytes = input();  // made once, before the clock runs
  for (auto _ : state) benchmark::DoNotOptimize(impl::read_program(bytes, "input"));
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(input().size()));
}

template <Input input>
void copy(benchmark::State& state) {
  std::string to(input().size(), '\0');
  for (auto _ : state) {
    std::memcpy(to.data(), input().data(), to.size());
    benchmark::DoNotOptimize(to.data());
  }
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(to.size()));
}

void write_json(benchmark::State& state) {
  const Program program = read_text(text_of_chain());
  for (auto _ : state) benchmark::DoNotOptimize(impl::write_json(program));
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(json_of_chain().size()));
}

void print(benchmark::State& state) {
  const Program program = read_text(text_of_chain());
  for (auto _ : state) benchmark::DoNotOptimize(print_text(program));
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(text_of_chain().size()));
}

BENCHMARK(copy<text_of_chain>)->Name("copy/text of 100k nodes");
BENCHMARK(read<text_of_chain>)->Name("read/text of 100k nodes");
BENCHMARK(print)->Name("print/text of 100k nodes");
BENCHMARK(write_json)->Name("write/JSON of 100k nodes");
BENCHMARK(read<json_of_chain>)->Name("read/JSON of 100k nodes");
BENCHMARK(read<text_of_decoder>)->Name("read/text of the decoder");
BENCHMARK(read<decoder>)->Name("read/archive of the decoder");

}  // namespace
}  // namespace writeback
