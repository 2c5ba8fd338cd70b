// Runs an outside program with a time-out. Only what the solvers need: no input, output and errors to one string.
//
// A program that is not installed, that dies of a signal or that runs out of time is told apart from one that exits, because a
// proof must never take "it did not run" for "it did not object".
#pragma once

#include <string>
#include <vector>

namespace writeback::proofs {

struct Outcome {
  enum class Kind : unsigned char { exited, killed, timed_out, missing } kind = Kind::missing;
  int status = 0;      ///< exit status, where it exited
  std::string output;  ///< stdout and stderr
  double seconds = 0;
};

/// Runs `command` (found on the PATH) and kills it after `seconds`.
Outcome run(const std::vector<std::string>& command, double seconds);

/// Kills all that `run` is waiting for and lets none start any more: the program is about to end. `run` does not return.
void end_all();

/// True where a program of this name is on the PATH and can be executed.
bool installed(const std::string& program);

}  // namespace writeback::proofs
