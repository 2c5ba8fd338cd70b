// What a campaign tests: something that is given a program and places its copies. In this process our own (sound, or with a fault
// planted) and the usual end of the graph; outside, any process that speaks the protocol of outside.h.
#pragma once

#include <memory>
#include <string>

#include "impl/place.h"
#include "ref/graph/options.h"
#include "ref/graph/program.h"

namespace writeback::fuzz {

struct Answer {
  enum class Kind : unsigned char {
    placed,     ///< `result` has the placement
    rewritten,  ///< `program` has explicit copies, or is rewritten in any other way
    refused,    ///< the program is said to be bad input
    crashed,
    timed_out,
    malformed
  };
  Kind kind = Kind::refused;
  impl::PlaceResult result;
  Program program;
  std::string message;
};

class Implementation {
 public:
  virtual ~Implementation() = default;
  virtual Answer place(const Program&, const Options&) = 0;
  /// Of an outside implementation only what is unsafe counts, unless the campaign is strict.
  virtual bool outside() const { return false; }
  /// Does it give reasons with its placement?
  virtual bool explains() const { return false; }
};

/// How long an implementation in another process may take. A fresh process has `start` more for its first reply: interpreters and
/// libraries are loaded until then (`import torch` takes seconds), and that is no fault of the program that it was asked about.
struct Patience {
  double reply = 10;  ///< seconds
  double start = 60;  ///< seconds
};

/// `fast`, `end`, `rewrite` (the earliest placement, forwarded and coalesced), `fault:NAME`, `cmd:COMMAND`. Throws InputError on
/// any other name.
std::unique_ptr<Implementation> implementation(const std::string& name, Patience = {});

}  // namespace writeback::fuzz
