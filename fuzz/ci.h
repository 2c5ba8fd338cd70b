// What other people's CI reads: JUnit XML for its table of tests, and GitHub's workflow commands for notes beside the code.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace writeback::fuzz {

struct TestCase {
  enum class Outcome : unsigned char { passed, failed, skipped };
  std::string name;
  double seconds = 0;
  Outcome outcome = Outcome::passed;
  std::string message;  ///< one sentence; of a case that did not pass
  std::string detail;
};

/// One <testsuite>; `class_name` groups its cases ("writeback.fuzz").
std::string junit_xml(std::string_view suite, std::string_view class_name, double seconds, const std::vector<TestCase>&);

/// A line for each case that failed (an error) or was skipped (a warning).
std::string github_annotations(const std::vector<TestCase>&);

/// `text` with &, <, > and quotes as XML and HTML want them; control characters that XML cannot hold become blanks.
std::string escaped(std::string_view text);

}  // namespace writeback::fuzz
