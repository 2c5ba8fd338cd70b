// What a campaign says of itself: in text for the terminal, JSON for programs, HTML for people, JUnit and GitHub for other people's
// CI. Population numbers add up in each: cases = right + failing + skipped.
#include <fmt/format.h>

#include "fuzz/ci.h"
#include "fuzz/failure_json.h"

namespace writeback::fuzz {
namespace {

using Json = nlohmann::ordered_json;

std::string share(std::uint64_t part, std::uint64_t whole) {
  return whole == 0 ? "-" : fmt::format("{:.1f} %", 100.0 * static_cast<double>(part) / static_cast<double>(whole));
}

/// Features are counted on every eighth case.
std::uint64_t sampled(const Summary& s) { return (s.cases + 7) / 8; }

struct Row {
  std::string name;
  std::uint64_t count;
};

std::vector<Row> feature_rows(const Summary& s) {
  std::vector<Row> rows;
  for (std::size_t f = 0; f < kFeatureCount; ++f) rows.push_back({std::string(name_of(static_cast<Feature>(f))), s.features[f]});
  return rows;
}

/// Not the deadline, which holds a temporary back and never a copy: it is among the features.
std::vector<Row> rule_rows(const Summary& s) {
  std::vector<Row> rows;
  for (std::size_t r = 0; r < kRuleCount; ++r)
    if (static_cast<impl::Rule>(r) != impl::Rule::deadline)
      rows.push_back({std::string(impl::name_of(static_cast<impl::Rule>(r))), s.rules[r]});
  return rows;
}

std::string not_covered(const Summary& s) {
  std::string names;
  for (const auto& rows : {feature_rows(s), rule_rows(s)}) {
    for (const Row& row : rows) {
      if (row.count == 0) names += (names.empty() ? "" : ", ") + row.name;
    }
  }
  return names.empty() ? "nothing" : names;
}

std::string replay(const Summary& s, const Failure& f) {
  return f.file.empty() ? fmt::format("writeback fuzz --impl {} --seed {} --replay {}", s.implementation, s.seed, f.index)
                        : fmt::format("writeback minimize {} --impl {}", f.file, s.implementation);
}

/// The campaign as a whole, then a case for each failure.
std::vector<TestCase> test_cases(const Summary& s) {
  std::vector<TestCase> cases{{fmt::format("{} cases right", s.right), s.seconds, TestCase::Outcome::passed, "", ""}};
  for (const Failure& f : s.failures)
    cases.push_back({f.signature.text, f.first_seconds, TestCase::Outcome::failed, f.reason, f.program + "\n" + replay(s, f)});
  return cases;
}

}  // namespace

std::string summary_text(const Summary& s) {
  std::string text = fmt::format(
      "writeback {} campaign of {}, seed {}{}\n"
      "{} cases in {:.1f} s, {:.0f} a second; {:.1f} nodes a case\n"
      "  {:>10} right\n  {:>10} failing, {} distinct\n  {:>10} skipped ({})\n",
      WRITEBACK_VERSION, s.implementation, s.seed, s.interrupted ? " (interrupted)" : "", s.cases, s.seconds, s.rate(),
      s.cases == 0 ? 0.0 : static_cast<double>(s.nodes) / static_cast<double>(s.cases), s.right, s.failing, s.failures.size(),
      s.skipped, share(s.skipped, s.cases));
  for (const auto& [reason, count] : s.skips) text += fmt::format("  {:>10}   {}\n", count, reason);
  text += fmt::format("valid: {} of {}\n", share(s.valid, s.cases), s.cases);
  text += fmt::format("reasons: {} seen to block, {} blockers that no value shows\n", s.confirmed_reasons, s.unobserved_reasons);
  text += fmt::format("small programs: {} of {} copies stand where a search over values puts them\n",
                      share(s.copies_as_searched, s.copies_searched), s.copies_searched);
  text += "rules named:";
  for (const Row& row : rule_rows(s)) text += fmt::format(" {} {}", row.name, row.count);
  text += "\nfeatures:\n";
  for (const Row& row : feature_rows(s)) text += fmt::format("  {:>7}  {}\n", share(row.count, sampled(s)), row.name);
  text += "not covered: " + not_covered(s) + "\n";
  for (const Failure& f : s.failures) {
    text += fmt::format(
        "\nFAILURE {}\n  {}\n  case {}, found after {:.2f} s and {} cases, {} nodes{}, minimised in {:.2f} s\n  replay: {}\n",
        f.signature.text, f.reason, f.index, f.first_seconds, f.cases, f.nodes, f.one_minimal ? ", 1-minimal" : "",
        f.minimize_seconds, replay(s, f));
  }
  return text;
}

std::string summary_json(const Summary& s) {
  Json json{{"version", WRITEBACK_VERSION},
            {"implementation", s.implementation},
            {"seed", s.seed},
            {"next", s.next},
            {"cases", s.cases},
            {"valid", s.valid},
            {"right", s.right},
            {"failing", s.failing},
            {"skipped", Json::object()},
            {"seconds", s.seconds},
            {"cases_per_second", s.rate()},
            {"nodes", s.nodes},
            {"copies", s.copies},
            {"interrupted", s.interrupted},
            {"reasons_confirmed", s.confirmed_reasons},
            {"reasons_unobserved", s.unobserved_reasons},
            {"copies_searched", s.copies_searched},
            {"copies_as_searched", s.copies_as_searched}};
  for (const auto& [reason, count] : s.skips) json["skipped"][reason] = count;
  json["features"] = Json::object();
  for (const Row& row : feature_rows(s)) json["features"][row.name] = row.count;
  json["rules"] = Json::object();
  for (const Row& row : rule_rows(s)) json["rules"][row.name] = row.count;
  json["not_covered"] = not_covered(s);
  json["failures"] = Json::array();
  for (const Failure& f : s.failures) {
    json["failures"].push_back(failure_json(f));
    json["failures"].back()["replay"] = replay(s, f);
  }
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string summary_html(const Summary& s) {
  std::string html = fmt::format(
      "<!doctype html><meta charset=utf-8><meta name=viewport content='width=device-width'><title>writeback campaign</title>\n"
      "<style>:root{{color-scheme:light dark}}body{{font:15px/1.5 system-ui,sans-serif;max-width:60em;margin:2em auto;padding:0 "
      "1em}}"
      "td,th{{text-align:left;padding:.1em 1em .1em "
      "0;vertical-align:top}}td.n{{text-align:right;font-variant-numeric:tabular-nums}}"
      "pre{{overflow:auto;padding:.7em;border:1px solid #8884}}meter{{width:8em}}</style>\n"
      "<h1>Campaign of {}</h1><p>writeback {}, seed {}: {} cases in {:.1f} s, {:.0f} a second.</p>\n<table>",
      escaped(s.implementation), WRITEBACK_VERSION, s.seed, s.cases, s.seconds, s.rate());
  const auto row = [&](const std::string& name, const std::string& value) {
    html += fmt::format("<tr><td>{}<td class=n>{}\n", escaped(name), value);
  };
  row("right", std::to_string(s.right));
  row("failing", std::to_string(s.failing));
  row("skipped", std::to_string(s.skipped));
  for (const auto& [reason, count] : s.skips) row("skipped: " + reason, std::to_string(count));
  row("reasons seen to block", std::to_string(s.confirmed_reasons));
  row("blockers that no value shows", std::to_string(s.unobserved_reasons));
  row("copies of small programs where a search puts them", share(s.copies_as_searched, s.copies_searched));
  html += "</table>\n";
  html += s.failures.empty() ? "<h2>No failure</h2>\n" : fmt::format("<h2>{} distinct failures</h2>\n", s.failures.size());
  for (const Failure& f : s.failures) {
    html += fmt::format("<h3>{}</h3><p>{}</p><p>Case {}, after {:.2f} s; {} nodes{}.</p><pre>{}</pre><p><code>{}</code></p>\n",
                        escaped(f.signature.text), escaped(f.reason), f.index, f.first_seconds, f.nodes,
                        f.one_minimal ? ", 1-minimal" : "", escaped(f.program), escaped(replay(s, f)));
  }
  html += "<h2>Features</h2><table>\n";
  for (const Row& r : feature_rows(s)) {
    html += fmt::format("<tr><td>{}<td class=n>{}<td><meter max={} value={}></meter>\n", escaped(r.name),
                        share(r.count, sampled(s)), std::max<std::uint64_t>(1, sampled(s)), r.count);
  }
  html += "</table><h2>Rules named</h2><table>\n";
  for (const Row& r : rule_rows(s)) row(r.name, std::to_string(r.count));
  return html + "</table><p>Not covered: " + escaped(not_covered(s)) + "</p>\n";
}

std::string summary_junit(const Summary& s) {
  return junit_xml("writeback fuzz " + s.implementation, "writeback.fuzz", s.seconds, test_cases(s));
}

std::string summary_annotations(const Summary& s) { return github_annotations(test_cases(s)); }

}  // namespace writeback::fuzz
