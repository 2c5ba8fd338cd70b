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

}  // namespace writeback
