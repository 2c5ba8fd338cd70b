// An argument of a node: everything that a PyTorch graph can pass. Values are named by id; what the placement never looks into
// (dtypes, devices, layouts) is kept as the text that PyTorch prints.
#pragma once

#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "ref/graph/ids.h"

namespace writeback {

struct Argument;

/// A word of Python with a known role: torch.float32, torch.strided, torch.channels_last, device(type='cpu'), an operator name.
struct Symbol {
  enum class Kind : std::uint8_t { dtype, layout, memory_format, device, op, other } kind = Kind::other;
  std::string text;  ///< as printed
  bool operator==(const Symbol&) const = default;
};

struct ListArgument {
  std::vector<Argument> items;
  bool tuple = false;  ///< printed (a, b) rather than [a, b]
  bool operator==(const ListArgument&) const;
};

/// `slice(start, stop, step)`: exactly three items.
struct SliceArgument {
  std::vector<Argument> parts;
  bool operator==(const SliceArgument&) const;
};

/// A dict with string keys, in order.
struct DictArgument {
  std::vector<std::pair<std::string, Argument>> items;
  bool operator==(const DictArgument&) const;
};

/// monostate = None; a ValueId = the value of a placeholder or node of the same graph; std::string = a Python string.
struct Argument : std::variant<std::monostate, ValueId, std::int64_t, double, bool, std::string, Symbol, ListArgument,
                               SliceArgument, DictArgument> {
  using variant::variant;
  bool operator==(const Argument&) const = default;
};

inline bool ListArgument::operator==(const ListArgument&) const = default;
inline bool SliceArgument::operator==(const SliceArgument&) const = default;
inline bool DictArgument::operator==(const DictArgument&) const = default;

inline bool is_none(const Argument& a) { return std::holds_alternative<std::monostate>(a); }
inline const ValueId* as_value(const Argument& a) { return std::get_if<ValueId>(&a); }
inline const std::int64_t* as_int(const Argument& a) { return std::get_if<std::int64_t>(&a); }
inline const ListArgument* as_list(const Argument& a) { return std::get_if<ListArgument>(&a); }

/// Calls f(ValueId) for every value inside `a`, left to right, lists and dicts included.
template <typename F>
void for_each_value(const Argument& a, F&& f) {
  if (const ValueId* v = std::get_if<ValueId>(&a)) return f(*v), void();
  if (const auto* list = std::get_if<ListArgument>(&a)) {
    for (const Argument& item : list->items) for_each_value(item, f);
  } else if (const auto* slice = std::get_if<SliceArgument>(&a)) {
    for (const Argument& part : slice->parts) for_each_value(part, f);
  } else if (const auto* dict = std::get_if<DictArgument>(&a)) {
    for (const auto& [key, item] : dict->items) for_each_value(item, f);
  }
}

/// The same, with a reference that may be assigned: for renumbering and rewiring.
template <typename F>
void for_each_value_mut(Argument& a, F&& f) {
  if (ValueId* v = std::get_if<ValueId>(&a)) return f(*v), void();
  if (auto* list = std::get_if<ListArgument>(&a)) {
    for (Argument& item : list->items) for_each_value_mut(item, f);
  } else if (auto* slice = std::get_if<SliceArgument>(&a)) {
    for (Argument& part : slice->parts) for_each_value_mut(part, f);
  } else if (auto* dict = std::get_if<DictArgument>(&a)) {
    for (auto& [key, item] : dict->items) for_each_value_mut(item, f);
  }
}

}  // namespace writeback
