// The signature as the repr of a Python dataclass, wrapped over lines or not. The repr is read as a tree first.
#include "ref/graph/text_signature.h"
#include "ref/graph/text_value.h"

namespace writeback::text {
namespace {

constexpr int kDeepest = 64;

/// `Name(key=item, ...)`, `[item, ...]`, `{key: item, ...}`, or a word: a string, an enum's name, a number.
struct Repr {
  std::string key;   ///< in its parent; empty in lists
  std::string word;  ///< empty for None
  std::vector<Repr> items;
  std::size_t position = 0;

  const Repr* find(std::string_view name) const {
    for (const Repr& item : items) {
      if (item.key == name) return &item;
    }
    return nullptr;
  }
  std::string word_of(std::string_view name) const {
    const Repr* item = find(name);
    return item == nullptr ? std::string() : item->word;
  }
};

class ReprReader {
 public:
  explicit ReprReader(Cursor& cursor) : cursor_(cursor) {}

  Repr read(int depth = 0) {
    if (depth > kDeepest) cursor_.fail("a signature at most " + std::to_string(kDeepest) + " deep");
    cursor_.skip_space();
    Repr result;
    result.position = cursor_.position();
    const char c = cursor_.peek();
    if (c == '\'' || c == '"')
      result.word = read_string(cursor_);
    else if (c == '<')
      result.word = enumerator();
    else if (c == '[' || c == '(' || c == '{')
      items(result, c == '[' ? ']' : c == '(' ? ')' : '}', depth);
    else if (!word(result))
      cursor_.fail("a value of the signature");
    else if (cursor_.peek() == '(')
      items(result, ')', depth);
    return result;
  }

 private:
  bool word(Repr& result) {
    while (is_name_char(cursor_.peek()) || cursor_.peek() == '.' || cursor_.peek() == '-') cursor_.advance();
    result.word = cursor_.since(result.position);
    if (result.word == "None") result.word.clear();
    return cursor_.position() > result.position;
  }

  /// `<InputKind.BUFFER: 3>`
  std::string enumerator() {
    cursor_.advance();
    const std::string_view name = cursor_.dotted_name();
    while (!cursor_.at_end() && cursor_.peek() != '>' && cursor_.peek() != '\n') cursor_.advance();
    cursor_.expect('>', "after an enumerator");
    return std::string(name.substr(name.rfind('.') + 1));
  }

  void items(Repr& result, char close, int depth) {
    cursor_.advance();
    for (cursor_.skip_space(); !cursor_.take(close); cursor_.skip_space()) {
      std::string name = key();
      result.items.push_back(read(depth + 1));
      result.items.back().key = std::move(name);
      cursor_.skip_space();
      if (!cursor_.take(',') && cursor_.peek() != close) cursor_.fail("',' or '" + std::string(1, close) + "' in the signature");
    }
  }

  /// `name=` or `'name':`, empty where neither stands here.
  std::string key() {
    const std::size_t begin = cursor_.position();
    const bool quoted = cursor_.peek() == '\'' || cursor_.peek() == '"';
    std::string name = quoted ? read_string(cursor_) : std::string(cursor_.name());
    cursor_.skip_space();
    if (!name.empty() && cursor_.take(quoted ? ':' : '=')) return name;
    cursor_.move_to(begin);
    return {};
  }

  Cursor& cursor_;
};

/// The repr of torch 2.2 to 2.7.
Signature from_specs(const Repr& inputs, const Repr& outputs, const Cursor& cursor) {
  Signature signature;
  const auto name_of = [](const Repr& spec) {
    const Repr* argument = spec.find("arg");
    return argument == nullptr ? std::string() : argument->word_of("name");
  };
  for (const Repr& spec : inputs.items) {
    InputSpec input{input_kind(spec.word_of("kind"), cursor, spec.position), spec.word_of("target"), std::nullopt};
    const std::string persistent = spec.word_of("persistent");
    if (!persistent.empty()) input.persistent = persistent == "True";
    signature.inputs.push_back({name_of(spec), std::move(input), spec.position});
  }
  for (const Repr& spec : outputs.items) {
    signature.outputs.push_back(
        {name_of(spec), {output_kind(spec.word_of("kind"), cursor, spec.position), spec.word_of("target")}, spec.position});
  }
  return signature;
}

/// The repr of torch 2.1: maps from names to FQNs; mutations stand before the user outputs.
Signature from_maps(const Repr& repr) {
  Signature signature;
  const auto inputs = [&](std::string_view field, InputKind kind) {
    const Repr* map = repr.find(field);
    if (map == nullptr) return;
    for (const Repr& fqn : map->items) signature.inputs.push_back({fqn.key, {kind, fqn.word, std::nullopt}, fqn.position});
  };
  const auto mutations = [&](std::string_view field, OutputKind kind) {
    const Repr* map = repr.find(field);
    if (map == nullptr) return;
    for (const Repr& target : map->items) signature.outputs.push_back({target.key, {kind, target.word}, target.position});
  };
  inputs("inputs_to_parameters", InputKind::parameter);
  inputs("inputs_to_buffers", InputKind::buffer);
  inputs("inputs_to_lifted_tensor_constants", InputKind::constant_tensor);
  mutations("buffers_to_mutate", OutputKind::buffer_mutation);
  mutations("user_inputs_to_mutate", OutputKind::user_input_mutation);
  if (const Repr* names = repr.find("user_inputs")) {
    for (const Repr& name : names->items) signature.inputs.push_back({name.word, {}, name.position});
  }
  if (const Repr* names = repr.find("user_outputs")) {
    for (const Repr& name : names->items) signature.outputs.push_back({name.word, {}, name.position});
  }
  return signature;
}

}  // namespace

Signature read_signature_repr(Cursor& cursor) {
  const Repr repr = ReprReader(cursor).read();
  const Repr *inputs = repr.find("input_specs"), *outputs = repr.find("output_specs");
  return inputs != nullptr && outputs != nullptr ? from_specs(*inputs, *outputs, cursor) : from_maps(repr);
}

}  // namespace writeback::text
