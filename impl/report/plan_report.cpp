#include "impl/report/plan_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "impl/report/html.h"
#include "impl/report/table.h"

namespace writeback::impl {
namespace {

using Json = nlohmann::ordered_json;
using plan::Measurement;
using plan::Tensor;

constexpr double kWidth = 960, kLeft = 92, kRight = 12, kTop = 14, kArena = 300, kGap = 34, kCurve = 90, kBottom = 24;

double percent(std::int64_t part, std::int64_t whole) {
  return whole == 0 ? 0 : 100.0 * static_cast<double>(part) / static_cast<double>(whole);
}

std::string gap_text(const Measurement& m) { return fmt::format("{:.1f} %", percent(m.best - m.bound.bytes, m.bound.bytes)); }

std::string saving_text(const Measurement& m, const Measurement& first) {
  return fmt::format("{:.1f} %", percent(first.executorch - m.executorch_fixed, first.executorch));
}

std::vector<std::vector<std::string>> rows_of(const std::vector<NamedMeasurement>& all,
                                              const std::vector<plan::Planner>& planners) {
  std::vector<std::vector<std::string>> rows{{"placement"}};
  for (const plan::Planner p : planners) rows[0].emplace_back(name_of(p));
  for (const char* heading : {"bound", "gap", "saved", "copied", "bound at"}) rows[0].emplace_back(heading);
  for (const auto& [name, m] : all) {
    std::vector<std::string>& row = rows.emplace_back(1, name);
    for (const plan::Planner p : planners) row.push_back(with_commas(m.bytes(p)));
    for (const std::string& cell : {with_commas(m.bound.bytes), gap_text(m), saving_text(m, all.front().measurement),
                                    with_commas(m.bytes_copied), m.bound_at}) {
      row.push_back(cell);
    }
  }
  return rows;
}

/// The tensors that live at the step of the bound, largest first.
std::vector<const Tensor*> peak_tensors(const Measurement& m, std::size_t most) {
  std::vector<const Tensor*> live;
  for (const Tensor& t : m.tensors) {
    if (t.buffer.begin <= m.bound.step && m.bound.step < t.buffer.end) live.push_back(&t);
  }
  std::stable_sort(live.begin(), live.end(), [](const Tensor* a, const Tensor* b) { return a->buffer.bytes > b->buffer.bytes; });
  if (live.size() > most) live.resize(most);
  return live;
}

std::string peak_line(const NamedMeasurement& named) {
  constexpr std::size_t kMost = 5;
  std::string text = fmt::format("live at the peak of {}:", named.name);
  for (const Tensor* t : peak_tensors(named.measurement, kMost))
    text += fmt::format(" {} ({})", t->name, with_commas(t->buffer.bytes));
  return text;
}

/// Sentences about planners that need more for a placement than for the one before it, though no more bytes live at once; and about
/// plans of the released planner in which something is overwritten while it is needed.
std::vector<std::string> anomalies(const std::vector<NamedMeasurement>& all) {
  std::vector<std::string> sentences;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const auto& [name, m] = all[i];
    for (const plan::Planner p : plan::kPlanners) {
      if (i == 0 || p == plan::Planner::naive || m.bound.bytes > all[i - 1].measurement.bound.bytes) continue;
      const std::int64_t more = m.bytes(p) - all[i - 1].measurement.bytes(p);
      if (more <= 0) continue;
      sentences.push_back(fmt::format("anomaly: {} needs {} bytes more for {} than for {}, though no more bytes live at once",
                                      name_of(p), with_commas(more), name, all[i - 1].name));
    }
    if (m.executorch_fault.empty()) continue;
    sentences.push_back(fmt::format("wrong plan: executorch gives the same bytes to {}, needed at the same time, for {}",
                                    m.executorch_fault, name));
  }
  return sentences;
}

/// Scales of one picture.
struct Scale {
  double steps, bytes;
  double x(double step) const { return kLeft + (kWidth - kLeft - kRight) * step / steps; }
  double y(double offset) const { return kTop + kArena * (1 - offset / bytes); }
  double curve_y(double live) const { return kTop + kArena + kGap + kCurve * (1 - live / bytes); }
};

Scale scale_of(const Measurement& m) {
  return {std::max<double>(1, static_cast<double>(m.steps.size())), std::max<double>(1, static_cast<double>(m.best))};
}

struct Box {
  double x, y, width, height;
};

Box box_of(const Tensor& t, const Scale& s) {
  const double x = s.x(static_cast<double>(t.buffer.begin)), y = s.y(static_cast<double>(t.offset + t.buffer.bytes));
  return {x, y, s.x(static_cast<double>(t.buffer.end)) - x, s.y(static_cast<double>(t.offset)) - y};
}

void draw_tensors(std::string& svg, const Measurement& m, const Scale& s) {
  for (const Tensor& t : m.tensors) {
    if (t.buffer.bytes == 0) continue;
    const Box box = box_of(t, s);
    fmt::format_to(
        std::back_inserter(svg),
        "<rect class=\"{}\" x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\"><title>{}: {} bytes at {}, steps {} to "
        "{}</title></rect>\n",
        t.is_state ? "state" : "value", box.x, box.y, box.width, box.height, html_escaped(t.name), with_commas(t.buffer.bytes),
        with_commas(t.offset), t.buffer.begin, t.buffer.end - 1);
  }
}

/// Above the lines of the copies, where they fit into their rectangles.
void draw_names(std::string& svg, const Measurement& m, const Scale& s) {
  constexpr double kCharacter = 6.7, kLine = 13;
  for (const Tensor& t : m.tensors) {
    const Box box = box_of(t, s);
    if (box.height < kLine || box.width < kCharacter * static_cast<double>(t.name.size()) + 6) continue;
    fmt::format_to(std::back_inserter(svg), "<text x=\"{:.1f}\" y=\"{:.1f}\" pointer-events=\"none\">{}</text>\n", box.x + 3,
                   box.y + box.height / 2 + 4, html_escaped(t.name));
  }
}

void draw_copies(std::string& svg, const Measurement& m, const Scale& s) {
  for (std::int64_t step : m.copy_steps) {
    const double x = s.x(static_cast<double>(step) + 0.5);
    fmt::format_to(
        std::back_inserter(svg),
        "<line class=\"copy\" x1=\"{0:.1f}\" x2=\"{0:.1f}\" y1=\"{1:.1f}\" y2=\"{2:.1f}\"><title>{3}, step {4}</title></line>\n", x,
        kTop, kTop + kArena, html_escaped(m.steps[static_cast<std::size_t>(step)]), step);
  }
}

void draw_live_curve(std::string& svg, const Measurement& m, const Scale& s) {
  std::string points;
  double last = 0;
  for (const auto& [step, bytes] : m.live) {
    const double x = s.x(static_cast<double>(step));
    points += fmt::format("{:.1f},{:.1f} {:.1f},{:.1f} ", x, s.curve_y(last), x, s.curve_y(static_cast<double>(bytes)));
    last = static_cast<double>(bytes);
  }
  const double bound = static_cast<double>(m.bound.bytes);
  fmt::format_to(std::back_inserter(svg),
                 "<polyline class=\"curve\" points=\"{}\"/>\n<line class=\"bound\" x1=\"{:.1f}\" x2=\"{:.1f}\" y1=\"{:.1f}\" "
                 "y2=\"{:.1f}\"/>\n",
                 points, kLeft, kWidth - kRight, s.y(bound), s.y(bound));
}

void draw_labels(std::string& svg, const Measurement& m, const Scale& s) {
  const auto out = std::back_inserter(svg);
  const double floor = kTop + kArena + kGap + kCurve;
  fmt::format_to(out, "<rect class=\"frame\" x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\"/>\n", kLeft, kTop,
                 kWidth - kLeft - kRight, kArena);
  fmt::format_to(out, "<text class=\"quiet\" x=\"{}\" y=\"{}\" text-anchor=\"end\">{}</text>\n", kLeft - 6, kTop + 10,
                 with_commas(m.best));
  fmt::format_to(out, "<text class=\"quiet\" x=\"{}\" y=\"{}\" text-anchor=\"end\">0</text>\n", kLeft - 6, kTop + kArena);
  fmt::format_to(out, "<text class=\"quiet\" x=\"{}\" y=\"{}\">bytes of the arena</text>\n", kLeft, kTop + kArena + 15);
  fmt::format_to(out, "<text class=\"quiet\" x=\"{}\" y=\"{}\" text-anchor=\"end\">live</text>\n", kLeft - 6, floor - kCurve / 2);
  fmt::format_to(out, "<text class=\"quiet\" x=\"{}\" y=\"{}\">step 0</text>\n", kLeft, floor + 16);
  fmt::format_to(out, "<text class=\"quiet\" x=\"{}\" y=\"{}\" text-anchor=\"end\">step {}</text>\n", kWidth - kRight, floor + 16,
                 m.steps.size());
  const double x = std::max(s.x(static_cast<double>(m.bound.step)), kLeft + 160);  // right of the arena's label
  fmt::format_to(out, "<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\">peak {} at {}</text>\n", x, kTop + kArena + 15,
                 x > kWidth * 0.6 ? "end" : "start", with_commas(m.bound.bytes), html_escaped(m.bound_at));
}

std::string picture(const NamedMeasurement& named, bool standalone) {
  const Measurement& m = named.measurement;
  const Scale scale = scale_of(m);
  std::string svg = fmt::format("<svg {}viewBox=\"0 0 {} {}\" role=\"img\" aria-label=\"arena over time, {}\">\n",
                                standalone ? "xmlns=\"http://www.w3.org/2000/svg\" " : "", kWidth,
                                kTop + kArena + kGap + kCurve + kBottom, html_escaped(named.name));
  if (standalone) {
    svg +=
        "<style>text{font:11px monospace}.value{fill:#8fb4d9}.state{fill:#e2a657}.frame{fill:none;stroke:#999}rect{stroke:#fff;"
        "stroke-width:.5}.copy{stroke:#c2413b;stroke-width:1.2}.bound{stroke:#7a4fb0;stroke-dasharray:5 4}.curve{fill:none;"
        "stroke:#33689e;stroke-width:1.5}</style>\n<rect width=\"100%\" height=\"100%\" style=\"fill:#fff\"/>\n";
  }
  draw_tensors(svg, m, scale);
  draw_copies(svg, m, scale);
  draw_names(svg, m, scale);
  draw_labels(svg, m, scale);  // with the frame, on which the bound may lie
  draw_live_curve(svg, m, scale);
  return svg + "</svg>\n";
}

std::string legend(std::string_view colour, std::string_view meaning) {
  return fmt::format("<span class=\"key\"><i style=\"background:var(--{})\"></i>{}</span>", colour, meaning);
}

std::string html_table(const std::vector<std::vector<std::string>>& rows) {
  std::string html = "<div class=\"scroll\"><table>\n";
  for (std::size_t r = 0; r < rows.size(); ++r) {
    html += "<tr>";
    for (std::size_t c = 0; c < rows[r].size(); ++c) {
      const bool number = rows.back()[c].find_first_of("0123456789") == 0;
      html += fmt::format("<{0}{1}>{2}</{0}>", r == 0 ? "th" : "td", number ? " class=\"number\"" : "", html_escaped(rows[r][c]));
    }
    html += "</tr>\n";
  }
  return html + "</table></div>\n";
}

}  // namespace

Json plan_json(const std::vector<NamedMeasurement>& all) {
  Json placements = Json::object(), tensors = Json::array(), warnings = Json::array();
  for (const auto& [name, m] : all) {
    placements[name] = {{"executorch", m.executorch},
                        {"executorch_fixed", m.executorch_fixed},
                        {"naive", m.naive},
                        {"first_fit", m.first_fit},
                        {"best", m.best},
                        {"bound", m.bound.bytes},
                        {"bound_at", m.bound_at},
                        {"bytes_copied", m.bytes_copied}};
    for (const std::string& w : m.warnings) {
      if (std::find(warnings.begin(), warnings.end(), Json(w)) == warnings.end()) warnings.push_back(w);
    }
  }
  for (const Tensor& t : all.back().measurement.tensors) {
    tensors.push_back(
        {{"name", t.name}, {"bytes", t.buffer.bytes}, {"offset", t.offset}, {"first", t.buffer.begin}, {"last", t.buffer.end - 1}});
  }
  return {{"placements", placements}, {"tensors", tensors}, {"anomalies", anomalies(all)}, {"warnings", warnings}};
}

std::string plan_table(const std::vector<NamedMeasurement>& all, const std::vector<plan::Planner>& planners) {
  std::string text = aligned_table(rows_of(all, planners));
  for (const NamedMeasurement& named : all) text += peak_line(named) + "\n";
  for (const std::string& sentence : anomalies(all)) text += sentence + "\n";
  return text;
}

std::string plan_svg(const NamedMeasurement& named) { return picture(named, true); }

std::string plan_html(const std::string& title, const std::vector<NamedMeasurement>& all) {
  std::string body = html_table(rows_of(all, kShownPlanners));
  body +=
      "<p>Bytes. executorch: its own planner, stale output specs included; executorch-fixed: without them; best: ours; bound: the "
      "most bytes that live at one step. saved: executorch-fixed against the first row's executorch.</p>\n";
  for (const std::string& sentence : anomalies(all)) body += "<p>" + html_escaped(sentence) + "</p>\n";
  for (const NamedMeasurement& named : all) {
    body += fmt::format("<h2>{}: {} bytes</h2>\n<p>{}{}{}{}</p>\n", html_escaped(named.name), with_commas(named.measurement.best),
                        legend("state", "state that is written back"), legend("value", "other tensors"),
                        legend("copy", "write-back copy"), legend("bound", "bound"));
    body += "<div class=\"picture\">" + picture(named, false) + "</div>\n";
    body += "<p>" + html_escaped(peak_line(named)) + "</p>\n";
  }
  return html_page(title, body);
}

}  // namespace writeback::impl
