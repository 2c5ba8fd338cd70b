// What every command of `writeback` shares: the flags of the meaning (--lowering, --semantics, --trust, --schemas), --json, exit
// statuses, reading a program with messages that name the file. A command is one file with one `add_<command>` function, which
// registers flags with CLI11 and leaves a callback; it returns its exit status through `Session`.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "ref/graph/error.h"
#include "ref/graph/options.h"
#include "ref/graph/program.h"

namespace writeback::cli {

using Json = nlohmann::ordered_json;

/// Exit statuses: holds; unsafe or a failure was found; bad input or usage; undecided within limits.
enum class Status : int { holds = 0, failure = 1, bad_input = 2, undecided = 3 };

struct Session {
  Status status = Status::holds;
};

/// The flags that every command takes. Where a flag is absent the program's own `# options:` line counts, then the default.
class MeaningFlags {
 public:
  void add_to(CLI::App& command);
  /// Throws InputError on a bad `# options:` line or an unreadable --schemas file.
  Options options_for(const Program&) const;
  bool json = false;

 private:
  std::optional<std::string> lowering_, semantics_;
  std::vector<std::string> trusted_, schema_files_;
};

/// Runs f; an InputError gets the name of the input in front, unless it has it.
template <typename F>
auto naming(const std::string& path, F&& f) {
  return naming_file(path == "-" ? "standard input" : path, std::forward<F>(f));
}

/// Reads PROGRAM ("-" = standard input) and checks that it is well formed; prints the reader's warnings on stderr.
Program load(const std::string& path);

/// Writes a whole file or nothing: to a neighbour first, then renamed. "-" = standard output.
void write_file(const std::string& path, const std::string& content);

void print_json(const Json&);

/// The flag --size SYMBOL=NUMBER, and what was given by it. Throws InputError where that is something else.
void add_sizes(CLI::App& command, std::vector<std::string>& words);
std::map<std::string, std::int64_t> symbol_values(const std::vector<std::string>& words);

void add_place(CLI::App&, Session&);
void add_check(CLI::App&, Session&);
void add_run(CLI::App&, Session&);
void add_plan(CLI::App&, Session&);
void add_effects(CLI::App&, Session&);
void add_fuzz(CLI::App&, Session&);
void add_minimize(CLI::App&, Session&);
void add_faults(CLI::App&, Session&);
void add_prove(CLI::App&, Session&);

}  // namespace writeback::cli
