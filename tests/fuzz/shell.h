// Commands of a shell, for tests of what is outside this process.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <string>

namespace writeback::fuzz {

inline bool runs(const std::string& command) { return std::system(command.c_str()) == 0; }

/// What the command writes to its standard output.
inline std::string output_of(const std::string& command) {
  std::string text;
  FILE* pipe = popen(command.c_str(), "r");
  char bytes[4096];
  for (std::size_t n; (n = fread(bytes, 1, sizeof bytes, pipe)) > 0;) text.append(bytes, n);
  pclose(pipe);
  return text;
}

}  // namespace writeback::fuzz
