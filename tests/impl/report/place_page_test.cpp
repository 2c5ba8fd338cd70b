// The page of a placement: every copy with its reason, the program whole, nothing fetched from elsewhere.
#include <gtest/gtest.h>

#include "impl/report/place_report.h"
#include "tests/impl/small_program.h"

namespace writeback::impl {
namespace {

std::string page_of(const char* text) {
  const Program program = small_program(text);
  return place_html("a <program>", program, place(program));
}

TEST(PlacePage, ShowsEachCopyWithItsReasonAndAnArc) {
  const std::string page =
      page_of("b_a; x\ny = aten.cos.default(b_a)\nnew = aten.neg.default(x)\nz = aten.sin.default(b_a)\n-> b_a = new, z");
  EXPECT_NE(page.find("<code>copy_: &quot;f32[4]&quot; = aten.copy_.default(b_a, new)</code>"), std::string::npos) << page;
  EXPECT_NE(page.find("%z reads %b_a"), std::string::npos);
  EXPECT_NE(page.find("<path class=\"arc\""), std::string::npos);
  EXPECT_NE(page.find("a &lt;program&gt;"), std::string::npos);
}

TEST(PlacePage, ListsEveryNodeOnceAndFetchesNothing) {
  const std::string page = page_of("b_a; x\nnew = aten.neg.default(x)\ny = aten.cos.default(new)\n-> b_a = new, y");
  EXPECT_EQ(split(page, "<code>").size() - 1, 4u);  // two nodes, a copy and its reason
  for (const char* word : {"<script", "http:", "https:", "url("}) EXPECT_EQ(page.find(word), std::string::npos) << word;
}

}  // namespace
}  // namespace writeback::impl
