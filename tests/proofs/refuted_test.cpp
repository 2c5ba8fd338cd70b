// One program a clause of the rules: BEFORE and AFTER, where AFTER has its copies where the rules without the clause allow them.
// Found by the bounded encoding (bounded.h, `refute`) or by hand, judged here by the reference, which knows nothing of the rules.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <vector>

#include "impl/rule.h"
#include "ref/graph/error.h"
#include "ref/graph/text.h"
#include "ref/meaning.h"

namespace writeback::proofs {
namespace {

std::string text_of(impl::Clause clause, const std::string& side) {
  std::ifstream file(std::filesystem::path(WRITEBACK_TESTS_DIR) / "proofs/refuted" /
                     (std::string(impl::name_of(clause)) + "." + side + ".txt"));
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

class Refuted : public testing::TestWithParam<impl::Clause> {};

TEST_P(Refuted, WithoutTheClauseAProgramEndsDifferently) {
  const Program before = read_text(text_of(GetParam(), "before"));
  if (GetParam() == impl::Clause::computes_value) {
    // A copy before its value is computed cannot even be written down.
    EXPECT_THROW(read_text(text_of(GetParam(), "after")), InputError);
    return;
  }
  Options options;
  options.trusted = {"my"};
  const Program after = read_text(text_of(GetParam(), "after"));
  EXPECT_EQ(ref::equivalent(before, after, options).verdict, ref::Verdict::unsafe);
}

std::vector<impl::Clause> every_clause() {
  std::vector<impl::Clause> all;
  for (std::uint8_t c = 0; c < impl::kClauseCount; ++c) all.push_back(static_cast<impl::Clause>(c));
  return all;
}

INSTANTIATE_TEST_SUITE_P(Every, Refuted, testing::ValuesIn(every_clause()),
                         [](const auto& info) { return std::string(impl::name_of(info.param)); });

}  // namespace
}  // namespace writeback::proofs
