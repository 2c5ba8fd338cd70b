// The page of a program's memory: every placement with its picture, the state told from other tensors, nothing fetched from
// elsewhere.
#include <gtest/gtest.h>

#include "impl/coalesce.h"
#include "impl/place.h"
#include "impl/report/plan_report.h"
#include "tests/impl/small_program.h"

namespace writeback::impl {
namespace {

NamedMeasurement measured(const char* name, const Program& program, Savings savings) {
  return {name, plan::measure(rewrite(program, place(program).placement, savings).program, {})};
}

std::size_t count(const std::string& text, const char* word) { return split(text, word).size() - 1; }

TEST(PlanPage, ShowsTheStateWhetherCopiedToOrBornIn) {
  const Program program = small_program("b_a; x\nnew = aten.add.Tensor(b_a, x)\ny = aten.neg.default(x)\n-> b_a = new, y");
  const NamedMeasurement copied = measured("earliest", program, {}), born = measured("coalesced", program, {.coalesce = true});
  EXPECT_EQ(count(plan_svg(copied), "class=\"copy\""), 1u);
  EXPECT_EQ(count(plan_svg(born), "class=\"copy\""), 0u);
  for (const NamedMeasurement& m : {copied, born}) EXPECT_EQ(count(plan_svg(m), "class=\"state\""), 1u) << m.name;
  const std::string page = plan_html("a <program>", {copied, born});
  EXPECT_NE(page.find("a &lt;program&gt;"), std::string::npos);
  EXPECT_EQ(count(page, "<svg "), 2u);
  for (const char* word : {"<script", "http:", "https:", "url("}) EXPECT_EQ(page.find(word), std::string::npos) << word;
}

TEST(PlanPage, NamesStandAboveTheLinesOfCopies) {
  const Program program = small_program("b_a; x\nnew = aten.neg.default(x)\n-> b_a = new");
  const std::string svg = plan_svg(measured("earliest", program, {}));
  ASSERT_NE(svg.find("class=\"copy\""), std::string::npos);
  EXPECT_LT(svg.rfind("class=\"copy\""), svg.find(">b_a</text>"));
}

}  // namespace
}  // namespace writeback::impl
