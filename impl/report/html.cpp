#include "impl/report/html.h"

#include <fmt/format.h>

namespace writeback::impl {
namespace {

constexpr std::string_view kStyle = R"css(
:root { color-scheme: light dark; --ink: #1d232b; --quiet: #5c6773; --paper: #fbfbf9; --line: #d8dce1; --value: #8fb4d9;
  --state: #e2a657; --input: #a9c9a4; --copy: #c2413b; --bound: #7a4fb0; --curve: #33689e; }
@media (prefers-color-scheme: dark) { :root { --ink: #e4e7eb; --quiet: #98a3ae; --paper: #16191d; --line: #363c44; --value: #3f6c99;
  --state: #8a5c1e; --input: #4f7a4a; --copy: #f0807a; --bound: #b795e6; --curve: #7fb2e5; } }
* { box-sizing: border-box; }
body { margin: 0 auto; padding: 1.2rem 1rem 3rem; max-width: 68rem; background: var(--paper); color: var(--ink);
  font: 15px/1.5 system-ui, sans-serif; }
h1 { font-size: 1.35rem; margin: 0 0 .3rem; overflow-wrap: anywhere; } h2 { font-size: 1.05rem; margin: 2rem 0 .4rem; }
p { margin: .3rem 0; color: var(--quiet); }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
th, td { padding: .25rem .7rem; border-bottom: 1px solid var(--line); text-align: left; white-space: nowrap; }
.number { text-align: right; } th:first-child, td:first-child { padding-left: 0; } th { color: var(--quiet); font-weight: 500; }
code, pre { font: 12.5px/1.6 ui-monospace, monospace; }
svg { display: block; width: 100%; height: auto; }
.picture { overflow-x: auto; } .picture svg { min-width: 44rem; }
svg text { font: 11px ui-monospace, monospace; fill: var(--ink); } svg text.quiet { fill: var(--quiet); }
svg .frame { fill: none; stroke: var(--line); }
svg .value { fill: var(--value); } svg .state { fill: var(--state); } svg rect { stroke: var(--paper); stroke-width: .5; }
svg .copy { stroke: var(--copy); stroke-width: 1.2; } svg .bound { stroke: var(--bound); stroke-dasharray: 5 4; }
svg .curve { fill: none; stroke: var(--curve); stroke-width: 1.5; } svg .arc { fill: none; stroke: var(--copy); stroke-width: 1.3; }
.key { display: inline-block; margin-right: .9em; }
.key i { display: inline-block; width: .8em; height: .8em; margin-right: .3em; border-radius: 2px; vertical-align: -1px; }
.listing { overflow-x: auto; }
.listing td { height: 22px; padding: 0 .8rem 0 0; border: 0; text-align: left; white-space: pre;
  font-size: 12.5px; line-height: 22px; }
.listing td.arcs { padding: 0; vertical-align: top; } .listing td.n { color: var(--quiet); text-align: right; }
.listing tr:first-child td { height: 0; } .listing code { display: block; height: 22px; line-height: 22px; }
.listing tr.placed td { color: var(--copy); } .listing tr.reason td { color: var(--quiet); font-style: italic; }
svg .dot { fill: var(--copy); }
)css";

}  // namespace

std::string html_escaped(std::string_view text) {
  std::string out;
  for (char c : text) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      default:
        out += c;
    }
  }
  return out;
}

std::string html_page(std::string_view title, std::string_view body) {
  return fmt::format(
      "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>{0}</title>\n<style>{1}</style>\n</head>\n"
      "<body>\n<h1>{0}</h1>\n{2}</body>\n</html>\n",
      html_escaped(title), kStyle, body);
}

std::string with_commas(std::int64_t number) {
  std::string digits = std::to_string(number);
  for (std::int64_t at = static_cast<std::int64_t>(digits.size()) - 3; at > (number < 0 ? 1 : 0); at -= 3) {
    digits.insert(static_cast<std::size_t>(at), ",");
  }
  return digits;
}

}  // namespace writeback::impl
