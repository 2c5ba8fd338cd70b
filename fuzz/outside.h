// An implementation in another process (`cmd:`): one request a line on its standard input, one reply a line on its standard output.
//
//   request  {"program": export-schema JSON, "alias": [[{"name", "offset", "sizes", "strides"}]], "share_alloc": {"node": argument
//             index}, "schemas": ["..."], "options": {"lowering", "semantics", "trust"}}
//   reply    {"program": export-schema JSON with explicit copy_ nodes}, or {"error": "why it cannot"}
//
// The process is started through `sh -c` on first use and again after it has ended or was ended for taking too long; each of these,
// and a reply that is not of this form, is an answer. Its first reply may take longer than those that follow (`--start-seconds`).
// What it writes on standard error is kept for the message of a crash.
#pragma once

#include <string>

#include "fuzz/implementation.h"

namespace writeback::fuzz {

class Outside final : public Implementation {
 public:
  Outside(std::string command, Patience patience) : command_(std::move(command)), patience_(patience) {}
  ~Outside() override;
  Outside(const Outside&) = delete;
  Outside& operator=(const Outside&) = delete;

  Answer place(const Program&, const Options&) override;
  bool outside() const override { return true; }

 private:
  void start();
  void end();
  bool send(const std::string& line);
  enum class Wait { line, ended, too_long };
  Wait receive(std::string& line);
  Answer ended();
  double allowance() const { return patience_.reply + (fresh_ ? patience_.start : 0); }  ///< seconds, for one reply

  std::string command_, buffer_, errors_;
  Patience patience_;
  bool fresh_ = true;  ///< the process has not replied yet
  int pid_ = 0, in_ = -1, out_ = -1, err_ = -1;
};

/// The request for a program, without the line end.
std::string request_for(const Program&, const Options&);
/// What a reply says; a malformed one is an answer of that kind.
Answer answer_of(const std::string& reply);

}  // namespace writeback::fuzz
