// `writeback faults`: the bank of planted faults, a row each.
#include <fmt/core.h>

#include <memory>

#include "fuzz/faults.h"
#include "impl/cli/command.h"

namespace writeback::cli {
namespace {

Status faults_command(bool json) {
  if (json) {
    Json rows = Json::array();
    for (const fuzz::PlantedFault& f : fuzz::planted_faults())
      rows.push_back({{"name", f.name}, {"rule", f.rule}, {"description", f.description}});
    print_json(rows);
    return Status::holds;
  }
  for (const fuzz::PlantedFault& f : fuzz::planted_faults()) fmt::print("{:<32} {:<18} {}\n", f.name, f.rule, f.description);
  return Status::holds;
}

}  // namespace

void add_faults(CLI::App& app, Session& session) {
  const auto json = std::make_shared<bool>(false);
  CLI::App& command = *app.add_subcommand("faults", "List the planted faults, for --impl fault:NAME");
  command.footer("Example:\n  writeback fuzz --impl fault:chains_not_rebased --seconds 10\n");
  command.add_flag("--json", *json, "Print one JSON array instead of text");
  command.callback([json, &session] { session.status = faults_command(*json); });
}

}  // namespace writeback::cli
