#include "ref/graph/view_geometry.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <sstream>

#include "ref/graph/text.h"

namespace writeback {
namespace {

std::vector<std::string> split(const std::string& text, const std::string& at) {
  std::vector<std::string> parts;
  for (std::size_t from = 0;;) {
    const std::size_t end = text.find(at, from);
    parts.push_back(text.substr(from, end - from));
    if (end == std::string::npos) return parts;
    from = end + at.size();
  }
}

std::vector<std::int64_t> integers(const std::string& text) {
  std::vector<std::int64_t> values;
  if (!text.empty()) {
    for (const std::string& one : split(text, ",")) values.push_back(std::stoll(one));
  }
  return values;
}

std::string geometry(const std::optional<Region>& r) {
  return r ? fmt::format("{};{};{}", r->offset, fmt::join(r->sizes, ","), fmt::join(r->strides, ",")) : "none";
}

Region region(const std::string& text) {
  const std::vector<std::string> parts = split(text, ";");
  return {std::stoll(parts[0]), integers(parts[1]), integers(parts[2])};
}

Program program(const std::string& x, const std::string& o, const std::string& call) {
  return read_text(
      fmt::format("class GraphModule(torch.nn.Module):\n    def forward(self, x: \"f32[{}]\", o: \"f32[{}]\"):\n"
                  "        y = torch.ops.{}\n        return (y,)\n",
                  x, o, call));
}

/// What view_region says, in the words of the data file; `results` tells how many elements torch gave.
std::string found(const Program& p, const Region& base, std::size_t results) {
  const NodeId n = node_id(0);
  const std::optional<std::int64_t> count = view_count(p, n, base);
  if (count == 0) return "empty";
  const std::size_t elements = count ? static_cast<std::size_t>(*count) : results;
  std::string text;
  for (std::size_t i = 0; i < elements; ++i) {
    text.append(i == 0 ? "" : " ").append(geometry(view_region(p, n, base, static_cast<std::int64_t>(i))));
  }
  return text;
}

/// Torch's words with what has no region written "none"; of a list, the elements that are views of x.
std::string expected(const std::string& results) {
  std::string text;
  for (const std::string& one : split(results, " "))
    text.append(text.empty() ? "" : " ").append(one == "error" || one == "copy" ? "none" : one);
  return text;
}

TEST(ViewGeometry, EveryViewIsThatOfPyTorch) {
  std::ifstream file(std::string(WRITEBACK_TESTS_DIR) + "/ref/graph/data/views.txt");
  ASSERT_TRUE(file);
  std::map<std::string, int> checked, wrong;
  for (std::string line; std::getline(file, line);) {
    if (line.empty() || line[0] == '#') continue;
    const std::vector<std::string> parts = split(line, " | ");
    ASSERT_EQ(parts.size(), 4U) << line;
    const std::string op = parts[2].substr(0, parts[2].find('('));
    // A list of inputs gives a list of outputs, each a view of its own input; only x's is compared.
    const bool of_list = op.starts_with("aten.broadcast_tensors") || op.starts_with("aten.meshgrid");
    const Region base = region(parts[0]);
    const Program p = program(split(parts[0], ";")[1], parts[1], parts[2]);
    ++checked[op];
    std::string want = expected(parts[3]), got;
    if (of_list) {
      const std::size_t element = parts[2].find("[x") != std::string::npos ? 0 : 1;
      const std::vector<std::string> all = split(want, " ");
      if (want != "none") want = all[element];
      got = geometry(view_region(p, node_id(0), base, static_cast<std::int64_t>(element)));
    } else {
      got = found(p, base, split(want, " ").size());
    }
    // prims give other strides to dimensions of size 1; they do not count.
    const bool same =
        got == want || (op.starts_with("prims.") && got != "none" && want != "none" && same_region(region(got), region(want)));
    if (same) continue;
    if (++wrong[op] <= 3) ADD_FAILURE() << line << "\n  got " << got;
  }
  EXPECT_GT(checked.size(), 60U);
  for (const auto& [op, count] : wrong) ADD_FAILURE() << op << ": " << count << " of " << checked[op];
}

/// The region of the one view of x in a call, x having these sizes.
std::string view_of(const std::string& call, const Region& base) {
  return geometry(view_region(program(fmt::format("{}", fmt::join(base.sizes, ", ")), "1", call), node_id(0), base, 0));
}

TEST(ViewGeometry, CopiesAndInPlaceNamesHaveTheGeometryOfTheView) {
  const Region base = Region::contiguous({2, 3});
  EXPECT_EQ(view_of("aten.view_copy.default(x, [3, 2])", base), "0;3,2;2,1");
  EXPECT_EQ(view_of("aten.slice_copy.Tensor(x, 0, 1)", base), "3;1,3;3,1");
  EXPECT_EQ(view_of("aten.unsqueeze_.default(x, 0)", base), "0;1,2,3;6,3,1");
  EXPECT_EQ(view_of("aten.split_copy.Tensor(x, 1)", base), "0;1,3;3,1");
}

TEST(ViewGeometry, WhatIsNoViewHasNoRegion) {
  const Region base = Region::contiguous({2, 3});
  EXPECT_EQ(view_of("aten.relu.default(x)", base), "none");
  EXPECT_EQ(view_of("aten.view.dtype(x, torch.int32)", base), "none");
  EXPECT_EQ(view_of("aten.view_as_real.default(x)", base), "none");
  EXPECT_EQ(view_of("aten.copy_.default(x, o)", base), "none");
}

TEST(ViewGeometry, HugeArgumentsDoNotOverflow) {
  const Region base = Region::contiguous({2, 3});
  EXPECT_EQ(view_of("aten.slice.Tensor(x, 0, -9223372036854775808, 9223372036854775807, 9223372036854775807)", base),
            "0;1,3;9223372036854775807,1");
  EXPECT_EQ(view_of("aten.diagonal.default(x, -9223372036854775808)", base), "0;0;4");
  EXPECT_EQ(view_of("aten.expand.default(x, [9223372036854775807, 9223372036854775807, 2, 3])", base),
            "0;9223372036854775807,9223372036854775807,2,3;0,0,3,1");
  EXPECT_EQ(view_of("aten.unbind.int(x, 0)", Region{0, {std::int64_t{1} << 60, 3}, {3, 1}}), "0;3;1");
}

TEST(ViewGeometry, SymbolicArgumentsAskForTheirValue) {
  const Program p = read_text(
      "class GraphModule(torch.nn.Module):\n    def forward(self, x: \"f32[4]\", s: \"Sym(s0)\"):\n"
      "        y = torch.ops.aten.slice.Tensor(x, 0, 0, s)\n        return (y,)\n");
  const IntegerOf three = [](const void*, ValueId) { return std::optional<std::int64_t>(3); };
  EXPECT_EQ(geometry(view_region(p, node_id(0), Region::contiguous({4}), 0, three)), "0;3;1");
  EXPECT_EQ(geometry(view_region(p, node_id(0), Region::contiguous({4}), 0)), "none");
}

}  // namespace
}  // namespace writeback
