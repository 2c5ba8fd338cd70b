#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <thread>

#include "ref/graph/data/schemas.h"
#include "ref/graph/error.h"
#include "ref/graph/schema.h"

namespace writeback {
namespace {

Target op(const char* ns, const char* name, const char* overload) { return {Target::Kind::op, ns, name, overload}; }

TEST(SchemaTable, FindsOperatorsOfEveryTrustedNamespace) {
  const SchemaTable& table = SchemaTable::builtin();
  EXPECT_GT(table.size(), 3000U);
  ASSERT_NE(table.find(op("aten", "add", "Tensor")), nullptr);
  EXPECT_EQ(table.find(op("aten", "add", "Tensor"))->text(),
            "aten::add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor");
  for (const Target& t :
       {op("aten", "relu", "default"), op("prims", "add", "default"), op("dim_order_ops", "_clone_dim_order", "default"),
        op("quantized_decomposed", "dequantize_per_tensor", "tensor")}) {
    EXPECT_NE(table.find(t), nullptr) << t.qualified_name();
  }
  EXPECT_EQ(table.find(op("aten", "add", "Nonsense")), nullptr);
  EXPECT_EQ(table.find({Target::Kind::python, "", "aten::add.Tensor", ""}), nullptr);
}

TEST(SchemaTable, EveryEntryIsReadAndPrintedBack) {
  std::string_view text = kBuiltinSchemas;
  std::size_t lines = 0;
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    if (line.empty() || line.front() == '#') continue;
    ++lines;
    const std::string_view schema = line.substr(0, line.find("  # "));
    ASSERT_EQ(Schema::parse(schema).text(), schema);
  }
  EXPECT_EQ(lines, SchemaTable::builtin().size());
}

TEST(SchemaTable, KeepsTags) {
  EXPECT_EQ(SchemaTable::builtin().find(op("aten", "t_", "default"))->tags, std::vector<std::string>{"inplace_view"});
}

TEST(SchemaTable, ManyThreadsMayAskAtOnce) {
  std::vector<std::thread> threads;
  std::atomic<int> found = 0;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (const char* name : {"mul", "sub", "div", "add_", "mul_", "eq"}) {
        const Schema* schema = SchemaTable::builtin().find(op("aten", name, "Tensor"));
        found += schema != nullptr && schema->name == name;
      }
    });
  }
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(found, 4 * 6);
}

TEST(SchemaTable, LinesOfTheUserWin) {
  const SchemaTable table =
      SchemaTable::with({"my::step(Tensor(a!) state) -> Tensor", "aten::relu(Tensor(a!) self) -> Tensor(a!)"});
  EXPECT_EQ(table.find(op("my", "step", "default"))->returns.size(), 1U);
  EXPECT_TRUE(table.find(op("aten", "relu", "default"))->arguments[0].type.alias);
  EXPECT_FALSE(SchemaTable::builtin().find(op("aten", "relu", "default"))->arguments[0].type.alias);
  EXPECT_NE(table.find(op("aten", "add", "Tensor")), nullptr);
  EXPECT_EQ(table.size(), SchemaTable::builtin().size() + 1);
  EXPECT_THROW(SchemaTable::with({"step(Tensor x) -> Tensor"}), InputError);
}

TEST(SchemaTable, SplitsEdgeNames) {
  const auto split = [](const char* name) {
    const auto target = SchemaTable::with({"my::long_name.v2(Tensor x) -> Tensor"}).split_edge_name(name);
    return target ? target->qualified_name() : "";
  };
  EXPECT_EQ(split("aten_add_Tensor"), "aten::add.Tensor");
  EXPECT_EQ(split("aten_add__Tensor"), "aten::add_.Tensor");
  EXPECT_EQ(split("aten_view_copy_default"), "aten::view_copy");
  EXPECT_EQ(split("dim_order_ops__to_dim_order_copy_default"), "dim_order_ops::_to_dim_order_copy");
  EXPECT_EQ(split("my_long_name_v2"), "my::long_name.v2");
  EXPECT_EQ(split("my_other_default"), "");
}

}  // namespace
}  // namespace writeback
