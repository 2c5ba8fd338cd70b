// print_tabular: columns that start where their heads start. Names stand bare, as in code.
#include <array>

#include "ref/graph/text_graph.h"
#include "ref/graph/text_value.h"

namespace writeback::text {
namespace {

class TableReader {
 public:
  TableReader(Cursor& cursor, TargetTable& targets, Warnings& warnings) : cursor_(cursor), targets_(targets), warnings_(warnings) {}

  Graph read() {
    head();
    bool ended = false;
    for (; !cursor_.at_end() && !ended; cursor_.next_line()) {
      line_ = cursor_.position();
      const std::string_view opcode = cell(0);
      if (opcode.empty() || opcode.starts_with('-')) continue;
      ended = opcode == "output";
      if (ended)
        output();
      else
        row(opcode);
    }
    if (!ended) cursor_.fail("a row 'output': the text seems cut");
    return std::move(graph_);
  }

 private:
  void head() {
    const std::string_view line = cursor_.this_line();
    constexpr std::array kHeads{"opcode", "name", "target", "args", "kwargs"};
    std::size_t from = 0;
    for (std::size_t i = 0; i < kHeads.size(); ++i) {
      const std::size_t found = line.find(kHeads[i], from);
      if (found == std::string_view::npos) cursor_.fail("the column '" + std::string(kHeads[i]) + "'");
      columns_[i] = found;
      from = found + std::string_view(kHeads[i]).size();
    }
    columns_.back() = std::string_view::npos;
    cursor_.next_line();
  }

  std::string_view cell(std::size_t i) const {
    const std::string_view line = cursor_.this_line();
    if (columns_[i] >= line.size()) return {};
    return trimmed(line.substr(columns_[i], columns_[i + 1] - columns_[i]));
  }

  Argument value(std::size_t column) {
    const std::string_view text = cell(column);
    if (text.empty()) cursor_.fail_at(line_, "expected five columns in this row");
    // A cursor over the text up to the end of the cell, so that errors have their place.
    const std::size_t begin = static_cast<std::size_t>(text.data() - cursor_.text().data());
    Cursor inside(cursor_.text().substr(0, begin + text.size()), begin);
    return read_value(inside, ValueContext{names_, Spelling::python, warnings_});
  }

  void row(std::string_view opcode) {
    const std::string_view name = cell(1);
    if (!is_dotted_name(name) || name.find('.') != std::string_view::npos)
      cursor_.fail_at(line_, "expected a name in the second column");
    if (opcode == "placeholder") {
      if (!graph_.nodes.empty()) cursor_.fail_at(line_, "expected the placeholders before all nodes");
      define(name);
      graph_.placeholders.push_back({std::string(name), {}});
      return;
    }
    Node node;
    node.name = name;
    if (opcode == "get_attr")
      node.kind = Node::Kind::get_attr;
    else if (opcode != "call_function")
      cursor_.fail_at(line_, "expected placeholder, get_attr, call_function or output in the first column");
    if (node.kind == Node::Kind::get_attr && !is_attribute_path(cell(2)))
      cursor_.fail_at(line_, "expected the path of an attribute in the third column");
    node.target = node.kind == Node::Kind::get_attr ? targets_.find(python_target(std::string(cell(2)))) : function(cell(2));
    if (node.kind == Node::Kind::call) arguments(node);
    define(name);
    graph_.nodes.push_back(std::move(node));
  }

  void define(std::string_view name) {
    if (!names_.add(name, value_id(graph_.value_count()))) {
      cursor_.fail_at(line_, "expected a new name, but '" + std::string(name) + "' is defined before");
    }
  }

  /// `aten.add.Tensor`, `<EdgeOpOverload: aten.add.Tensor>: schema = ...`, `<built-in function getitem>`, `cond`.
  TargetId function(std::string_view text) {
    const std::string spelled = spelled_function(text);
    if (!is_dotted_name(spelled)) cursor_.fail_at(line_, "expected a function as target, found '" + std::string(text) + "'");
    return targets_.find(read_target(spelled, targets_.schemas()));
  }

  static std::string spelled_function(std::string_view text) {
    constexpr std::string_view kEdge = "<EdgeOpOverload: ", kBuiltin = "<built-in function ", kFunction = "<function ";
    const auto inside = [&](std::string_view head) {
      const std::string_view rest = text.substr(head.size());
      return std::string(rest.substr(0, rest.find_first_of("> ")));
    };
    if (text.starts_with(kEdge)) return "executorch.exir.dialects.edge._ops." + inside(kEdge);
    if (text.starts_with(kBuiltin)) return "operator." + inside(kBuiltin);
    if (text.starts_with(kFunction)) return "torch." + inside(kFunction);
    return (text.find('.') == std::string_view::npos ? "torch.ops.higher_order." : "torch.ops.") + std::string(text);
  }

  void arguments(Node& node) {
    Argument args = value(3), kwargs = value(4);
    auto* list = std::get_if<ListArgument>(&args);
    auto* dict = std::get_if<DictArgument>(&kwargs);
    if (list == nullptr || dict == nullptr) cursor_.fail_at(line_, "expected a tuple and a dict of arguments in the last columns");
    node.args = std::move(list->items);
    for (auto& [key, item] : dict->items) {
      if (!is_dotted_name(key)) cursor_.fail_at(line_, "expected names as keys of the last column");
      node.kwargs.push_back({std::move(key), std::move(item)});
    }
  }

  void output() {
    Argument args = value(3);
    auto* list = std::get_if<ListArgument>(&args);
    if (list == nullptr || list->items.size() != 1)
      cursor_.fail_at(line_, "expected a tuple of one item as the output's arguments");
    if (auto* items = std::get_if<ListArgument>(&list->items[0])) {
      graph_.returns_list = !items->tuple;
      graph_.outputs = std::move(items->items);
    } else {
      graph_.returns_bare_value = true;
      graph_.outputs.push_back(std::move(list->items[0]));
    }
  }

  Cursor& cursor_;
  TargetTable& targets_;
  Warnings& warnings_;
  Graph graph_;
  Names names_;
  std::array<std::size_t, 6> columns_{};
  std::size_t line_ = 0;
};

}  // namespace

Graph read_table(Cursor& cursor, TargetTable& targets, Warnings& warnings) { return TableReader(cursor, targets, warnings).read(); }

}  // namespace writeback::text
