// Implementations in other processes: what they answer, and what becomes of those that do not.
#include "fuzz/outside.h"

#include <gtest/gtest.h>

#include "fuzz/campaign.h"
#include "fuzz/oracle.h"
#include "ref/graph/text.h"
#include "tests/fuzz/files.h"

namespace writeback::fuzz {
namespace {

/// b takes the old a, a takes x. At the end in output order b gets x.
Program delay_line() { return read_text(content(kTests / "corpus" / "delay-line-wrong-order.txt")); }

constexpr Patience kSoon{.reply = 5, .start = 0};

TEST(Outside, AnErrorIsARefusal) {
  Outside tested(R"(while read line; do echo '{"error": "not today"}'; done)", kSoon);
  const Answer answer = tested.place(delay_line(), {});
  EXPECT_EQ(answer.kind, Answer::Kind::refused);
  EXPECT_EQ(answer.message, "not today");
}

TEST(Outside, NonsenseIsMalformedAndTheProcessLivesOn) {
  Outside tested("while read line; do echo nonsense; done", kSoon);
  EXPECT_EQ(tested.place(delay_line(), {}).kind, Answer::Kind::malformed);
  EXPECT_EQ(tested.place(delay_line(), {}).kind, Answer::Kind::malformed);
}

TEST(Outside, ACrashIsAnAnswerAndTheNextRequestStartsAnew) {
  Outside tested("read line; echo 'boom: 7' >&2; exit 3", kSoon);
  for (int i = 0; i < 2; ++i) {
    const Answer answer = tested.place(delay_line(), {});
    EXPECT_EQ(answer.kind, Answer::Kind::crashed);
    EXPECT_EQ(answer.message, "boom: 7");
  }
}

TEST(Outside, SilenceIsATimeOut) {
  Outside tested("sleep 60", {.reply = 0.1, .start = 0.1});
  EXPECT_EQ(tested.place(delay_line(), {}).kind, Answer::Kind::timed_out);
}

/// What is loaded before the first reply is not held against the program that is asked about.
TEST(Outside, OnlyTheFirstReplyMayTakeLong) {
  Outside tested(R"(sleep 0.5; read line; echo '{"error": "here"}'; read line; sleep 60)", {.reply = 0.2, .start = 20});
  EXPECT_EQ(tested.place(delay_line(), {}).message, "here");
  EXPECT_EQ(tested.place(delay_line(), {}).kind, Answer::Kind::timed_out);
  EXPECT_EQ(tested.place(delay_line(), {}).message, "here") << "the next process is given its time too";
}

TEST(Outside, ACampaignWaitsForTheStart) {
  CampaignOptions options;
  options.implementation = R"(cmd:sleep 1.5; while read line; do echo '{"error": "here"}'; done)";
  options.case_seconds = 0.2;
  options.runs = 3;
  options.progress = false;
  const Summary summary = run_campaign(options);
  EXPECT_EQ(summary.skipped, 3u) << summary_text(summary);
}

/// It may also be exactly its target, which nobody can know: torch copies what it gets.
TEST(Outside, ACopyOfWhatAnOpaqueOpReturnsIsNotHeldAgainstIt) {
  Outside tested("python3 " WRITEBACK_TESTS_DIR "/../fuzz/sample_implementation.py", {});
  const Program program = read_text(
      "# schema: my::mix(Tensor x, Tensor y) -> Tensor\ndef forward(self, b_a: \"f32[]\", x: \"f32[2]\"):\n"
      "    t: \"f32[2]\" = torch.ops.my.mix.default(x, b_a)\n    return (t,)\nGraph signature:\n# inputs\n"
      "b_a: BUFFER target='a' persistent=True\nx: USER_INPUT\n# outputs\nt: USER_INPUT_MUTATION target='x'\n");
  const Judged judged = judge(tested, program, {}, {});
  EXPECT_EQ(judged.verdict, Verdict::skipped) << judged.reason;
  EXPECT_EQ(judged.reason, "what an opaque op returns may be its own target");
}

TEST(Outside, TheSampleImplementationIsCaughtClobbering) {
  Outside tested("python3 " WRITEBACK_TESTS_DIR "/../fuzz/sample_implementation.py", {});
  const Judged judged = judge(tested, delay_line(), {}, {});
  EXPECT_EQ(judged.verdict, Verdict::unsafe) << judged.reason;
}

}  // namespace
}  // namespace writeback::fuzz
