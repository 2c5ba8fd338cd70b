// A place inside a JSON document: an element of simdjson's DOM and the way that led to it, so that every complaint names its JSON
// pointer (RFC 6901). The way is a chain of pointers to the cursors above, which live on the reader's stack; that is why a cursor
// can be neither copied nor asked for a child while it is a temporary. Nothing is allocated until something is wrong.
#pragma once

#include <simdjson.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace writeback::impl {

class Json {
 public:
  explicit Json(simdjson::dom::element root) : element_(root) {}
  Json(const Json&) = delete;
  Json& operator=(const Json&) = delete;

  /// The member `key`. One that is absent reads as null, as old files lack fields that newer ones have.
  Json operator[](std::string_view key) const& { return Json(member(key), this, key, 0); }
  Json operator[](std::string_view key) const&& = delete;

  bool is_null() const { return !element_ || element_->is_null(); }
  bool is_string() const { return element_ && element_->is_string(); }
  bool is_integer() const { return element_ && element_->is_int64(); }

  std::string_view string() const;
  std::string text() const { return std::string(string()); }
  std::int64_t integer() const;
  /// Also the strings "Infinity", "-Infinity" and "NaN", as torch writes them.
  double number() const;
  bool boolean() const;
  std::size_t size() const { return array().size(); }

  /// Calls f(item) for every item of an array.
  template <typename F>
  void each(F&& f) const {
    std::size_t i = 0;
    for (const simdjson::dom::element item : array()) {
      const Json child(item, this, {}, i++);
      f(child);
    }
  }

  /// Calls f(key, value) for every member of an object, in the file's order.
  template <typename F>
  void members(F&& f) const {
    for (const simdjson::dom::key_value_pair member : object()) {
      const Json child(member.value, this, member.key, 0);
      f(member.key, child);
    }
  }

  /// What a union holds: the key of its only member that is not null; "as_none" where all are (files of old write every key).
  std::string_view tag() const;

  std::string pointer() const;
  [[noreturn]] void fail(const std::string& message) const;

 private:
  Json(std::optional<simdjson::dom::element> element, const Json* up, std::string_view key, std::size_t index)
      : element_(element), up_(up), key_(key), index_(index) {}

  std::optional<simdjson::dom::element> member(std::string_view key) const;
  simdjson::dom::array array() const;
  simdjson::dom::object object() const;
  [[noreturn]] void expected(const char* what) const;

  std::optional<simdjson::dom::element> element_;
  const Json* up_ = nullptr;
  std::string_view key_;  ///< data() == nullptr for an item of an array
  std::size_t index_ = 0;
};

/// A parsed document. Strings that its cursors give live as long as it does.
class JsonDocument {
 public:
  /// Throws InputError with line and column where the text is no JSON.
  explicit JsonDocument(std::string_view text);
  Json root() const { return Json(root_); }

 private:
  simdjson::dom::parser parser_;
  simdjson::dom::element root_;
};

}  // namespace writeback::impl
