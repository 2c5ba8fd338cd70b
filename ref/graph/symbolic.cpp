// Expressions over symbolic sizes as small immutable trees. A parsed tree keeps the text that it came from, so that what torch
// printed is printed back as it was; two expressions are equal when their texts are.
#include "ref/graph/symbolic.h"

#include <algorithm>
#include <charconv>

namespace writeback {

struct SymNode {
  std::string text;
};

SymInt SymInt::parse(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error == std::errc() && end == text.data() + text.size()) return number;
  SymInt result;
  result.expression_ = std::make_shared<const SymNode>(SymNode{std::string(text)});
  return result;
}

std::string SymInt::text() const { return is_number() ? std::to_string(value_) : expression_->text; }

std::vector<std::string> SymInt::symbols() const {
  if (is_number()) return {};
  return {expression_->text};
}

std::optional<std::int64_t> SymInt::evaluate(const std::function<std::optional<std::int64_t>(const std::string&)>& value_of) const {
  if (is_number()) return value_;
  return value_of(expression_->text);
}

SymRange SymInt::bounds(const std::map<std::string, SymRange>& ranges) const {
  if (is_number()) return {value_, value_};
  const auto found = ranges.find(expression_->text);
  return found == ranges.end() ? SymRange{} : found->second;
}

bool operator==(const SymInt& a, const SymInt& b) {
  if (a.is_number() != b.is_number()) return false;
  if (a.is_number()) return a.value_ == b.value_;
  return a.expression_ == b.expression_ || a.expression_->text == b.expression_->text;
}

}  // namespace writeback
