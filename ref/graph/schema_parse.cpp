// The grammar of PyTorch's function signatures, as torchgen writes them and as torch's C++ prints them:
//
//   schema  := [ns::]name[.overload](args) -> returns
//   arg     := type name [= default]          "*" starts keyword-only arguments, "..." ends variadic ones
//   type    := base [alias] suffix* [alias]   suffix := "?" | "[]" | "[N]"; an alias behind "[]" belongs to the list
//   base    := word | (type, type, ...) | Dict(...), Future(...), RRef(...), Await(...), Union[...] and other containers
//   alias   := ( set ["!"] [-> set] ) | (!)   set := letters joined by "|" or "*"
//   returns := type [name] | ( type [name], ... ) | () | ...
//
// Defaults and container bases are kept as written: nothing here looks into them. Nesting is counted, never recursed into.
#include <fmt/format.h>

#include <cctype>

#include "ref/graph/error.h"
#include "ref/graph/schema.h"

namespace writeback {
namespace {

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }
bool opens(char c) { return c == '(' || c == '[' || c == '{'; }
bool closes(char c) { return c == ')' || c == ']' || c == '}'; }

class SchemaReader {
 public:
  explicit SchemaReader(std::string_view text) : text_(text) {}

  Schema read() {
    Schema schema;
    read_name(schema);
    expect("(");
    read_arguments(schema);
    expect("->");
    read_returns(schema);
    skip_blanks();
    if (at_ < text_.size()) fail("the end of the schema");
    return schema;
  }

 private:
  [[noreturn]] void fail(const std::string& expected) const {
    throw InputError(fmt::format("column {}", at_ + 1), fmt::format("expected {} in schema '{}'", expected, text_));
  }

  void skip_blanks() {
    while (at_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[at_])) != 0) ++at_;
  }
  bool accept(std::string_view token) {
    skip_blanks();
    if (text_.substr(at_, token.size()) != token) return false;
    at_ += token.size();
    return true;
  }
  void expect(std::string_view token) {
    if (!accept(token)) fail(fmt::format("'{}'", token));
  }
  bool next_is(char c) const { return at_ < text_.size() && text_[at_] == c; }

  /// A word, dots included where `dotted` (class names, "aten.add").
  std::string word(const char* what, bool dotted = false) {
    skip_blanks();
    const std::size_t from = at_;
    while (at_ < text_.size() && (is_word(text_[at_]) || (dotted && text_[at_] == '.'))) ++at_;
    if (at_ == from) fail(what);
    return std::string(text_.substr(from, at_ - from));
  }

  /// Text up to (not including) the first top-level character of `stops`, brackets and quotes respected.
  std::string text_until(std::string_view stops) {
    const std::size_t from = at_;
    std::size_t depth = 0;
    char quote = 0;
    for (; at_ < text_.size(); ++at_) {
      const char c = text_[at_];
      if (quote != 0) {
        if (c == '\\')
          ++at_;
        else if (c == quote)
          quote = 0;
      } else if (depth == 0 && stops.find(c) != std::string_view::npos) {
        break;
      } else if (c == '"' || c == '\'') {
        quote = c;
      } else if (opens(c)) {
        ++depth;
      } else if (closes(c)) {
        if (depth == 0) fail(fmt::format("no '{}'", c));
        --depth;
      }
    }
    if (at_ >= text_.size()) fail(fmt::format("one of '{}'", stops));
    return std::string(text_.substr(from, at_ - from));
  }

  /// A balanced bracket with its content.
  std::string bracketed() {
    const char close = next_is('(') ? ')' : ']';
    const std::size_t from = at_++;
    text_until(std::string_view(&close, 1));
    ++at_;
    return std::string(text_.substr(from, at_ - from));
  }

  void read_name(Schema& schema) {
    schema.name = word("an operator name");
    if (accept("::")) {
      schema.ns = std::move(schema.name);
      schema.name = word("an operator name");
    }
    schema.overload = accept(".") ? word("an overload name") : "default";
  }

  void read_arguments(Schema& schema) {
    bool keyword_only = false;
    for (bool first = true; !accept(")"); first = false) {
      if (!first) expect(",");
      if (accept("...")) {
        schema.variadic = true;
      } else if (accept("*")) {
        keyword_only = true;
      } else {
        SchemaArgument argument{read_type(), word("an argument name"), std::nullopt, keyword_only};
        if (accept("=")) {
          skip_blanks();
          argument.default_value = text_until(",)");
        }
        schema.arguments.push_back(std::move(argument));
      }
    }
  }

  void read_returns(Schema& schema) {
    if (accept("...")) {
      schema.variadic_returns = true;
    } else if (accept("(")) {
      for (bool first = true; !accept(")"); first = false) {
        if (!first) expect(",");
        read_return(schema);
      }
    } else {
      read_return(schema);
    }
  }

  void read_return(Schema& schema) {
    SchemaArgument result{read_type(), "", std::nullopt, false};
    skip_blanks();
    if (at_ < text_.size() && is_word(text_[at_])) result.name = word("a name");
    schema.returns.push_back(std::move(result));
  }

  SchemaType read_type() {
    SchemaType type;
    skip_blanks();
    if (next_is('(')) {
      type.base = bracketed();
    } else {
      type.base = word("a type", true);
      if (takes_parameters(type.base) && (next_is('(') || next_is('['))) type.base += bracketed();
    }
    for (;;) {
      if (next_is('?')) {
        type.suffix += text_[at_++];
      } else if (next_is('[')) {
        type.suffix += bracketed();
      } else if (next_is('(')) {
        if (type.alias) fail("one alias annotation");
        type.alias_on_list = !type.suffix.empty() && type.is_list();
        type.alias = read_alias();
      } else {
        return type;
      }
    }
  }

  static bool takes_parameters(std::string_view base) {
    for (const std::string_view container : {"Dict", "Future", "RRef", "Await", "Union", "Optional", "List", "Tuple"}) {
      if (base == container) return true;
    }
    return false;
  }

  AliasAnnotation read_alias() {
    AliasAnnotation alias;
    expect("(");
    if (!accept("!")) {
      alias.before = read_alias_set();
      alias.write = accept("!");
    } else {
      alias.write = true;
    }
    if (accept("->")) alias.after = read_alias_set();
    expect(")");
    return alias;
  }

  std::vector<std::string> read_alias_set() {
    std::vector<std::string> set;
    do {
      set.push_back(accept("*") ? "*" : word("an alias set"));
    } while (accept("|"));
    return set;
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

void append_joined(std::string& out, const std::vector<std::string>& set) {
  for (std::size_t i = 0; i < set.size(); ++i) out += (i == 0 ? "" : "|") + set[i];
}

std::string text_of(const SchemaType& type) {
  std::string alias;
  if (type.alias) {
    alias = "(";
    append_joined(alias, type.alias->before);
    if (type.alias->write) alias += "!";
    if (!type.alias->after.empty()) alias += " -> ";
    append_joined(alias, type.alias->after);
    alias += ")";
  }
  return type.alias_on_list ? type.base + type.suffix + alias : type.base + alias + type.suffix;
}

std::string text_of(const SchemaArgument& a) {
  std::string text = text_of(a.type);
  if (!a.name.empty()) text += " " + a.name;
  if (a.default_value) text += "=" + *a.default_value;
  return text;
}

}  // namespace

Schema Schema::parse(std::string_view text) { return SchemaReader(text).read(); }

std::string Schema::text() const {
  std::string text = ns.empty() ? name : ns + "::" + name;
  if (overload != "default") text += "." + overload;
  std::string list;
  const auto add = [&list](const std::string& item) { list += (list.empty() ? "" : ", ") + item; };
  bool keyword_only = false;
  for (const SchemaArgument& a : arguments) {
    if (a.keyword_only && !keyword_only) add("*");
    keyword_only = a.keyword_only;
    add(text_of(a));
  }
  if (variadic) add("...");
  text += "(" + list + ") -> ";
  if (variadic_returns) return text + "...";
  list.clear();
  for (const SchemaArgument& a : returns) add(text_of(a));
  // A tuple type that is returned alone needs parentheses of its own; one return does not.
  const bool bare = returns.size() == 1 && returns[0].type.base.front() != '(';
  return bare ? text + list : text + "(" + list + ")";
}

const SchemaArgument* Schema::argument(std::string_view wanted) const {
  for (const SchemaArgument& a : arguments) {
    if (a.name == wanted) return &a;
  }
  return nullptr;
}

}  // namespace writeback
