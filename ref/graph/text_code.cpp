#include "ref/graph/text_code.h"

#include "ref/graph/text_meta.h"
#include "ref/graph/text_source.h"
#include "ref/graph/text_value.h"

namespace writeback::text {
namespace {

constexpr int kDeepest = 64;  // classes inside classes, getattr inside getattr

std::size_t indentation(std::string_view line) {
  const std::size_t blanks = line.find_first_not_of(" \t");
  return blanks == std::string_view::npos ? line.size() : blanks;
}

bool is_return(std::string_view words) { return words == "return" || words.starts_with("return ") || words.starts_with("return("); }

class ClassReader {
 public:
  ClassReader(Cursor& cursor, TargetTable& targets, Warnings& warnings, int depth)
      : cursor_(cursor), targets_(targets), warnings_(warnings), depth_(depth) {
    if (depth > kDeepest) cursor.fail("classes at most " + std::to_string(kDeepest) + " deep");
  }

  Graph read() {
    const std::size_t own = indentation(cursor_.this_line());
    if (!trimmed(cursor_.this_line()).starts_with("def ")) head();
    while (!cursor_.at_end()) {
      const std::string_view line = cursor_.this_line(), words = trimmed(line);
      if (returned_ && !words.empty() && !(words.starts_with("class ") && indentation(line) > own)) break;
      if (words.empty())
        cursor_.next_line();
      else
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
      Graph subgraph = ClassReader(cursor_, targets_, warnings_, depth_ + 1).read();
      graph_.subgraphs.push_back({subgraph.class_name, std::move(subgraph)});
    } else if (words.starts_with("def ") && !words.starts_with("def __init__")) {
      parameters();
    } else if (!inside_) {
      cursor_.next_line();  // imports, __init__ and attributes of a wrapped module
    } else if (is_return(words)) {
      result();
    } else if (words == "..." || words == "…") {
      warn("lines are cut here ('...')");
      cursor_.next_line();
    } else {
      statement();
    }
  }

  void warn(const std::string& message) { warnings_.add(cursor_, message); }

  void parameters() {
    comments_.clear();
    inside_ = true;
    cursor_.skip_blanks();
    cursor_.take("def ");
    cursor_.name();
    cursor_.expect('(', "after the name of the function");
    for (skip_space_and_comments(); !cursor_.take(')'); skip_space_and_comments()) parameter();
    cursor_.next_line();
  }

  void parameter() {
    const std::size_t begin = cursor_.position();
    const std::string_view name = cursor_.name();
    if (name.empty()) cursor_.fail("a parameter or ')'");
    ValueMeta meta = annotation();
    cursor_.skip_space();
    if (cursor_.take('=')) {
      read_value(cursor_, context_);
      warn("the default of '" + std::string(name) + "' is left out");
      cursor_.skip_space();
    }
    if (!cursor_.take(',') && cursor_.peek() != ')') cursor_.fail("',' or ')' after a parameter");
    if (name == "self") return;
    define(name, begin);
    graph_.placeholders.push_back({std::string(name), std::move(meta)});
  }

  void skip_space_and_comments() {
    for (cursor_.skip_space(); cursor_.peek() == '#'; cursor_.skip_space()) cursor_.rest_of_line();
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
    const auto value = value_id(graph_.value_count());
    if (!names_.add(name, value)) {
      cursor_.fail_at(position, "expected a new name, but '" + std::string(name) + "' is defined before");
    }
  }

  void statement() {
    cursor_.skip_blanks();
    const std::size_t begin = cursor_.position();
    const std::string_view name = cursor_.name();
    if (name.empty()) cursor_.fail("a statement 'name = ...'");
    Node node;
    node.meta = annotation();
    cursor_.skip_blanks();
    if (cursor_.peek() == ';') return typed_placeholders(begin);
    if (cursor_.peek() == ',') return cursor_.next_line();  // x, y, = fx_pytree.tree_flatten_spec(...)
    cursor_.expect('=', "after the name of a node");
    cursor_.skip_blanks();
    if (cursor_.looking_at("self._guards_fn(")) return cursor_.next_line();  // only checks the inputs
    if (other_name(name)) return cursor_.next_line();
    node.name = name;
    node.comments = std::move(comments_);
    comments_.clear();
    expression(node);
    end_of_statement(node);
    define(name, begin);
    graph_.nodes.push_back(std::move(node));
  }

  /// `x: "f32[4]"; y: "f32[4]";`: the leaves of the parameters, which take their place.
  void typed_placeholders(std::size_t begin) {
    if (!graph_.nodes.empty()) cursor_.fail("'=' after the name of a node");
    cursor_.move_to(begin);
    names_ = {};
    graph_.placeholders.clear();
    for (cursor_.skip_blanks(); cursor_.peek() != '\n' && !cursor_.at_end(); cursor_.skip_blanks()) {
      const std::size_t start = cursor_.position();
      const std::string_view name = cursor_.name();
      if (name.empty()) cursor_.fail("the name of a parameter");
      ValueMeta meta = annotation();
      cursor_.skip_blanks();
      cursor_.expect(';', "after a type");
      define(name, start);
      graph_.placeholders.push_back({std::string(name), std::move(meta)});
    }
    cursor_.next_line();
  }

  /// `input_1 = input`: how torch.fx avoids a name that Python has. The value keeps its first name.
  bool other_name(std::string_view name) {
    const std::size_t begin = cursor_.position();
    const auto value = names_.find(cursor_.name());
    cursor_.skip_blanks();
    const bool alone = value && (cursor_.at_end() || cursor_.peek() == '\n' || cursor_.peek() == ';');
    if (!alone) cursor_.move_to(begin);
    if (alone && !names_.add(name, *value)) cursor_.fail_at(begin, "expected a new name before it");
    return alone;
  }

  void expression(Node& node) {
    if (cursor_.looking_at("self.") || cursor_.looking_at("getattr(self") || cursor_.looking_at("getattr(getattr(")) {
      return attribute(node);
    }
    const std::size_t begin = cursor_.position();
    const std::string_view callee = cursor_.dotted_name();
    if (callee.empty() || cursor_.peek() != '(') {
      cursor_.move_to(begin);
      return operation(node);
    }
    const std::size_t dot = callee.find('.');
    const auto object = dot == std::string_view::npos ? std::nullopt : names_.find(callee.substr(0, dot));
    if (object) return method(node, *object, callee.substr(dot + 1));
    node.target = targets_.find(callee);
    arguments(node);
  }

  /// `self.true_graph_0`, `getattr(self, "0").weight`, and calls of such modules.
  void attribute(Node& node) {
    const std::string path = attribute_path(0);
    if (cursor_.peek() != '(') {
      node.kind = Node::Kind::get_attr;
      node.target = targets_.find(python_target(path));
      return;
    }
    warn("'" + path + "' is a module that the text does not show: its call is opaque");
    node.target = targets_.find(python_target("self." + path));
    arguments(node);
  }

  std::string attribute_path(int depth) {
    if (depth > kDeepest) cursor_.fail("getattr at most " + std::to_string(kDeepest) + " deep");
    std::string path;
    if (cursor_.take("getattr(")) {
      path = attribute_path(depth + 1);
      cursor_.expect(',', "in getattr");
      cursor_.skip_blanks();
      if (cursor_.peek() != '"' && cursor_.peek() != '\'') cursor_.fail("a name in quotes");
      if (!path.empty()) path += '.';
      path += read_string(cursor_);
      cursor_.expect(')', "after getattr");
    } else if (!cursor_.take("self")) {
      cursor_.fail("'self'");
    }
    while (cursor_.take('.')) path.append(path.empty() ? "" : ".").append(cursor_.name());
    return path;
  }

  void method(Node& node, ValueId object, std::string_view name) {
    warn("'." + std::string(name) + "' is a method, whose operator is not known: its call is opaque");
    node.target = targets_.find(python_target("torch.Tensor." + std::string(name)));
    node.args.emplace_back(object);
    arguments(node);
  }

  /// `a[0]`, `a + b`, `-a`.
  void operation(Node& node) {
    if (const PythonOperator* prefix = prefix_at(cursor_.rest())) {
      cursor_.advance();
      node.args.push_back(read_value(cursor_, context_));
      node.target = targets_.find_operator(prefix->function);
      return;
    }
    node.args.push_back(read_value(cursor_, context_));
    if (cursor_.take('[')) {
      node.target = targets_.find_operator("getitem");
      node.args.push_back(read_value(cursor_, context_));
      cursor_.skip_space();
      return cursor_.expect(']', "after the index");
    }
    cursor_.skip_blanks();
    const PythonOperator* infix = infix_at(cursor_.rest());
    if (infix == nullptr) cursor_.fail("'(', '[' or an operator");
    cursor_.advance(infix->symbol.size());
    node.target = targets_.find_operator(infix->function);
    node.args.push_back(read_value(cursor_, context_));
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
        node.kwargs.push_back({std::string(key), read_value(cursor_, context_)});
      } else {
        cursor_.move_to(begin);
        node.args.push_back(read_value(cursor_, context_));
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
    cursor_.skip_blanks();
    cursor_.take("pytree.tree_unflatten(");
    Argument value = read_value(cursor_, context_);
    if (auto* list = std::get_if<ListArgument>(&value); list != nullptr) {
      graph_.returns_list = !list->tuple;
      graph_.outputs = std::move(list->items);
    } else {
      graph_.returns_bare_value = true;
      graph_.outputs.push_back(std::move(value));
    }
    graph_.closing_comments = std::move(comments_);
    comments_.clear();
    returned_ = true;
    inside_ = false;
    cursor_.next_line();
  }

  Cursor& cursor_;
  TargetTable& targets_;
  Warnings& warnings_;
  int depth_;
  Graph graph_;
  std::vector<std::string> comments_;
  bool inside_ = false, returned_ = false;
  Names names_;
  const ValueContext context_{names_, Spelling::python, warnings_};
};

}  // namespace

Graph read_class(Cursor& cursor, TargetTable& targets, Warnings& warnings) {
  return ClassReader(cursor, targets, warnings, 0).read();
}

}  // namespace writeback::text
