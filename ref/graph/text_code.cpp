#include "ref/graph/text_code.h"

#include <unordered_map>

#include "ref/graph/text_meta.h"
#include "ref/graph/text_value.h"

namespace writeback::text {
namespace {

constexpr int kDeepest = 64;  // classes inside classes

std::size_t indentation(std::string_view line) {
  const std::size_t blanks = line.find_first_not_of(" \t");
  return blanks == std::string_view::npos ? line.size() : blanks;
}

class ClassReader {
 public:
  ClassReader(Cursor& cursor, TargetTable& targets, int depth) : cursor_(cursor), targets_(targets), depth_(depth) {
    if (depth > kDeepest) cursor.fail("classes at most " + std::to_string(kDeepest) + " deep");
  }

  Graph read() {
    const std::size_t own = indentation(cursor_.this_line());
    head();
    while (!cursor_.at_end()) {
      const std::string_view line = cursor_.this_line();
      const std::string_view words = trimmed(line);
      if (words.empty()) {
        cursor_.next_line();
        continue;
      }
      if (returned_ && !(words.starts_with("class ") && indentation(line) > own)) break;
      body_line(words);
    }
    if (!returned_) cursor_.fail("'return' before the end of the code: the text seems cut");
    return std::move(graph_);
  }

 private:
  void head() {
    cursor_.skip_blanks();
    if (!cursor_.take("class ")) cursor_.fail("'class'");
    graph_.class_name = std::string(cursor_.take("<lambda>") ? "<lambda>" : cursor_.name());
    cursor_.next_line();
  }

  void body_line(std::string_view words) {
    if (words.front() == '#') {
      comments_.emplace_back(words);
      cursor_.next_line();
    } else if (words.starts_with("class ")) {
      Graph subgraph = ClassReader(cursor_, targets_, depth_ + 1).read();
      graph_.subgraphs.push_back({subgraph.class_name, std::move(subgraph)});
    } else if (words.starts_with("def ")) {
      parameters();
    } else if (words == "return" || words.starts_with("return ") || words.starts_with("return(")) {
      result();
    } else {
      statement();
    }
  }

  void parameters() {
    cursor_.skip_blanks();
    cursor_.take("def ");
    cursor_.name();
    cursor_.expect('(', "after the name of the function");
    for (cursor_.skip_space(); !cursor_.take(')'); cursor_.skip_space()) {
      const std::size_t begin = cursor_.position();
      const std::string_view name = cursor_.name();
      if (name.empty()) cursor_.fail("a parameter or ')'");
      ValueMeta meta = annotation();
      cursor_.skip_space();
      if (!cursor_.take(',') && cursor_.peek() != ')') cursor_.fail("',' or ')' after a parameter");
      if (name == "self") continue;
      define(name, begin);
      graph_.placeholders.push_back({std::string(name), std::move(meta)});
    }
    cursor_.next_line();
  }

  /// What stands behind a name and its colon; the cursor behind it.
  ValueMeta annotation() {
    cursor_.skip_blanks();
    if (!cursor_.take(':')) return {};
    cursor_.skip_blanks();
    const std::size_t begin = cursor_.position();
    if (cursor_.take('"')) {
      while (!cursor_.at_end() && cursor_.peek() != '"' && cursor_.peek() != '\n') cursor_.advance();
      const std::string_view quoted = cursor_.since(begin + 1);
      cursor_.expect('"', "at the end of the annotation");
      return read_meta(quoted);
    }
    int open = 0;
    for (; !cursor_.at_end() && cursor_.peek() != '\n'; cursor_.advance()) {
      const char c = cursor_.peek();
      if (open == 0 && (c == ',' || c == '=' || c == ')' || c == ';')) break;
      if (c == '[' || c == '(') ++open;
      if (c == ']' || c == ')') --open;
    }
    return read_meta(cursor_.since(begin));
  }

  void define(std::string_view name, std::size_t position) {
    const auto value = value_id(names_.size());
    if (!names_.try_emplace(name, value).second) {
      cursor_.fail_at(position, "expected a new name, but '" + std::string(name) + "' is defined before");
    }
  }

  void statement() {
    cursor_.skip_blanks();
    const std::size_t begin = cursor_.position();
    const std::string_view name = cursor_.name();
    if (name.empty()) cursor_.fail("a statement 'name = ...'");
    Node& node = graph_.nodes.emplace_back();
    node.name = name;
    node.comments = std::move(comments_);
    comments_.clear();
    node.meta = annotation();
    cursor_.skip_blanks();
    cursor_.expect('=', "after the name of a node");
    cursor_.skip_blanks();
    expression(node);
    define(name, begin);
    end_of_statement(node);
  }

  void expression(Node& node) {
    const std::size_t begin = cursor_.position();
    const std::string_view callee = cursor_.dotted_name();
    if (!callee.empty() && cursor_.peek() == '(') {
      node.target = targets_.find(callee);
      arguments(node);
    } else if (callee.starts_with("self.")) {
      node.kind = Node::Kind::get_attr;
      node.target = targets_.find(callee.substr(5));
    } else {
      cursor_.move_to(begin);
      operation(node);
    }
  }

  /// `a[0]`, `a + b`, `-a`.
  void operation(Node& node) {
    if (const PythonOperator* prefix = prefix_at(cursor_.rest()); prefix != nullptr && !is_digit(cursor_.peek(1))) {
      cursor_.advance();
      node.args.push_back(read_value(cursor_, scope_));
      node.target = targets_.find_operator(prefix->function);
      return;
    }
    node.args.push_back(read_value(cursor_, scope_));
    if (cursor_.take('[')) {
      node.target = targets_.find_operator("getitem");
      node.args.push_back(read_value(cursor_, scope_));
      cursor_.skip_space();
      return cursor_.expect(']', "after the index");
    }
    cursor_.skip_blanks();
    const PythonOperator* infix = infix_at(cursor_.rest());
    if (infix == nullptr) cursor_.fail("'(', '[' or an operator");
    cursor_.advance(infix->symbol.size());
    node.target = targets_.find_operator(infix->function);
    node.args.push_back(read_value(cursor_, scope_));
  }

  void arguments(Node& node) {
    cursor_.advance();
    bool comma = true;
    for (cursor_.skip_space(); !cursor_.take(')'); cursor_.skip_space()) {
      if (!comma) cursor_.fail("',' or ')' between arguments");
      const std::size_t begin = cursor_.position();
      const std::string_view key = cursor_.name();
      cursor_.skip_blanks();
      if (!key.empty() && cursor_.peek() == '=' && cursor_.peek(1) != '=') {
        cursor_.advance();
        node.kwargs.push_back({std::string(key), read_value(cursor_, scope_)});
      } else {
        cursor_.move_to(begin);
        node.args.push_back(read_value(cursor_, scope_));
      }
      cursor_.skip_space();
      comma = cursor_.take(',');
    }
  }

  /// Deletions (they follow from the uses and are not kept) and a comment.
  void end_of_statement(Node& node) {
    cursor_.skip_blanks();
    if (cursor_.peek() == ';') {
      while (!cursor_.at_end() && cursor_.peek() != '\n' && cursor_.peek() != '#') cursor_.advance();
    }
    if (cursor_.peek() == '#')
      node.trailing_comment = trimmed(cursor_.this_line());
    else if (!cursor_.at_end() && cursor_.peek() != '\n')
      cursor_.fail("';' or the end of the line after a statement");
    cursor_.next_line();
  }

  void result() {
    cursor_.skip_blanks();
    cursor_.take("return");
    Argument value = read_value(cursor_, scope_);
    if (auto* list = std::get_if<ListArgument>(&value); list != nullptr) {
      graph_.outputs = std::move(list->items);
    } else {
      graph_.returns_bare_value = true;
      graph_.outputs.push_back(std::move(value));
    }
    graph_.closing_comments = std::move(comments_);
    comments_.clear();
    returned_ = true;
    cursor_.next_line();
  }

  Cursor& cursor_;
  TargetTable& targets_;
  int depth_;
  Graph graph_;
  std::vector<std::string> comments_;
  bool returned_ = false;
  std::unordered_map<std::string_view, ValueId> names_;
  const Scope scope_ = [this](std::string_view name) -> std::optional<ValueId> {
    const auto found = names_.find(name);
    if (found == names_.end()) return std::nullopt;
    return found->second;
  };
};

}  // namespace

Graph read_class(Cursor& cursor, TargetTable& targets) { return ClassReader(cursor, targets, 0).read(); }

}  // namespace writeback::text
