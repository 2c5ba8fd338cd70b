#include "ref/graph/text_graph.h"

#include <algorithm>
#include <charconv>

#include "ref/graph/text_meta.h"
#include "ref/graph/text_source.h"
#include "ref/graph/text_value.h"

namespace writeback::text {
namespace {

constexpr int kDeepest = 64;

class GraphReader {
 public:
  GraphReader(Cursor& cursor, TargetTable& targets, Warnings& warnings, int depth)
      : cursor_(cursor), targets_(targets), warnings_(warnings), depth_(depth) {
    if (depth > kDeepest) cursor.fail("graphs at most " + std::to_string(kDeepest) + " deep");
  }

  Graph read() {
    if (kind_of_line(trimmed(cursor_.this_line())) == LineKind::graph) cursor_.next_line();
    while (!cursor_.at_end() && !returned_) {
      cursor_.skip_blanks();
      const std::string_view words = trimmed(cursor_.this_line());
      if (words.starts_with('%'))
        node();
      else if (words == "return" || words.starts_with("return "))
        result();
      else if (words.starts_with("lowered graph()"))
        lowered();
      else if (words.empty() || words.starts_with('#') || words.starts_with("backend_id:"))
        cursor_.next_line();
      else if (words == "...")
        warnings_.add(cursor_, "lines are cut here ('...')"), cursor_.next_line();
      else
        break;
    }
    if (!returned_) return_unused();
    check_users();
    return std::move(graph_);
  }

 private:
  /// `%name : type [num_users=1] = opcode[target=t](args = (...), kwargs = {...})`
  void node() {
    line_ = cursor_.position();
    cursor_.advance();
    const std::string_view name = cursor_.name();
    if (name.empty()) cursor_.fail("a name after '%'");
    ValueMeta meta = head();
    const std::string_view opcode = cursor_.name();
    if (!cursor_.take("[target=")) cursor_.fail("an opcode and '[target='");
    const std::string_view target = bracketed();
    if (opcode == "placeholder" || opcode == "PlaceHolder") return placeholder(name, std::move(meta));
    Node node;
    node.name = name;
    node.meta = std::move(meta);
    if (opcode != "call_function" && !is_attribute_path(target))
      cursor_.fail_at(line_, "expected the path of an attribute as target");
    if (opcode == "get_attr") {
      node.kind = Node::Kind::get_attr;
      node.target = targets_.find(python_target(std::string(target)));
    } else if (opcode == "call_function") {
      if (!is_dotted_name(target)) cursor_.fail_at(line_, "expected the dotted name of a function as target");
      node.target = targets_.find(target);
      arguments(node);
    } else if (opcode == "call_module" || opcode == "call_method") {
      warnings_.add(cursor_, line_, "a " + std::string(opcode) + " is opaque");
      node.target = targets_.find(python_target((opcode == "call_module" ? "self." : "torch.Tensor.") + std::string(target)));
      arguments(node);
    } else {
      cursor_.fail_at(line_, "expected placeholder, get_attr or call_function, found '" + std::string(opcode) + "'");
    }
    define(name);
    graph_.nodes.push_back(std::move(node));
    cursor_.next_line();
  }

  /// Between the name and the opcode: `: type "f32[4]" [num_users=1] =` or `:=`.
  ValueMeta head() {
    cursor_.skip_blanks();
    cursor_.expect(':', "after the name of a node");
    ValueMeta meta;
    users_.push_back(kNotTold);
    for (cursor_.skip_blanks(); !cursor_.take('='); cursor_.skip_blanks()) {
      if (cursor_.at_end() || cursor_.peek() == '\n') cursor_.fail("'=' after the name of a node");
      if (cursor_.peek() == '"')
        meta = read_meta(read_string(cursor_));
      else if (cursor_.take("[num_users=") || cursor_.take("[#users="))
        users_.back() = count();
      else
        cursor_.advance();
    }
    cursor_.skip_blanks();
    return meta;
  }

  std::uint32_t count() {
    std::uint32_t number = kNotTold;
    const std::string_view rest = cursor_.this_line();
    cursor_.advance(static_cast<std::size_t>(std::from_chars(rest.data(), rest.data() + rest.size(), number).ptr - rest.data()));
    cursor_.expect(']', "after a count of users");
    return number;
  }

  /// Up to the ']' that matches.
  std::string_view bracketed() {
    const std::size_t begin = cursor_.position();
    for (int open = 1; !cursor_.at_end() && cursor_.peek() != '\n'; cursor_.advance()) {
      if (cursor_.peek() == '[') ++open;
      if (cursor_.peek() != ']' || --open > 0) continue;
      const std::string_view inside = cursor_.since(begin);
      cursor_.advance();
      return inside;
    }
    cursor_.fail("']' after a target");
  }

  void placeholder(std::string_view name, ValueMeta meta) {
    if (!graph_.nodes.empty()) cursor_.fail_at(line_, "expected the placeholders before all nodes");
    define(name);
    graph_.placeholders.push_back({std::string(name), std::move(meta)});
    cursor_.next_line();
  }

  void define(std::string_view name) {
    if (!names_.add(name, value_id(graph_.value_count()))) {
      cursor_.fail_at(line_, "expected a new name, but '" + std::string(name) + "' is defined before");
    }
  }

  void arguments(Node& node) {
    if (!cursor_.take("(args = ")) cursor_.fail("'(args = '");
    Argument args = read_value(cursor_, context_);
    auto* list = std::get_if<ListArgument>(&args);
    if (list == nullptr) cursor_.fail("a tuple of arguments before it");
    node.args = std::move(list->items);
    cursor_.skip_blanks();
    if (cursor_.take(", kwargs = ")) {
      Argument kwargs = read_value(cursor_, context_);
      auto* dict = std::get_if<DictArgument>(&kwargs);
      if (dict == nullptr) cursor_.fail("a dict of arguments before it");
      for (auto& [key, value] : dict->items) {
        if (!is_dotted_name(key)) cursor_.fail("names as keys of the arguments before it");
        node.kwargs.push_back({std::move(key), std::move(value)});
      }
    }
    cursor_.expect(')', "after the arguments");
  }

  void lowered() {
    cursor_.next_line();
    const std::size_t n = graph_.nodes.size();
    if (n == 0 || graph_.nodes[n - 1].kind != Node::Kind::get_attr) cursor_.fail("a lowered module before its graph");
    Graph graph = GraphReader(cursor_, targets_, warnings_, depth_ + 1).read();
    graph_.subgraphs.push_back({graph_.nodes[n - 1].name, std::move(graph)});
  }

  void result() {
    cursor_.take("return");
    cursor_.skip_blanks();
    const ValueContext plain{names_, cursor_.peek() == '%' ? Spelling::graph : Spelling::python, warnings_};
    Argument value = read_value(cursor_, plain);
    if (auto* list = std::get_if<ListArgument>(&value)) {
      graph_.returns_list = !list->tuple;
      graph_.outputs = std::move(list->items);
    } else {
      graph_.returns_bare_value = true;
      graph_.outputs.push_back(std::move(value));
    }
    returned_ = true;
    cursor_.next_line();
  }

  /// A fragment has no `return`: it gives what it does not use itself.
  void return_unused() {
    warnings_.add("the graph has no 'return': values that nothing uses were taken as outputs");
    const std::vector<std::uint32_t> users = user_counts(graph_);
    for (std::size_t v = graph_.placeholders.size(); v < users.size(); ++v) {
      if (users[v] == 0) graph_.outputs.emplace_back(value_id(v));
    }
    users_.clear();
  }

  void check_users() {
    const std::vector<std::uint32_t> users = user_counts(graph_);
    for (std::size_t v = 0; v < users_.size() && v < users.size(); ++v) {
      if (users_[v] == kNotTold || users_[v] == users[v]) continue;
      warnings_.add("%" + graph_.name_of(value_id(v)) + " has num_users=" + std::to_string(users_[v]) + " but " +
                    std::to_string(users[v]) + " are there: the text seems cut");
      return;
    }
  }

  static constexpr std::uint32_t kNotTold = UINT32_MAX;

  Cursor& cursor_;
  TargetTable& targets_;
  Warnings& warnings_;
  int depth_;
  Graph graph_;
  bool returned_ = false;
  std::size_t line_ = 0;  // where the node at hand begins
  std::vector<std::uint32_t> users_;
  Names names_;
  const ValueContext context_{names_, Spelling::graph, warnings_};
};

}  // namespace

std::vector<std::uint32_t> user_counts(const Graph& graph) {
  std::vector<std::uint32_t> counts(graph.value_count(), 0), last(graph.value_count(), UINT32_MAX);
  for (std::size_t n = 0; n <= graph.nodes.size(); ++n) {
    const auto use = [&](ValueId v) {
      if (last[index_of(v)] == n) return;
      last[index_of(v)] = static_cast<std::uint32_t>(n);
      ++counts[index_of(v)];
    };
    if (n == graph.nodes.size()) {
      for (const Argument& a : graph.outputs) for_each_value(a, use);
      break;
    }
    for (const Argument& a : graph.nodes[n].args) for_each_value(a, use);
    for (const KeywordArgument& a : graph.nodes[n].kwargs) for_each_value(a.value, use);
  }
  return counts;
}

Graph read_graph(Cursor& cursor, TargetTable& targets, Warnings& warnings) {
  return GraphReader(cursor, targets, warnings, 0).read();
}

}  // namespace writeback::text
