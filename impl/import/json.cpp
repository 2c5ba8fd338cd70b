#include "impl/import/json.h"

#include <algorithm>
#include <limits>

#include "ref/graph/error.h"

namespace writeback::impl {
namespace {

/// A document larger than this is no program that anyone wrote.
constexpr std::size_t kLargestDocument = std::size_t{1} << 30;

/// Our words for a kind of value.
const char* kind_of(const simdjson::dom::element& e) {
  switch (e.type()) {
    case simdjson::dom::element_type::ARRAY:
      return "an array";
    case simdjson::dom::element_type::OBJECT:
      return "an object";
    case simdjson::dom::element_type::INT64:
      return "an integer";
    case simdjson::dom::element_type::UINT64:
      return "an integer beyond 64 signed bits";
    case simdjson::dom::element_type::DOUBLE:
      return "a number with a fraction";
    case simdjson::dom::element_type::STRING:
      return "a string";
    case simdjson::dom::element_type::BOOL:
      return "a truth value";
    case simdjson::dom::element_type::NULL_VALUE:
      return "null";
  }
  return "something else";
}

/// A key inside a JSON pointer: `~` and `/` are escaped.
std::string escaped(std::string_view key) {
  std::string text;
  for (const char c : key) {
    if (c == '~')
      text += "~0";
    else if (c == '/')
      text += "~1";
    else
      text += c;
  }
  return text;
}

std::string line_and_column(std::string_view text, std::size_t offset) {
  const std::string_view before = text.substr(0, offset);
  const auto line = 1 + std::count(before.begin(), before.end(), '\n');
  const std::size_t start = before.rfind('\n');
  const std::size_t column = 1 + (start == std::string_view::npos ? offset : offset - start - 1);
  return "line " + std::to_string(line) + ", column " + std::to_string(column);
}

/// Visits everything in a value, so that whatever is malformed is come upon. Nothing sound is nested deeper than `depth`.
void visit(simdjson::ondemand::value value, int depth) {
  if (depth == 0) return;
  switch (value.type().value()) {
    case simdjson::ondemand::json_type::object:
      for (auto field : value.get_object()) {
        (void)field.unescaped_key().value();
        visit(field.value(), depth - 1);
      }
      return;
    case simdjson::ondemand::json_type::array:
      for (auto item : value.get_array()) visit(item.value(), depth - 1);
      return;
    case simdjson::ondemand::json_type::string:
      (void)value.get_string().value();
      return;
    case simdjson::ondemand::json_type::number:
      (void)value.get_number().value();
      return;
    case simdjson::ondemand::json_type::boolean:
      (void)value.get_bool().value();
      return;
    default:
      (void)value.is_null();
      return;
  }
}

/// How far a document is sound. The DOM parser does not tell; the lazy one does, roughly, and is asked only when something is
/// wrong.
std::size_t sound_prefix(std::string_view text) {
  const simdjson::padded_string padded(text);
  simdjson::ondemand::parser parser;
  simdjson::ondemand::document document;
  if (parser.iterate(padded).get(document) != simdjson::SUCCESS) return text.size();
  try {
    visit(document.get_value().value(), simdjson::DEFAULT_MAX_DEPTH);
  } catch (const simdjson::simdjson_error&) {
  }
  const char* at = nullptr;
  if (document.current_location().get(at) != simdjson::SUCCESS || at < padded.data()) return text.size();
  return std::min(text.size(), static_cast<std::size_t>(at - padded.data()));
}

}  // namespace

std::string Json::pointer() const {
  if (up_ == nullptr) return "";
  return up_->pointer() + "/" + (key_.data() != nullptr ? escaped(key_) : std::to_string(index_));
}

void Json::fail(const std::string& message) const {
  const std::string place = pointer();
  throw InputError(place.empty() ? "/" : place, message);
}

void Json::expected(const char* what) const {
  fail(std::string("expected ") + what + ", found " + (element_ ? kind_of(*element_) : "nothing"));
}

std::optional<simdjson::dom::element> Json::member(std::string_view key) const {
  simdjson::dom::element value;
  if (object().at_key(key).get(value) != simdjson::SUCCESS) return std::nullopt;
  return value;
}

simdjson::dom::array Json::array() const {
  simdjson::dom::array value;
  if (!element_ || element_->get(value) != simdjson::SUCCESS) expected("an array");
  return value;
}

simdjson::dom::object Json::object() const {
  simdjson::dom::object value;
  if (!element_ || element_->get(value) != simdjson::SUCCESS) expected("an object");
  return value;
}

std::string_view Json::string() const {
  std::string_view value;
  if (!element_ || element_->get(value) != simdjson::SUCCESS) expected("a string");
  return value;
}

std::int64_t Json::integer() const {
  std::int64_t value = 0;
  if (!is_integer() || element_->get(value) != simdjson::SUCCESS) expected("an integer of 64 bits");
  return value;
}

double Json::number() const {
  double value = 0;
  if (is_string()) {
    const std::string_view word = string();
    if (word == "Infinity") return std::numeric_limits<double>::infinity();
    if (word == "-Infinity") return -std::numeric_limits<double>::infinity();
    if (word == "NaN") return std::numeric_limits<double>::quiet_NaN();
  }
  if (!element_ || element_->get(value) != simdjson::SUCCESS) expected("a number");
  return value;
}

bool Json::boolean() const {
  bool value = false;
  if (!element_ || element_->get(value) != simdjson::SUCCESS) expected("true or false");
  return value;
}

std::string_view Json::tag() const {
  std::optional<std::string_view> found;
  for (const simdjson::dom::key_value_pair member : object()) {
    if (member.value.is_null() && object().size() > 1) continue;
    if (found) fail("expected a union with one member, found '" + std::string(*found) + "' and '" + std::string(member.key) + "'");
    found = member.key;
  }
  return found.value_or("as_none");
}

JsonDocument::JsonDocument(std::string_view text) {
  if (text.substr(0, 3) == "\xEF\xBB\xBF") text.remove_prefix(3);
  if (text.size() > kLargestDocument) throw InputError("JSON", "expected at most 1 GiB of text");
  const auto error = parser_.parse(text.data(), text.size()).get(root_);
  if (error == simdjson::SUCCESS) return;
  const std::string_view trimmed = text.substr(0, text.find_last_not_of(" \t\r\n") + 1);
  if (error == simdjson::DEPTH_ERROR) throw InputError("JSON", "expected a document that is nested less deeply");
  if (error == simdjson::UTF8_ERROR) throw InputError("JSON", "expected UTF-8");
  const std::size_t offset = sound_prefix(trimmed);
  throw InputError(line_and_column(text, offset), offset == trimmed.size() ? "expected more of a JSON document; it is cut off"
                                                                           : "expected a JSON document; it is malformed near here");
}

}  // namespace writeback::impl
