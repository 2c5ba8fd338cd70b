// `writeback effects`: what every operator of the compiled-in table does, as JSON, for the bridge to compare with real tensors.
#include <fmt/core.h>

#include "impl/cli/command.h"
#include "impl/report/effects_report.h"

namespace writeback::cli {

void add_effects(CLI::App& app, Session&) {
  CLI::App* command = app.add_subcommand("effects", "the effect of every known operator, as JSON");
  command->group("");  // for tools: not in the list of commands
  command->callback([] { print_json(effects_json()); });
}

}  // namespace writeback::cli
