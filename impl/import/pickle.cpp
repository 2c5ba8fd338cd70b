#include "impl/import/pickle.h"

#include <algorithm>
#include <string>
#include <unordered_map>

namespace writeback::impl {
namespace {

/// The opcodes of the subset, under pickle's names.
namespace opcode {
constexpr unsigned char mark = '(', empty_tuple = ')', empty_list = ']', empty_dict = '}', tuple = 't', list = 'l', tuple1 = 0x85,
                        tuple2 = 0x86, tuple3 = 0x87, dict = 'd', append = 'a', setitem = 's', appends = 'e', setitems = 'u',
                        binput = 'q', long_binput = 'r', binget = 'h', long_binget = 'j', memoize = 0x94, stop = '.', proto = 0x80,
                        frame = 0x95, none = 'N', newtrue = 0x88, newfalse = 0x89, binint = 'J', binint1 = 'K', binint2 = 'M',
                        long1 = 0x8a, binfloat = 'G', binunicode = 'X', short_binunicode = 0x8c, global = 'c', binpersid = 'Q',
                        reduce = 'R', build = 'b';
}  // namespace opcode

/// Index into the interpreter's values. Values are never freed and refer to each other by index, so that no loop can be built
/// that is not freed and no nesting is ever followed.
using Ref = std::uint32_t;

struct Value {
  enum class Kind : std::uint8_t { other, none, boolean, integer, text, global, sequence, dict, tensor } kind = Kind::other;
  std::int64_t integer = 0;
  std::string_view text;   ///< of a text; of a global its two lines, "module\nname"
  std::vector<Ref> items;  ///< of a sequence; keys and values in turn of a dict; of a persistent id or tensor its arguments
};

/// _rebuild_tensor_v2(storage, offset, size, stride, requires_grad, hooks); v3 adds the dtype, over an untyped storage.
constexpr std::size_t kTensorArguments = 7;
/// More dimensions than torch allows.
constexpr std::size_t kDimensions = 64;

/// Thrown where the pickle leaves the subset.
struct NotUnderstood {};

class Unpickler {
 public:
  explicit Unpickler(std::string_view data) : data_(data) {}

  Ref run() {
    while (step()) {
    }
    return pop();
  }
  const Value& at(Ref ref) const { return values_[ref]; }

 private:
  bool step();
  bool step_container(unsigned char code);
  bool step_memo(unsigned char code);
  bool step_scalar(unsigned char code);
  void reduce();
  void append(std::vector<Ref> items);

  std::string_view take(std::size_t size) {
    if (size > data_.size() - at_) throw NotUnderstood{};
    at_ += size;
    return data_.substr(at_ - size, size);
  }
  template <typename Number>
  Number number() {  // little-endian, as pickles are
    const std::string_view bytes = take(sizeof(Number));
    std::uint64_t bits = 0;
    for (std::size_t i = 0; i < sizeof(Number); ++i) bits |= std::uint64_t{static_cast<unsigned char>(bytes[i])} << (8 * i);
    return static_cast<Number>(bits);
  }
  std::string_view two_lines() {
    const std::size_t middle = data_.find('\n', at_);
    const std::size_t end = middle == std::string_view::npos ? middle : data_.find('\n', middle + 1);
    if (end == std::string_view::npos) throw NotUnderstood{};
    const std::string_view text = take(end - at_);
    take(1);
    return text;
  }
  std::int64_t long_integer(std::size_t size);

  Ref make(Value value) {
    values_.push_back(std::move(value));
    return static_cast<Ref>(values_.size() - 1);
  }
  void push(Value value) { stack_.push_back(make(std::move(value))); }
  void push(Value::Kind kind, std::int64_t integer = 0) { push(Value{kind, integer, {}, {}}); }
  Ref pop() {
    if (stack_.empty() || (!marks_.empty() && stack_.size() <= marks_.back())) throw NotUnderstood{};
    const Ref ref = stack_.back();
    stack_.pop_back();
    return ref;
  }
  Ref top() {
    const Ref ref = pop();
    stack_.push_back(ref);
    return ref;
  }
  std::vector<Ref> pop_count(std::size_t count) {
    std::vector<Ref> items(count);
    for (std::size_t i = count; i-- > 0;) items[i] = pop();
    return items;
  }
  std::vector<Ref> pop_mark() {
    if (marks_.empty()) throw NotUnderstood{};
    const std::size_t start = marks_.back();
    std::vector<Ref> items(stack_.begin() + static_cast<std::ptrdiff_t>(start), stack_.end());
    stack_.resize(start);
    marks_.pop_back();
    return items;
  }

  std::string_view data_;
  std::size_t at_ = 0;
  std::vector<Value> values_;
  std::vector<Ref> stack_;
  std::vector<std::size_t> marks_;
  std::unordered_map<std::uint32_t, Ref> memo_;
};

std::int64_t Unpickler::long_integer(std::size_t size) {
  const std::string_view bytes = take(size);
  if (size > 8) throw NotUnderstood{};
  std::uint64_t bits = size > 0 && (static_cast<unsigned char>(bytes[size - 1]) & 0x80) != 0 ? ~std::uint64_t{0} : 0;
  for (std::size_t i = size; i-- > 0;) bits = (bits << 8) | static_cast<unsigned char>(bytes[i]);
  return static_cast<std::int64_t>(bits);
}

void Unpickler::append(std::vector<Ref> items) {
  const Ref target = top();
  std::vector<Ref>& into = values_[target].items;
  into.insert(into.end(), items.begin(), items.end());
}

/// Opcodes that build tuples, lists and dicts.
bool Unpickler::step_container(unsigned char code) {
  const auto push_items = [&](Value::Kind kind, std::vector<Ref> items) { push(Value{kind, 0, {}, std::move(items)}); };
  switch (code) {
    case opcode::mark:
      marks_.push_back(stack_.size());
      return true;
    case opcode::empty_tuple:
    case opcode::empty_list:
      push(Value::Kind::sequence);
      return true;
    case opcode::empty_dict:
      push(Value::Kind::dict);
      return true;
    case opcode::tuple:
    case opcode::list:
      push_items(Value::Kind::sequence, pop_mark());
      return true;
    case opcode::tuple1:
      push_items(Value::Kind::sequence, pop_count(1));
      return true;
    case opcode::tuple2:
      push_items(Value::Kind::sequence, pop_count(2));
      return true;
    case opcode::tuple3:
      push_items(Value::Kind::sequence, pop_count(3));
      return true;
    case opcode::dict:
      push_items(Value::Kind::dict, pop_mark());
      return true;
    case opcode::append:
      append(pop_count(1));
      return true;
    case opcode::setitem:
      append(pop_count(2));
      return true;
    case opcode::appends:
    case opcode::setitems:
      append(pop_mark());
      return true;
    default:
      return false;
  }
}

bool Unpickler::step_memo(unsigned char code) {
  const auto get = [&](std::uint32_t key) {
    const auto found = memo_.find(key);
    if (found == memo_.end()) throw NotUnderstood{};
    stack_.push_back(found->second);
  };
  switch (code) {
    case opcode::binput:
      memo_[number<std::uint8_t>()] = top();
      return true;
    case opcode::long_binput:
      memo_[number<std::uint32_t>()] = top();
      return true;
    case opcode::binget:
      get(number<std::uint8_t>());
      return true;
    case opcode::long_binget:
      get(number<std::uint32_t>());
      return true;
    case opcode::memoize:
      memo_[static_cast<std::uint32_t>(memo_.size())] = top();
      return true;
    default:
      return false;
  }
}

/// A call: what torch.save needs to build tensors and nothing else.
void Unpickler::reduce() {
  const Ref arguments = pop();
  const Value& callable = values_[pop()];
  if (callable.kind != Value::Kind::global) return push(Value::Kind::other);
  const std::vector<Ref>& items = values_[arguments].items;
  if (callable.text == "collections\nOrderedDict") return push(Value::Kind::dict);
  if (callable.text == "torch\nSize" && items.size() == 1) return stack_.push_back(items[0]);
  const bool is_parameter =
      callable.text == "torch._utils\n_rebuild_parameter" || callable.text == "torch._utils\n_rebuild_parameter_with_state";
  if (is_parameter && !items.empty()) return stack_.push_back(items[0]);
  const bool is_tensor = callable.text == "torch._utils\n_rebuild_tensor_v2" || callable.text == "torch._utils\n_rebuild_tensor_v3";
  if (!is_tensor || items.size() < 4) return push(Value::Kind::other);
  const auto end = items.begin() + static_cast<std::ptrdiff_t>(std::min(items.size(), kTensorArguments));
  push(Value{Value::Kind::tensor, 0, {}, std::vector<Ref>(items.begin(), end)});
}

/// Opcodes that push one constant.
bool Unpickler::step_scalar(unsigned char code) {
  switch (code) {
    case opcode::none:
      push(Value::Kind::none);
      return true;
    case opcode::newtrue:
    case opcode::newfalse:
      push(Value::Kind::boolean, code == opcode::newtrue);
      return true;
    case opcode::binint:
      push(Value::Kind::integer, number<std::int32_t>());
      return true;
    case opcode::binint1:
      push(Value::Kind::integer, number<std::uint8_t>());
      return true;
    case opcode::binint2:
      push(Value::Kind::integer, number<std::uint16_t>());
      return true;
    case opcode::long1:
      push(Value::Kind::integer, long_integer(number<std::uint8_t>()));
      return true;
    case opcode::binfloat:
      take(8);
      push(Value::Kind::other);
      return true;
    case opcode::binunicode:
      push({Value::Kind::text, 0, take(number<std::uint32_t>()), {}});
      return true;
    case opcode::short_binunicode:
      push({Value::Kind::text, 0, take(number<std::uint8_t>()), {}});
      return true;
    case opcode::global:
      push({Value::Kind::global, 0, two_lines(), {}});
      return true;
    default:
      return false;
  }
}

/// Runs one opcode; false at the end.
bool Unpickler::step() {
  const auto code = number<std::uint8_t>();
  if (step_container(code) || step_memo(code) || step_scalar(code)) return true;
  switch (code) {
    case opcode::stop:
      return false;
    case opcode::proto:
      take(1);
      return true;
    case opcode::frame:
      take(8);
      return true;
    case opcode::binpersid:  // the tuple stands for the storage that it names
      top();
      return true;
    case opcode::build:  // attributes of an OrderedDict
      pop();
      top();
      return true;
    case opcode::reduce:
      reduce();
      return true;
    default:
      throw NotUnderstood{};
  }
}

DType dtype_of_storage(std::string_view global) {
  struct Row {
    std::string_view global;
    DType dtype;
  };
  static constexpr Row kRows[] = {
      {"torch\nFloatStorage", DType::f32},        {"torch\nDoubleStorage", DType::f64},
      {"torch\nHalfStorage", DType::f16},         {"torch\nBFloat16Storage", DType::bf16},
      {"torch\nLongStorage", DType::i64},         {"torch\nIntStorage", DType::i32},
      {"torch\nShortStorage", DType::i16},        {"torch\nCharStorage", DType::i8},
      {"torch\nByteStorage", DType::u8},          {"torch\nBoolStorage", DType::b8},
      {"torch\nComplexFloatStorage", DType::c64}, {"torch\nComplexDoubleStorage", DType::c128},
      {"torch\nUntypedStorage", DType::u8},       {"torch.storage\nUntypedStorage", DType::u8},
  };
  for (const Row& row : kRows) {
    if (row.global == global) return row.dtype;
  }
  return DType::unknown;
}

/// "torch\nuint16"
DType dtype_of_global(std::string_view global) {
  constexpr std::string_view kModule = "torch\n";
  constexpr std::size_t kLongestName = 32;
  if (global.substr(0, kModule.size()) != kModule || global.size() > kLongestName) return DType::unknown;
  return dtype_from_python_name("torch." + std::string(global.substr(kModule.size()))).value_or(DType::unknown);
}

/// The numbers of a sequence; nullopt where one is none.
std::optional<std::vector<std::int64_t>> integers(const Unpickler& pickle, Ref ref) {
  std::vector<std::int64_t> numbers;
  if (pickle.at(ref).items.size() > kDimensions) return std::nullopt;
  for (const Ref item : pickle.at(ref).items) {
    if (pickle.at(item).kind != Value::Kind::integer) return std::nullopt;
    numbers.push_back(pickle.at(item).integer);
  }
  return numbers;
}

std::optional<PickledTensor> tensor_of(const Unpickler& pickle, const Value& value) {
  if (value.kind != Value::Kind::tensor) return std::nullopt;
  const std::vector<Ref>& storage = pickle.at(value.items[0]).items;  // ('storage', type, key, location, elements)
  if (storage.size() < 5) return std::nullopt;
  const Value& key = pickle.at(storage[2]);
  const Value& elements = pickle.at(storage[4]);
  const Value& offset = pickle.at(value.items[1]);
  const auto sizes = integers(pickle, value.items[2]);
  const auto strides = integers(pickle, value.items[3]);
  PickledTensor tensor;
  tensor.dtype = dtype_of_storage(pickle.at(storage[1]).text);
  tensor.storage_elements = elements.integer;
  if (value.items.size() == kTensorArguments && pickle.at(value.items[6]).kind == Value::Kind::global) {
    tensor.dtype = dtype_of_global(pickle.at(value.items[6]).text);
    if (tensor.dtype != DType::unknown) tensor.storage_elements /= static_cast<std::int64_t>(byte_size(tensor.dtype));
  }
  const bool sound = key.kind == Value::Kind::text && elements.kind == Value::Kind::integer &&
                     offset.kind == Value::Kind::integer && sizes && strides && tensor.dtype != DType::unknown;
  if (!sound) return std::nullopt;
  tensor.storage = key.text;
  tensor.offset = offset.integer;
  tensor.sizes = *sizes;
  tensor.strides = *strides;
  return tensor;
}

}  // namespace

std::optional<std::vector<std::pair<std::string_view, std::optional<PickledTensor>>>> read_pickled_tensors(std::string_view data) {
  std::vector<std::pair<std::string_view, std::optional<PickledTensor>>> tensors;
  try {
    Unpickler pickle(data);
    const Value& root = pickle.at(pickle.run());
    if (root.kind != Value::Kind::dict || root.items.size() % 2 != 0) return std::nullopt;
    for (std::size_t i = 0; i < root.items.size(); i += 2) {
      const Value& key = pickle.at(root.items[i]);
      if (key.kind != Value::Kind::text) return std::nullopt;
      tensors.emplace_back(key.text, tensor_of(pickle, pickle.at(root.items[i + 1])));
    }
  } catch (const NotUnderstood&) {
    return std::nullopt;
  }
  return tensors;
}

}  // namespace writeback::impl
