// Implementations in other processes: what they answer, and what becomes of those that do not.
#include "fuzz/outside.h"

#include <gtest/gtest.h>

#include "fuzz/campaign.h"
#include "fuzz/oracle.h"
#include "ref/graph/text.h"

namespace writeback::fuzz {
namespace {

/// A delay line: b takes the old a, a takes x. At the end in output order b gets x.
Program delay_line() {
  return read_text(R"(ExportedProgram:
    class GraphModule(torch.nn.Module):
        def forward(self, b_a: "f32[4]", b_b: "f32[4]", x: "f32[4]"):
            # No stacktrace found for following nodes
            y: "f32[4]" = torch.ops.aten.neg.default(x)
            return (y, b_a)

Graph signature:
    # inputs
    b_a: BUFFER target='a' persistent=True
    b_b: BUFFER target='b' persistent=True
    x: USER_INPUT

    # outputs
    y: BUFFER_MUTATION target='a'
    b_a: BUFFER_MUTATION target='b'

Range constraints: {}
)");
}

TEST(Outside, AnErrorIsARefusal) {
  Outside tested(R"(while read line; do echo '{"error": "not today"}'; done)", 5);
  const Answer answer = tested.place(delay_line(), {});
  EXPECT_EQ(answer.kind, Answer::Kind::refused);
  EXPECT_EQ(answer.message, "not today");
}

TEST(Outside, NonsenseIsMalformedAndTheProcessLivesOn) {
  Outside tested("while read line; do echo nonsense; done", 5);
  EXPECT_EQ(tested.place(delay_line(), {}).kind, Answer::Kind::malformed);
  EXPECT_EQ(tested.place(delay_line(), {}).kind, Answer::Kind::malformed);
}

TEST(Outside, ACrashIsAnAnswerAndTheNextRequestStartsAnew) {
  Outside tested("read line; echo 'boom: 7' >&2; exit 3", 5);
  for (int i = 0; i < 2; ++i) {
    const Answer answer = tested.place(delay_line(), {});
    EXPECT_EQ(answer.kind, Answer::Kind::crashed);
    EXPECT_EQ(answer.message, "boom: 7");
  }
}

TEST(Outside, SilenceIsATimeOut) {
  Outside tested("sleep 60", 0.2);
  EXPECT_EQ(tested.place(delay_line(), {}).kind, Answer::Kind::timed_out);
}

TEST(Outside, TheSampleImplementationIsCaughtClobbering) {
  Outside tested("python3 " WRITEBACK_TESTS_DIR "/../fuzz/sample_implementation.py", 20);
  const Judged judged = judge(tested, delay_line(), {}, {});
  EXPECT_EQ(judged.verdict, Verdict::unsafe) << judged.reason;
}

}  // namespace
}  // namespace writeback::fuzz
