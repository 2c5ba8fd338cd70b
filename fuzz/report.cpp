#include "fuzz/report.h"

#include <fmt/format.h>

#include "fuzz/generate.h"
#include "ref/graph/error.h"
#include "ref/graph/text.h"

namespace writeback::fuzz {
namespace {

std::string slot_text(const Program& program, const PlacedCopy& copy) {
  if (copy.in_place) return "in place";
  const std::size_t k = index_of(copy.at.slot);
  std::string text = k == 0 ? "after start" : "after `" + program.graph.nodes[k - 1].name + "`";
  if (copy.temporary) text += fmt::format(", from temporary {}", *copy.temporary);
  return text;
}

std::string flags(const Options& o) {
  std::string text;
  if (o.lowering == Lowering::none) text += " --lowering none";
  if (o.semantics == Semantics::sequential) text += " --semantics sequential";
  for (const std::string& ns : o.trusted) text += " --trust " + ns;
  return text;
}

/// The least placement by the reference, also where the judgement ended before it was asked for.
Placement right_placement(const Case& c) {
  if (!c.judged.earliest.copies.empty()) return c.judged.earliest;
  return ref::earliest_by_trace(c.program, c.options);
}

std::string placements_table(const Case& c) {
  const Placement right = right_placement(c);
  const Placement& found = c.judged.answer.result.placement;
  std::string table = "| write-back | found | right |\n|---|---|---|\n";
  const std::vector<WriteBack> all = write_backs(c.program);
  for (std::size_t i = 0; i < all.size(); ++i) {
    table +=
        fmt::format("| `{} <- {}` | {} | {} |\n", c.program.graph.name_of(all[i].target), c.program.graph.name_of(all[i].value),
                    i < found.copies.size() ? slot_text(c.program, found.copies[i]) : "-", slot_text(c.program, right.copies[i]));
  }
  return table + fmt::format("| temporaries | {} | {} |\n", found.temporaries.size(), right.temporaries.size());
}

/// What the implementation answered, beside what is right.
std::string answer(const Case& c) {
  if (c.judged.answer.kind == Answer::Kind::rewritten)
    return fmt::format("## Program as it was left\n\n```\n{}```\n", print_text(left_by(c)));
  return "## Placement\n\n" + placements_table(c);
}

std::string difference(const Case& c) {
  if (!c.judged.judgement || !c.judged.judgement->witness) return {};
  const ref::Witness& w = *c.judged.judgement->witness;
  const char* other = c.judged.verdict == Verdict::unexplained ? "one slot earlier" : "as placed";
  std::string text =
      fmt::format("## First difference\n\nAt {}:\n\n| | first differing cell |\n|---|---|\n| the meaning | `{}` |\n| {} | `{}` |\n",
                  w.where, w.expected, other, w.got);
  if (w.choices.empty()) return text;
  text += "\nSeen where";
  for (const auto& [name, choice] : w.choices) text += fmt::format(" `{}` is {};", name, choice);
  text.back() = '.';
  return text + "\n";
}

std::string chain(const Case& c) {
  const impl::PlaceResult& result = c.judged.answer.result;
  if (!c.judged.copy || *c.judged.copy >= result.reasons.size()) return {};
  const impl::Reason& reason = result.reasons[*c.judged.copy];
  std::string text = fmt::format("\nThe implementation's reason: {}", name_of(reason.rule));
  if (reason.node) text += " of `" + c.program.graph.node(*reason.node).name + "`";
  if (reason.copy) text += fmt::format(" of copy {}", *reason.copy);
  for (const ValueId v : reason.via) text += ", via `" + c.program.graph.name_of(v) + "`";
  return text + ".\n";
}

std::string identifier(const std::string& text) {
  std::string name;
  bool upper = true;
  for (const char c : text) {
    if (std::isalnum(static_cast<unsigned char>(c)) == 0)
      upper = true;
    else
      name += upper ? static_cast<char>(std::toupper(static_cast<unsigned char>(c))) : c, upper = false;
  }
  return name;
}

std::string replay(const Case& c) {
  if (c.implementation.empty()) return {};
  const std::string command = fmt::format("writeback minimize program.txt --impl '{}'{}", c.implementation, flags(c.options));
  const std::string script = report_script(c).empty() ? "" : "\npython3 reproduce.py";
  return fmt::format("\n## Replay\n\n```\n{}{}\n```\n", command, script);
}

/// The program with `# expect:` lines, as tests/corpus takes it.
std::string with_expectations(const Case& c) {
  const Placement right = right_placement(c);
  const std::vector<WriteBack> all = write_backs(c.program);
  std::string lines;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const PlacedCopy& copy = right.copies[i];
    const std::size_t k = index_of(copy.at.slot);
    const std::string where =
        copy.in_place ? "in place" : "after " + (k == 0 ? std::string("start") : c.program.graph.nodes[k - 1].name);
    lines += fmt::format("# expect: {} <- {} {}\n", c.program.graph.name_of(all[i].target), c.program.graph.name_of(all[i].value),
                         where);
  }
  if (all.empty()) lines += "# expect: nothing to write back\n";
  if (!right.temporaries.empty()) lines += fmt::format("# expect: temporaries {}\n", right.temporaries.size());
  return "# title: " + c.judged.signature.text + "\n" + lines + print_text(c.program);
}

}  // namespace

std::string report_markdown(const Case& c) {
  const std::string who = c.implementation.empty() ? "" : fmt::format("Implementation: `{}`. ", c.implementation);
  return fmt::format("# {}\n\n{}\n\n{}Failure: `{}`.\n\n## Program\n\n```\n{}```\n\n{}{}\n{}{}", name_of(c.judged.verdict),
                     c.judged.reason, who, c.judged.signature.text, print_text(c.program), answer(c), chain(c), difference(c),
                     replay(c));
}

std::string report_test(const Case& c) {
  return fmt::format(
      "TEST(Found, {}) {{\n  const Program program = read_text(R\"(\n{})\");\n  const Options options = "
      "fuzz::options_of(program);\n"
      "  const impl::PlaceResult result = impl::place(program, options);\n"
      "  EXPECT_EQ(ref::judge(program, result.placement, options).verdict, ref::Verdict::safe);\n"
      "  EXPECT_EQ(result.placement.copies, ref::earliest_by_trace(program, options).copies);\n"
      "  EXPECT_TRUE(impl::accept(program, result.placement, options).empty());\n}}\n",
      identifier(c.judged.signature.text), print_text(c.program));
}

std::vector<std::pair<std::string, std::string>> report_files(const std::string& program_text, const std::string& name,
                                                              Implementation& tested, const Options& base) {
  Case c{name, read_text(program_text), {}, {}};
  c.options = options_of(c.program, base);
  Checks checks;
  checks.explanation = checks.text = checks.relations = true;
  c.judged = judge(tested, c.program, c.options, checks);
  std::vector<std::pair<std::string, std::string>> files{
      {"report.md", report_markdown(c)}, {"case_test.cpp", report_test(c)}, {"expected.txt", with_expectations(c)}};
  if (std::string script = report_script(c); !script.empty()) files.emplace_back("reproduce.py", std::move(script));
  return files;
}

}  // namespace writeback::fuzz
