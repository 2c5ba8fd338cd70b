// The printer: print(ExportedProgram) of torch 2.13, byte for byte, with our annotations in comment lines in front.
//
// Deletions (`;  b_a = None`) follow from the uses, by the rule of torch.fx: walking the nodes backwards, the first use met is a
// value's last; a node's statement ends with the values that it uses last, and with its own where nothing uses it.
#include <algorithm>
#include <map>
#include <optional>
#include <span>

#include "ref/graph/text.h"
#include "ref/graph/text_annotations.h"
#include "ref/graph/text_cursor.h"
#include "ref/graph/text_meta.h"
#include "ref/graph/text_signature.h"
#include "ref/graph/text_target.h"
#include "ref/graph/text_value.h"

namespace writeback {
namespace {

/// `File "model.py", line 7, in forward` and the code in the next line: the frame of a stack trace that torch shows.
std::optional<std::string> frame_at(std::string_view line, std::string_view code) {
  constexpr std::string_view kFile = "File \"", kLine = "\", line ", kIn = ", in ";
  const std::size_t line_at = line.rfind(kLine), in_at = line.find(kIn, line_at == std::string_view::npos ? line.size() : line_at);
  if (!line.starts_with(kFile) || line_at == std::string_view::npos || in_at == std::string_view::npos) return std::nullopt;
  const std::string_view file = line.substr(kFile.size(), line_at - kFile.size());
  const std::string_view number = line.substr(line_at + kLine.size(), in_at - line_at - kLine.size());
  std::string result = "# File: ";
  result.append(file).append(":").append(number).append(" in ").append(line.substr(in_at + kIn.size()));
  return result.append(", code: ").append(code);
}

/// The innermost frame stands last.
std::string stack_trace_comment(const Node& node) {
  const auto trace = node.metadata.find("stack_trace");
  std::string_view text = trace == node.metadata.end() ? std::string_view{} : text::trimmed(trace->second);
  for (std::string_view code; !text.empty();) {
    const std::size_t end = text.rfind('\n');
    const std::string_view line = text::trimmed(end == std::string_view::npos ? text : text.substr(end + 1));
    if (const auto frame = code.data() == nullptr ? std::nullopt : frame_at(line, code)) return *frame;
    code = line.data() == nullptr ? std::string_view("") : line;
    text = end == std::string_view::npos ? std::string_view{} : text.substr(0, end);
  }
  return "# No stacktrace found for following nodes";
}

/// For each node the values that it uses last, flat: those of later nodes stand before those of earlier ones.
class LastUses {
 public:
  explicit LastUses(const Graph& graph) : end_(graph.nodes.size() + 1) {
    std::vector<bool> used(graph.value_count(), false);
    const auto use = [&](ValueId v) {
      if (!used[index_of(v)]) values_.push_back(v);
      used[index_of(v)] = true;
    };
    for (const Argument& output : graph.outputs) for_each_value(output, use);
    end_[graph.nodes.size()] = values_.size();
    for (std::size_t n = graph.nodes.size(); n-- > 0;) {
      const ValueId own = graph.result_of(node_id(n));
      for (const Argument& a : graph.nodes[n].args) for_each_value(a, use);
      for (const KeywordArgument& a : graph.nodes[n].kwargs) for_each_value(a.value, use);
      if (!used[index_of(own)]) values_.push_back(own);
      end_[n] = values_.size();
    }
  }
  std::span<const ValueId> of(std::size_t n) const { return std::span(values_).subspan(end_[n + 1], end_[n] - end_[n + 1]); }

 private:
  std::vector<ValueId> values_;
  std::vector<std::size_t> end_;
};

class GraphPrinter {
 public:
  GraphPrinter(std::string& out, const Program& program, const Graph& graph, std::size_t indentation)
      : out_(out), program_(program), graph_(graph), indent_(indentation, ' '), last_uses_(graph) {
    commented_ = std::any_of(graph.nodes.begin(), graph.nodes.end(), [](const Node& n) { return !n.comments.empty(); });
    for (const Placeholder& p : graph.placeholders) {
      if (text::is_reserved_in_python(p.name)) renamed_.emplace(p.name, p.name + "_1");
    }
  }

  void print() {
    out_.append(indent_).append("class ").append(graph_.class_name).append("(torch.nn.Module):\n");
    indent_ += "    ";
    parameters();
    indent_ += "    ";
    for (const auto& [name, renamed] : renamed_) out_.append(indent_).append(renamed).append(" = ").append(name).append("\n");
    for (std::size_t n = 0; n < graph_.nodes.size(); ++n) {
      comments(graph_.nodes[n], n == 0 && renamed_.empty());
      statement(graph_.nodes[n], n);
    }
    result();
    for (const Subgraph& subgraph : graph_.subgraphs) {
      out_ += "    \n";
      GraphPrinter(out_, program_, subgraph.graph, indent_.size() - 4).print();
    }
  }

 private:
  void parameters() {
    out_.append(indent_).append("def forward(self");
    for (const Placeholder& placeholder : graph_.placeholders) {
      out_.append(", ").append(placeholder.name);
      const TensorMeta* tensor = tensor_meta(placeholder.meta);
      const bool strided = tensor != nullptr && !text::may_be_contiguous(*tensor);
      annotation(placeholder.meta, strided ? text::Strides::printed : text::Strides::omitted);
    }
    out_ += "):\n";
  }

  void annotation(const ValueMeta& meta, text::Strides strides) {
    if (std::holds_alternative<std::monostate>(meta)) return;
    out_ += ": \"";
    text::print_meta(out_, meta, strides);
    out_ += '"';
  }

  /// Comments that were read are printed as they were; a graph without any gets those that torch makes of the stack traces.
  void comments(const Node& node, bool first) {
    const bool picks = program_.target(node).is_getitem() && !node.metadata.contains("stack_trace");  // archives do not keep it
    if (!commented_ && picks && !last_summary_.empty()) return;
    const std::string summary = commented_ ? std::string() : stack_trace_comment(node);
    if (commented_ ? node.comments.empty() : summary == last_summary_) return;
    if (!first) out_ += "    \n";
    if (!commented_) out_.append(indent_).append(summary).append("\n");
    for (const std::string& comment : node.comments) out_.append(indent_).append(comment).append("\n");
    last_summary_ = summary;
  }

  void statement(const Node& node, std::size_t n) {
    out_.append(indent_).append(node.name);
    annotation(node.meta, text::Strides::omitted);
    out_ += " = ";
    expression(node);
    const auto last = last_uses_.of(n);
    if (!last.empty()) out_ += ";  ";
    for (const ValueId v : last) out_.append(name_of(v)).append(" = ");
    if (!last.empty()) out_ += "None";
    if (!node.trailing_comment.empty()) out_.append("  ").append(node.trailing_comment);
    out_ += '\n';
  }

  void expression(const Node& node) {
    const Target& target = program_.target(node);
    if (node.kind == Node::Kind::get_attr) return void(out_ += text::print_attribute(target.name));
    if (node.kwargs.empty() && operation(node, target)) return;
    out_.append(spelled(node.target)).append("(");
    for (const Argument& a : node.args) {
      if (&a != &node.args.front()) out_ += ", ";
      value(a);
    }
    for (const KeywordArgument& a : node.kwargs) {
      if (!node.args.empty() || &a != &node.kwargs.front()) out_ += ", ";
      out_.append(a.name).append(" = ");
      value(a.value);
    }
    out_ += ')';
  }

  /// `a[0]`, `a + b`, `-a`; false where the node is printed as a call.
  bool operation(const Node& node, const Target& target) {
    if (target.is_getitem() && node.args.size() == 2) {
      value(node.args[0]);
      out_ += '[';
      value(node.args[1]);
      out_ += ']';
      return true;
    }
    const text::PythonOperator* op = text::operator_of(target);
    if (op == nullptr || node.args.size() != (op->unary ? 1 : 2)) return false;
    if (op->unary) out_ += op->symbol;
    value(node.args[0]);
    if (op->unary) return true;
    out_.append(" ").append(op->symbol).append(" ");
    value(node.args[1]);
    return true;
  }

  const std::string& spelled(TargetId id) {
    if (spelled_.size() < program_.targets.size()) spelled_.resize(program_.targets.size());
    std::string& text = spelled_[index_of(id)];
    if (text.empty()) text = text::print_target(program_.targets[index_of(id)]);
    return text;
  }

  void value(const Argument& a) { text::print_value(out_, a, name_of_); }

  const std::string& name_of(ValueId v) const {
    const std::string& name = graph_.name_of(v);
    if (renamed_.empty() || !graph_.is_placeholder(v)) return name;
    const auto found = renamed_.find(name);
    return found == renamed_.end() ? name : found->second;
  }

  void result() {
    for (const std::string& comment : graph_.closing_comments) out_.append(indent_).append(comment).append("\n");
    out_.append(indent_).append("return ");
    if (graph_.returns_bare_value && graph_.outputs.size() == 1)
      value(graph_.outputs.front());
    else
      value(ListArgument{graph_.outputs, !graph_.returns_list});
    out_ += '\n';
  }

  std::string& out_;
  const Program& program_;
  const Graph& graph_;
  std::string indent_;
  LastUses last_uses_;
  bool commented_ = false;
  std::string last_summary_;
  std::map<std::string, std::string> renamed_;  // placeholders whose name Python has
  std::vector<std::string> spelled_;
  const text::NameOf name_of_ = [this](ValueId v) -> const std::string& { return name_of(v); };
};

}  // namespace

std::string print_text(const Program& program) {
  std::string out;
  for (const std::string& line : text::annotation_lines(program)) out.append(line).append("\n");
  out += "ExportedProgram:\n";
  GraphPrinter(out, program, program.graph, 4).print();
  out += "    \n";
  text::print_signature(out, program);
  text::print_ranges(out, program);
  return out;
}

}  // namespace writeback
