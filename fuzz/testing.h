// For other people's tests: a RapidCheck generator of programs, and the oracle as a GoogleTest assertion that prints the smallest
// counterexample. Installed as <writeback/testing.h>; link writeback::testing, GTest and rapidcheck. In fifteen lines:
//
//   TEST(MyPass, PlacesSafely) {
//     rc::check("my pass is safe", [] {
//       const writeback::Program program = *writeback::testing::programs();
//       writeback::testing::require_safe(my_pass, program);
//     });
//   }
//
// or, with minimising and a report, EXPECT_TRUE(writeback::testing::survives(my_pass, 10000)). A pass is any function from a
// program and options to a Placement, or to a Program with its copies as explicit nodes.
#pragma once

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <functional>
#include <type_traits>
#include <utility>
#include <vector>

#include "fuzz/campaign.h"
#include "fuzz/drivers.h"
#include "fuzz/minimize.h"
#include "fuzz/report.h"
#include "ref/graph/text.h"

namespace writeback::testing {

/// A pass as an implementation that the oracle can ask.
template <typename Pass>
class PassUnderTest final : public fuzz::Implementation {
 public:
  explicit PassUnderTest(Pass pass) : pass_(std::move(pass)) {}
  fuzz::Answer place(const Program& program, const Options& options) override {
    fuzz::Answer answer;
    try {
      auto made = pass_(program, options);
      if constexpr (std::is_same_v<decltype(made), Placement>) {
        answer.kind = fuzz::Answer::Kind::placed;
        answer.result.placement = std::move(made);
      } else {
        answer.kind = fuzz::Answer::Kind::rewritten;
        answer.program = std::move(made);
      }
    } catch (const std::exception& e) {
      answer.kind = fuzz::Answer::Kind::crashed;
      answer.message = e.what();
    }
    return answer;
  }
  bool outside() const override { return true; }

 private:
  Pass pass_;
};

/// A record's bytes set to zero from the back, in halves: each is a simpler statement of the same kind.
inline rc::Seq<fuzz::Record> simpler(const fuzz::Record& record) {
  std::vector<fuzz::Record> all;
  for (std::size_t kept = 1; kept < record.bytes.size(); kept = 2 * kept + 1) {
    fuzz::Record r = record;
    std::fill(r.bytes.begin() + static_cast<std::ptrdiff_t>(kept), r.bytes.end(), std::uint8_t{0});
    if (r != record) all.push_back(r);
  }
  return rc::seq::fromContainer(all);
}

/// Records as the campaign draws them. RapidCheck shrinks the list and each record towards zeros, so every step is a program again.
inline rc::Gen<fuzz::Records> records(const fuzz::Sizes& sizes = {}) {
  return [sizes](const rc::Random& random, int) {
    fuzz::Random ours(rc::Random(random).next());
    return rc::shrinkable::shrinkRecur(fuzz::random_records(ours, sizes), [](const fuzz::Records& r) {
      return rc::seq::concat(rc::shrink::removeChunks(r), rc::shrink::eachElement(r, simpler));
    });
  };
}

inline rc::Gen<Program> programs(const fuzz::Sizes& sizes = {}) {
  return rc::gen::map(records(sizes), [sizes](const fuzz::Records& r) { return fuzz::generate(r, sizes); });
}

/// Is what the pass makes of the program safe? The message has the program, the placement and what goes wrong.
template <typename Pass>
::testing::AssertionResult is_safe(Pass pass, const Program& program) {
  PassUnderTest<Pass> tested(std::move(pass));
  const Options options = options_of(program);
  fuzz::Judged judged = fuzz::judge(tested, program, options, {});
  if (judged.verdict == fuzz::Verdict::right || judged.verdict == fuzz::Verdict::skipped) return ::testing::AssertionSuccess();
  return ::testing::AssertionFailure() << fuzz::report_markdown({"", program, options, std::move(judged)});
}

/// The same for a RapidCheck property, which ends here where it is not.
template <typename Pass>
void require_safe(Pass pass, const Program& program) {
  const ::testing::AssertionResult result = is_safe(std::move(pass), program);
  if (!result) RC_FAIL(std::string(result.message()));
}

/// Asks the pass about `cases` random programs; the message has the smallest program on which it fails in the way of the first.
template <typename Pass>
::testing::AssertionResult survives(Pass pass, std::uint64_t cases, std::uint64_t seed = 1, const fuzz::Sizes& sizes = {}) {
  PassUnderTest<Pass> tested(std::move(pass));
  for (std::uint64_t i = 0; i < cases; ++i) {
    const Program program = fuzz::campaign_case(seed, i, sizes);
    const fuzz::Judged judged = fuzz::judge(tested, program, options_of(program), {});
    if (judged.verdict == fuzz::Verdict::right || judged.verdict == fuzz::Verdict::skipped) continue;
    fuzz::Minimized small = fuzz::minimize(tested, program, {}, judged.signature, {}, 5);
    const Options options = options_of(small.program);
    return ::testing::AssertionFailure() << "case " << i << " of seed " << seed << "\n\n"
                                         << fuzz::report_markdown({"", small.program, options, std::move(small.judged)});
  }
  return ::testing::AssertionSuccess();
}

}  // namespace writeback::testing

namespace rc {
/// RapidCheck shows a program as PyTorch prints it.
template <>
struct Arbitrary<writeback::Program> {
  static Gen<writeback::Program> arbitrary() { return writeback::testing::programs(); }
};
}  // namespace rc

namespace writeback {
inline void showValue(const Program& program, std::ostream& os) { os << print_text(program); }
}  // namespace writeback
