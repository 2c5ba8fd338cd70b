#include "fuzz/ci.h"

#include <fmt/format.h>

#include <algorithm>

namespace writeback::fuzz {
namespace {

/// Workflow commands are one line, and in properties commas and colons end what they are in.
std::string one_line(std::string_view text, bool property) {
  std::string result;
  for (const char c : text) {
    const bool special = c == '%' || c == '\n' || c == '\r' || (property && (c == ':' || c == ','));
    result += special ? fmt::format("%{:02X}", static_cast<unsigned char>(c)) : std::string(1, c);
  }
  return result;
}

}  // namespace

std::string escaped(std::string_view text) {
  std::string result;
  for (const char c : text) {
    if (c == '&')
      result += "&amp;";
    else if (c == '<')
      result += "&lt;";
    else if (c == '>')
      result += "&gt;";
    else if (c == '"')
      result += "&quot;";
    else
      result += static_cast<unsigned char>(c) < 32 && c != '\n' && c != '\t' ? ' ' : c;
  }
  return result;
}

std::string junit_xml(std::string_view suite, std::string_view class_name, double seconds, const std::vector<TestCase>& cases) {
  const auto count = [&](TestCase::Outcome o) { return std::ranges::count(cases, o, &TestCase::outcome); };
  std::string xml = fmt::format(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
      "<testsuite name=\"{}\" tests=\"{}\" failures=\"{}\" skipped=\"{}\" time=\"{:.3f}\">\n",
      escaped(suite), cases.size(), count(TestCase::Outcome::failed), count(TestCase::Outcome::skipped), seconds);
  for (const TestCase& c : cases) {
    xml += fmt::format("  <testcase classname=\"{}\" name=\"{}\" time=\"{:.3f}\"", escaped(class_name), escaped(c.name), c.seconds);
    switch (c.outcome) {
      case TestCase::Outcome::passed:
        xml += "/>\n";
        break;
      case TestCase::Outcome::failed:
        xml += fmt::format(">\n    <failure message=\"{}\">{}</failure>\n  </testcase>\n", escaped(c.message), escaped(c.detail));
        break;
      case TestCase::Outcome::skipped:
        xml += fmt::format(">\n    <skipped message=\"{}\"/>\n  </testcase>\n", escaped(c.message));
        break;
    }
  }
  return xml + "</testsuite>\n";
}

std::string github_annotations(const std::vector<TestCase>& cases) {
  std::string text;
  for (const TestCase& c : cases) {
    if (c.outcome == TestCase::Outcome::passed) continue;
    const std::string whole = c.detail.empty() ? c.message : c.message + "\n" + c.detail;
    text += fmt::format("::{} title={}::{}\n", c.outcome == TestCase::Outcome::failed ? "error" : "warning", one_line(c.name, true),
                        one_line(whole, false));
  }
  return text;
}

}  // namespace writeback::fuzz
