// Each disjunct of impl/rules.h is taken out of the source, the lemmas are compiled against what is left, and one of them fails. So
// the formula that is proved is the text that runs, and `Lemmas.AreRefutedWithoutAnyOneOfTheirConditions` asks the same of it.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "impl/rule.h"
#include "proofs/process.h"

namespace writeback::proofs {
namespace {

namespace fs = std::filesystem;
const fs::path kRoot = fs::path(WRITEBACK_TESTS_DIR).parent_path();

constexpr const char* kMain = R"(
#include <cstdio>
#include "proofs/lemmas.h"
using namespace writeback::proofs;
int main() {
  for (const Lemma& lemma : lemmas()) {
    z3::context context;
    if (ask_z3(query_of(context, lemma).negated(), 60).sat == Sat::unsat) continue;
    std::puts(lemma.name.c_str());
    return 1;
  }
}
)";

std::string text_of(const fs::path& path) {
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

/// The rules with one d.clause(Clause::NAME, E) turned into "E and not E", for each place where it stands.
std::vector<std::string> without(const std::string& name) {
  const std::string text = text_of(kRoot / "impl/rules.h"), call = "d.clause(Clause::" + name + ",";
  std::vector<std::string> edited;
  for (std::size_t begin = text.find(call); begin != std::string::npos; begin = text.find(call, begin + 1)) {
    const std::size_t inside = begin + call.size();
    std::size_t end = inside;
    for (int depth = 1; depth > 0; ++end) depth += text[end] == '(' ? 1 : text[end] == ')' ? -1 : 0;
    const std::string disjunct = text.substr(inside, end - 1 - inside);
    edited.push_back(std::string(text).replace(begin, end - begin, fmt::format("d.both({0}, d.negate({0}))", disjunct)));
  }
  return edited;
}

/// Builds the lemmas against these rules and runs them: 0 = all are proved, 1 = one is not.
int status_with(const std::string& rules, const std::string& name) {
  const fs::path folder = fs::path(testing::TempDir()) / ("writeback-edited-" + name);
  fs::create_directories(folder / "impl");
  std::ofstream(folder / "impl/rules.h") << rules;
  std::ofstream(folder / "main.cpp") << kMain;
  const std::string build =
      fmt::format("{0} -std=c++20 -O0 -I{1} -I{2} {1}/main.cpp {2}/proofs/lemmas.cpp {3} -lz3 -lfmt -o {1}/lemmas",
                  WRITEBACK_COMPILER, folder.string(), kRoot.string(), WRITEBACK_LIBRARIES);
  const Outcome built = run({"sh", "-c", build}, 600);
  EXPECT_EQ(built.status, 0) << built.output.substr(0, 2000);
  const int status = built.status == 0 ? run({"sh", "-c", (folder / "lemmas").string()}, 300).status : -1;
  fs::remove_all(folder);
  return status;
}

class EditedRules : public testing::TestWithParam<impl::Clause> {};

TEST_P(EditedRules, FailALemma) {
  const std::string name(impl::name_of(GetParam()));
  const std::vector<std::string> edited = without(name);
  EXPECT_FALSE(edited.empty()) << name << " is not there";
  for (const std::string& rules : edited) EXPECT_EQ(status_with(rules, name), 1);
}

std::vector<impl::Clause> every_clause() {
  std::vector<impl::Clause> all;
  for (std::uint8_t c = 0; c < impl::kClauseCount; ++c) all.push_back(static_cast<impl::Clause>(c));
  return all;
}

INSTANTIATE_TEST_SUITE_P(Long, EditedRules, testing::ValuesIn(every_clause()),
                         [](const auto& info) { return std::string(impl::name_of(info.param)); });

TEST(EditedRulesLong, UneditedTheyFailNone) { EXPECT_EQ(status_with(text_of(kRoot / "impl/rules.h"), "not"), 0); }

}  // namespace
}  // namespace writeback::proofs
