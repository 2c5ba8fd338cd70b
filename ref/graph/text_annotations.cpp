#include "ref/graph/text_annotations.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <unordered_map>
#include <unordered_set>

namespace writeback::text {
namespace {

constexpr std::string_view kAlias = "# alias:", kShare = "# share_alloc:", kBorn = "# born_in:", kSchema = "# schema:",
                           kOptions = "# options:";
constexpr std::array kAnnotations{kAlias, kShare, kBorn, kSchema, kOptions};

using Values = std::unordered_map<std::string_view, ValueId>;

std::vector<std::string_view> words_of(std::string_view text) {
  std::vector<std::string_view> words;
  for (Cursor cursor(text); !cursor.at_end();) {
    cursor.skip_space();
    const std::size_t begin = cursor.position();
    while (!cursor.at_end() && !is_blank(cursor.peek())) cursor.advance();
    if (cursor.position() > begin) words.push_back(cursor.since(begin));
  }
  return words;
}

/// Reads one annotation line; errors are placed in the whole text.
class AnnotationReader {
 public:
  AnnotationReader(const CommentLine& line, const Cursor& text, const Values& values, Program& program)
      : program_(program), values_(values), cursor_(text.text().substr(0, line.position + line.text.size()), line.position) {}

  void read() {
    if (cursor_.take(kAlias)) return alias();
    if (cursor_.take(kShare)) return share_allocation();
    if (cursor_.take(kBorn)) return birth();
    if (!cursor_.take(kOptions)) return;
    for (const std::string_view word : words_of(cursor_.rest())) program_.options.emplace_back(word);
  }

 private:
  void alias() {
    const ValueId first = placeholder();
    cursor_.skip_blanks();
    if (cursor_.take('=')) return region(first);
    std::vector<AliasMember>& group = group_of(first);
    while (!cursor_.at_end()) {
      join(group, {placeholder(), std::nullopt});
      cursor_.skip_blanks();
    }
  }

  void region(ValueId member) {
    const ValueId base = placeholder();
    AliasMember::Geometry geometry;
    cursor_.expect('[', "before the offset");
    geometry.offset = number();
    cursor_.skip_blanks();
    cursor_.expect(';', "after the offset");
    geometry.sizes = numbers(';');
    geometry.strides = numbers(']');
    if (geometry.sizes.size() != geometry.strides.size()) cursor_.fail("as many strides as sizes before it");
    std::vector<AliasMember>& group = group_of(base);
    if (member != base) return join(group, {member, std::move(geometry)});
    const auto own = std::find_if(group.begin(), group.end(), [&](const AliasMember& m) { return m.value == base; });
    if (own->geometry && own->geometry != geometry) cursor_.fail("one region for '" + program_.graph.name_of(base) + "' before it");
    own->geometry = std::move(geometry);
  }

  void share_allocation() {
    const NodeId of = node();
    const std::size_t begin = cursor_.position();
    const std::int64_t argument = number();
    if (argument < 0 || argument > 0xFFFF) cursor_.fail_at(begin, "expected the index of a positional argument after the node");
    program_.share_allocations.push_back({of, static_cast<std::uint32_t>(argument)});
  }

  void birth() {
    const NodeId born = node();
    program_.births.push_back({born, placeholder()});
  }

  NodeId node() {
    cursor_.skip_blanks();
    const std::size_t begin = cursor_.position();
    const std::string_view name = cursor_.name();
    const auto value = values_.find(name);
    if (value != values_.end() && !program_.graph.is_placeholder(value->second)) return program_.graph.producer_of(value->second);
    cursor_.fail_at(begin, "expected a node of the program, found '" + std::string(name) + "'");
  }

  ValueId placeholder() {
    cursor_.skip_blanks();
    const std::size_t begin = cursor_.position();
    const std::string_view name = cursor_.name();
    const auto value = values_.find(name);
    if (value != values_.end() && program_.graph.is_placeholder(value->second)) return value->second;
    cursor_.fail_at(begin, "expected a placeholder of the program, found '" + std::string(name) + "'");
  }

  std::int64_t number() {
    cursor_.skip_blanks();
    std::int64_t result = 0;
    const std::string_view rest = cursor_.rest();
    const auto read = std::from_chars(rest.data(), rest.data() + rest.size(), result);
    if (read.ec != std::errc()) cursor_.fail("a number");
    cursor_.advance(static_cast<std::size_t>(read.ptr - rest.data()));
    return result;
  }

  std::vector<std::int64_t> numbers(char close) {
    std::vector<std::int64_t> result;
    for (cursor_.skip_blanks(); !cursor_.take(close); cursor_.skip_blanks()) {
      result.push_back(number());
      cursor_.skip_blanks();
      cursor_.take(',');
    }
    return result;
  }

  std::vector<AliasMember>& group_of(ValueId value) {
    for (auto& group : program_.alias_groups) {
      for (const AliasMember& member : group) {
        if (member.value == value) return group;
      }
    }
    return program_.alias_groups.emplace_back(1, AliasMember{value, std::nullopt});
  }

  void join(std::vector<AliasMember>& group, AliasMember member) {
    for (const auto& other : program_.alias_groups) {
      for (const AliasMember& known : other) {
        if (known.value != member.value) continue;
        if (&other == &group && known == member) return;
        cursor_.fail_at(cursor_.position(), "expected one alias line for '" + program_.graph.name_of(member.value) + "'");
      }
    }
    group.push_back(std::move(member));
  }

  Program& program_;
  const Values& values_;
  Cursor cursor_;
};

Values values_of(const Graph& graph) {
  Values values;
  for (std::size_t v = 0; v < graph.value_count(); ++v) values.try_emplace(graph.name_of(value_id(v)), value_id(v));
  return values;
}

void append_numbers(std::string& line, const std::vector<std::int64_t>& numbers) {
  for (std::size_t i = 0; i < numbers.size(); ++i) line.append(i == 0 ? "" : ", ").append(std::to_string(numbers[i]));
}

void append_group(std::vector<std::string>& lines, const Graph& graph, const std::vector<AliasMember>& group) {
  if (group.empty()) return;
  const auto whole = std::find_if(group.begin(), group.end(), [](const AliasMember& m) { return !m.geometry; });
  const AliasMember& root = whole == group.end() ? group.front() : *whole;
  std::string same(kAlias);
  std::size_t count = 0;
  for (const AliasMember& member : group) {
    if (!member.geometry) same.append(" ").append(graph.name_of(member.value)), ++count;
  }
  if (count > 1) lines.push_back(std::move(same));
  for (const AliasMember& member : group) {
    if (!member.geometry) continue;
    std::string line = std::string(kAlias) + " " + graph.name_of(member.value) + " = " + graph.name_of(root.value) + "[";
    line += std::to_string(member.geometry->offset) + "; ";
    append_numbers(line, member.geometry->sizes);
    line += "; ";
    append_numbers(line, member.geometry->strides);
    lines.push_back(line + "]");
  }
}

bool is_annotation(std::string_view line) {
  return std::any_of(kAnnotations.begin(), kAnnotations.end(), [&](std::string_view head) { return line.starts_with(head); });
}

/// The program's annotations, each line in one spelling.
std::vector<std::string> own_lines(const Program& program) {
  std::vector<std::string> lines;
  if (!program.options.empty()) {
    std::string line(kOptions);
    for (const std::string& word : program.options) line.append(" ").append(word);
    lines.push_back(std::move(line));
  }
  for (const std::string& schema : program.schemas) lines.push_back(std::string(kSchema) + " " + schema);
  for (const auto& group : program.alias_groups) append_group(lines, program.graph, group);
  for (const ShareAllocation& share : program.share_allocations) {
    lines.push_back(std::string(kShare) + " " + program.graph.node(share.node).name + " " + std::to_string(share.argument));
  }
  for (const Birth& birth : program.births) {
    lines.push_back(std::string(kBorn) + " " + program.graph.node(birth.node).name + " " + program.graph.name_of(birth.target));
  }
  return lines;
}

}  // namespace

std::vector<std::string> schema_lines(const std::vector<CommentLine>& lines) {
  std::vector<std::string> schemas;
  for (const CommentLine& line : lines) {
    if (line.text.starts_with(kSchema)) schemas.emplace_back(trimmed(line.text.substr(kSchema.size())));
  }
  return schemas;
}

void read_annotations(const std::vector<CommentLine>& lines, const Cursor& text, Program& program) {
  const bool any = std::any_of(lines.begin(), lines.end(), [](const CommentLine& line) { return is_annotation(line.text); });
  const Values values = any ? values_of(program.graph) : Values{};
  program.schemas = schema_lines(lines);
  for (const CommentLine& line : lines) {
    AnnotationReader(line, text, values, program).read();
    program.leading_comments.emplace_back(line.text);
  }
}

std::vector<std::string> annotation_lines(const Program& program) {
  const std::vector<std::string> own = own_lines(program);
  const std::unordered_set<std::string_view> true_lines(own.begin(), own.end());
  std::unordered_set<std::string_view> printed;
  std::vector<std::string> result;
  for (const std::string& line : program.leading_comments) {
    if (is_annotation(line) && (!true_lines.contains(line) || !printed.insert(line).second)) continue;
    result.push_back(line);
  }
  for (const std::string& line : own) {
    if (printed.insert(line).second) result.push_back(line);
  }
  return result;
}

}  // namespace writeback::text
