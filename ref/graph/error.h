// What bad input is answered with: where, what was expected, what stood there. Every reader throws it and nothing else; the
// command line turns it into one message and exit status 2.
#pragma once

#include <stdexcept>
#include <string>
#include <utility>

namespace writeback {

/// Thrown by every reader of outside data. `place` is "line 12, column 5", a JSON pointer ("/graph_module/graph/nodes/3") or an
/// archive entry; the file name is put in front by whoever knows it.
class InputError : public std::runtime_error {
 public:
  InputError(std::string place, const std::string& message)
      : std::runtime_error(place.empty() ? message : place + ": " + message), place_(std::move(place)) {}
  const std::string& place() const { return place_; }

 private:
  std::string place_;
};

/// A value is used that is not defined, or not yet.
class UndefinedValue : public InputError {
 public:
  UndefinedValue(std::string place, const std::string& message, std::string name)
      : InputError(std::move(place), message), name_(std::move(name)) {}
  const std::string& name() const { return name_; }

 private:
  std::string name_;
};

/// What f gives; what it throws with the name of a file in front, unless that is named already.
template <typename F>
auto naming_file(const std::string& file, F&& f) {
  const auto named = [&](const InputError& e) { return std::string(e.what()).find(file) != std::string::npos ? "" : file; };
  try {
    return f();
  } catch (const UndefinedValue& e) {
    throw UndefinedValue(named(e), e.what(), e.name());
  } catch (const InputError& e) {
    throw InputError(named(e), e.what());
  }
}

}  // namespace writeback
