// The page of `writeback place --html`: the copies in a table, then the program line by line with its copies and temporaries in
// colour, each with its reason below it, and an arc from what holds a copy back to the copy. Rows have one height, so that the arcs
// need no script.
#include <fmt/format.h>

#include <iterator>
#include <map>

#include "impl/report/html.h"
#include "impl/report/place_report.h"
#include "ref/graph/text.h"

namespace writeback::impl {
namespace {

constexpr int kRow = 22, kArcs = 44;  ///< pixels

struct Line {
  std::string number, code;
  enum class Kind : std::uint8_t { plain, placed, reason } kind = Kind::plain;
};

/// Takes the words out that every line has, so that names and arguments fit a narrow screen.
std::string shortened(std::string line) {
  for (const std::string_view word : {"torch.ops.", "executorch_exir_dialects_edge__ops_"}) {
    if (const std::size_t at = line.find(word); at != std::string::npos) line.erase(at, word.size());
  }
  return line;
}

/// The statements of the printed program, one a node, without the deletions and comments behind them.
std::vector<std::string> statements(const Program& program) {
  std::vector<std::string> lines;
  const std::string text = print_text(program);
  bool inside = false;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    std::string line = text.substr(at, end - at);
    at = end + 1;
    const std::size_t indent = line.find_first_not_of(' ');
    if (indent == std::string::npos) continue;
    line.erase(0, indent);
    if (line.starts_with("return")) inside = false;
    if (inside && line[0] != '#' && lines.size() < program.graph.nodes.size())
      lines.push_back(shortened(line.substr(0, std::min(line.find(";  "), line.find("  # ")))));
    if (line.starts_with("def forward") && lines.empty()) inside = true;
  }
  return lines;
}

class Page {
 public:
  Page(const Program& program, const PlaceResult& result)
      : program_(program), result_(result), placed_(with_explicit_copies(program, result.placement)) {
    for (std::size_t i = 0; i < result.write_backs.size(); ++i) {
      const ValueId* v = as_value(placed_.graph.outputs[result.write_backs[i].output]);
      if (!result.placement.copies[i].in_place && v != nullptr)
        copy_named_[placed_.graph.name_of(*v)] = static_cast<std::uint32_t>(i);
    }
    add_lines();
  }

  std::string html() const {
    std::string body = copies_table();
    for (const std::string& sentence : remarks()) body += "<p>" + html_escaped(sentence) + "</p>\n";
    return body + listing();
  }

 private:
  void add_lines() {
    const std::vector<std::string> code = statements(placed_);
    std::uint32_t number = 0;
    for (std::size_t n = 0; n < placed_.graph.nodes.size(); ++n) {
      const std::string& name = placed_.graph.nodes[n].name;
      const auto copy = copy_named_.find(name);
      const bool placed = copy != copy_named_.end() || !find_value(program_.graph, name);
      row_of_[name] = lines_.size();
      lines_.push_back({placed ? "" : std::to_string(++number), n < code.size() ? code[n] : name,
                        placed ? Line::Kind::placed : Line::Kind::plain});
      if (copy == copy_named_.end() || result_.reasons.empty()) continue;
      lines_.push_back({"", "  " + sentence(program_, result_, copy->second), Line::Kind::reason});
    }
  }

  std::string copies_table() const {
    const SlotNames slots(program_);
    std::string html =
        "<div class=\"scroll\"><table>\n<tr><th>target</th><th>value</th><th class=\"number\">end</th><th "
        "class=\"number\">earliest</th>"
        "<th>after</th></tr>\n";
    for (std::size_t i = 0; i < result_.write_backs.size(); ++i) {
      const WriteBack& w = result_.write_backs[i];
      const PlacedCopy& c = result_.placement.copies[i];
      html += fmt::format("<tr><td>{}</td><td>{}</td><td class=\"number\">{}</td><td class=\"number\">{}</td><td>{}</td></tr>\n",
                          html_escaped(program_.graph.name_of(w.target)), html_escaped(program_.graph.name_of(w.value)),
                          slots.number(slots.end()), c.in_place ? "-" : std::to_string(slots.number(c.at.slot)),
                          c.in_place ? "in place" : html_escaped(slots.after(c.at.slot)));
    }
    return html + "</table></div>\n";
  }

  std::vector<std::string> remarks() const {
    std::vector<std::string> all;
    if (result_.write_backs.empty()) all.emplace_back("nothing to write back");
    for (const Clobbered& c : result_.clobbered) {
      const auto target = [&](std::uint32_t k) { return program_.graph.name_of(result_.write_backs[k].target); };
      all.push_back(
          fmt::format("clobbered at the end of the graph: the copy to {} by the copy to {}", target(c.copy), target(c.by)));
    }
    for (const LoweringHazard& h : result_.lowering_hazards) all.push_back("lowering hazard: " + h.sentence);
    return all;
  }

  std::string listing() const {
    std::string html = fmt::format(
        "<h2>The program with its copies</h2>\n<div class=\"listing\"><table>\n<tr><td class=\"arcs\" "
        "rowspan=\"{}\">{}</td></tr>\n",
        lines_.size() + 1, arcs());
    for (const Line& line : lines_) {
      const char* kind = line.kind == Line::Kind::plain    ? ""
                         : line.kind == Line::Kind::placed ? " class=\"placed\""
                                                           : " class=\"reason\"";
      fmt::format_to(std::back_inserter(html), "<tr{}><td class=\"n\">{}</td><td><code>{}</code></td></tr>\n", kind, line.number,
                     html_escaped(line.code));
    }
    return html + "</table></div>\n";
  }

  /// An arc for each copy that a node or another copy holds back, the farther the wider.
  std::string arcs() const {
    const std::size_t height = lines_.size() * kRow;
    std::string svg = fmt::format(
        "<svg viewBox=\"0 0 {0} {1}\" style=\"width:{0}px;height:{1}px\" role=\"img\" aria-label=\"what holds each copy back\">\n",
        kArcs, height);
    for (const auto& [name, i] : copy_named_) {
      if (result_.reasons.empty()) continue;
      const Reason& reason = result_.reasons[i];
      std::string from;
      if (reason.node) from = program_.graph.node(*reason.node).name;
      for (const auto& [other, j] : copy_named_) {
        if (reason.copy && *reason.copy == j) from = other;
      }
      const auto row = row_of_.find(from);
      if (row == row_of_.end()) continue;
      const double top = (static_cast<double>(row->second) + 0.5) * kRow,
                   bottom = (static_cast<double>(row_of_.at(name)) + 0.5) * kRow;
      const double x = kArcs - 4, far = x - 2 * std::min(18.0, 4 + 0.05 * std::abs(bottom - top));
      fmt::format_to(std::back_inserter(svg),
                     "<path class=\"arc\" d=\"M{0},{1} C{2},{1} {2},{3} {0},{3}\"/><circle class=\"dot\" cx=\"{0}\" cy=\"{3}\" "
                     "r=\"3\"><title>{4} {5}</title></circle>\n",
                     x, top, far, bottom, name_of(reason.rule), html_escaped(from));
    }
    return svg + "</svg>";
  }

  const Program& program_;
  const PlaceResult& result_;
  const Program placed_;
  std::map<std::string, std::uint32_t> copy_named_;  ///< by the name of the copy's node: its write-back
  std::map<std::string, std::size_t> row_of_;
  std::vector<Line> lines_;
};

}  // namespace

std::string place_html(const std::string& title, const Program& program, const PlaceResult& result) {
  return html_page(title, Page(program, result).html());
}

}  // namespace writeback::impl
