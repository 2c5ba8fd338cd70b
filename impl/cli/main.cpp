// The program `writeback`: one subcommand a file. Results go to stdout, messages and progress to stderr.
#include <fmt/core.h>

#include <cstdio>
#include <exception>
#include <new>

#include "impl/cli/command.h"
#include "ref/graph/error.h"

namespace {

constexpr const char* kDescription =
    "Places the write-back copies of a PyTorch program at the earliest safe point, says why each stands where it stands,\n"
    "and proves that it is safe there.\n\n"
    "PROGRAM is a .pt2 archive, text as print(ExportedProgram) gives it, or export-schema JSON; '-' is standard input.\n"
    "Exit status: 0 holds, 1 unsafe or a failure was found, 2 bad input or usage, 3 undecided within limits.";

constexpr const char* kExamples =
    "Examples:\n"
    "  writeback place model.pt2                 the program with its copies in place, each with its reason\n"
    "  writeback place model.pt2 --explain       a table: end slot, earliest slot, reason\n"
    "  writeback check before.txt after.txt      is this placement safe?\n"
    "  writeback run model.pt2 --trace           the state before and after, node by node\n"
    "  writeback plan model.pt2 --html p.html    what early copies save, and the arena over time\n";

int run(int argc, char** argv) {
  using namespace writeback::cli;
  Session session;
  CLI::App app{kDescription, "writeback"};
  app.footer(kExamples);
  app.set_version_flag("--version", std::string("writeback ") + WRITEBACK_VERSION);
  app.require_subcommand(1);
  add_place(app, session);
  add_check(app, session);
  add_run(app, session);
  add_plan(app, session);
  add_effects(app, session);
  add_fuzz(app, session);
  add_minimize(app, session);
  add_faults(app, session);
  add_prove(app, session);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& e) {
    return app.exit(e) == 0 ? 0 : static_cast<int>(Status::bad_input);
  }
  return static_cast<int>(session.status);
}

}  // namespace

int main(int argc, char** argv) {
  constexpr int kBadInput = 2;
  constexpr int kInternalError = 70;  // as sysexits.h has it: a fault of ours, never of the input
  try {
    return run(argc, argv);
  } catch (const writeback::InputError& e) {
    fmt::print(stderr, "writeback: {}\n", e.what());
    return kBadInput;
  } catch (const std::bad_alloc&) {
    fmt::print(stderr, "writeback: out of memory\n");
    return kBadInput;
  } catch (const std::exception& e) {
    fmt::print(stderr, "writeback: internal error: {}\n", e.what());
    return kInternalError;
  }
}
