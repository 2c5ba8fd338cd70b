// `writeback fuzz`: a campaign against an implementation; the exhaustive world by flag, and single cases again by --replay.
#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <memory>

#include "fuzz/campaign.h"
#include "fuzz/exhaustive.h"
#include "impl/cli/command.h"
#include "ref/graph/error.h"
#include "ref/graph/text.h"

namespace writeback::cli {
namespace {

struct FuzzArguments {
  MeaningFlags meaning;
  fuzz::CampaignOptions campaign;
  std::string junit, shard = "0/1";
  bool quiet = false, github = false;
  std::int64_t replay = -1;
  std::uint32_t exhaustive = 0;
};

constexpr const char* kFooter =
    "Examples:\n"
    "  writeback fuzz --seconds 60 --jobs 2                          our own placement\n"
    "  writeback fuzz --impl fault:readers_forgotten --out found     a planted fault, its failures written to found/\n"
    "  writeback fuzz --impl 'cmd:python3 my_pass.py' --out found    your pass; the protocol is in fuzz/outside.h\n"
    "  writeback fuzz --exhaustive 3 --shard 7/1000                  every program of three nodes, one shard\n"
    "  writeback fuzz --seed 1 --replay 4711                         print case 4711 of a campaign\n";

Status replay(const FuzzArguments& args) {
  fmt::print("{}",
             print_text(fuzz::campaign_case(args.campaign.seed, static_cast<std::uint64_t>(args.replay), args.campaign.sizes)));
  return Status::holds;
}

/// "7/1000"
fuzz::Enumeration enumeration(const FuzzArguments& args, std::uint32_t world) {
  fuzz::Enumeration e{fuzz::Alphabet::full, world, args.exhaustive, 0, 1};
  unsigned long long shard = 0, shards = 0;
  if (std::sscanf(args.shard.c_str(), "%llu/%llu", &shard, &shards) != 2 || shard >= shards) {
    throw InputError("--shard", "expected K/N with K < N, got '" + args.shard + "'");
  }
  e.shard = shard;
  e.shards = shards;
  return e;
}

Status exhaustive(const FuzzArguments& args) {
  const auto implementation = fuzz::implementation(args.campaign.implementation);
  const auto start = std::chrono::steady_clock::now();
  const auto seconds = [&] { return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count(); };
  const Options base = args.meaning.options_for({});
  std::uint64_t cases = 0, skipped = 0, all = 0;
  bool failed = false;
  for (const std::uint32_t world : {0U, 1U}) {
    const fuzz::Enumeration e = enumeration(args, world);
    all += fuzz::count(e);
    const fuzz::Exhaustion part = fuzz::judge_all(*implementation, e, base, [&](std::uint64_t seen) {
      if (!args.quiet) fmt::print(stderr, "\r{:.0f} s  {} cases", seconds(), cases + seen);
    });
    cases += part.cases;
    skipped += part.skipped;
    if (!part.failure) continue;
    const auto& [program, judged] = *part.failure;
    fmt::print("FAILURE {}\n{}\n{}", judged.signature.text, judged.reason, print_text(program));
    failed = true;
  }
  if (!args.quiet) fmt::print(stderr, "\n");
  fmt::print("{} programs of {} nodes in two worlds; shard {}: {} judged, {} skipped, {:.1f} s, {:.0f} a second\n", all,
             args.exhaustive, args.shard, cases, skipped, seconds(), static_cast<double>(cases) / std::max(0.001, seconds()));
  return failed ? Status::failure : Status::holds;
}

Status fuzz_command(FuzzArguments& args) {
  if (args.replay >= 0) return replay(args);
  if (args.exhaustive > 0) return exhaustive(args);
  args.campaign.options = args.meaning.options_for({});
  args.campaign.progress = !args.quiet;
  const fuzz::Summary summary = fuzz::run_campaign(args.campaign);
  if (!args.junit.empty()) write_file(args.junit, fuzz::summary_junit(summary));
  fmt::print("{}", args.meaning.json ? fuzz::summary_json(summary) : fuzz::summary_text(summary));
  if (args.github) fmt::print("{}", fuzz::summary_annotations(summary));
  if (!summary.failures.empty()) return Status::failure;
  // A campaign that passes over much, or whose programs are not what it says they are, has shown little.
  return summary.skipped * 10 > summary.cases || summary.valid < summary.cases ? Status::undecided : Status::holds;
}

}  // namespace

void add_fuzz(CLI::App& app, Session& session) {
  const auto args = std::make_shared<FuzzArguments>();
  CLI::App& command = *app.add_subcommand("fuzz", "Hunt for programs that an implementation gets wrong");
  fuzz::CampaignOptions& c = args->campaign;
  command.footer(kFooter);
  command.add_option("--impl", c.implementation, "fast (default), end, fault:NAME or cmd:COMMAND")->type_name("NAME");
  command.add_option("--seconds", c.seconds, "Time limit (default 60)")->check(CLI::NonNegativeNumber);
  command.add_option("--runs", c.runs, "Most cases; 0 = as many as the time allows");
  command.add_option("--jobs", c.jobs, "Processes (default 1)")->check(CLI::Range(1, 256));
  command.add_option("--seed", c.seed, "The campaign's seed (default 1)");
  command.add_option("--out", c.out, "Folder for failures, reports and state; a campaign with the same folder goes on")
      ->type_name("DIR");
  command.add_option("--stop-after", c.stop_after, "End after so many distinct failures");
  command.add_option("--nodes", c.sizes.nodes, "Most nodes of a program (default 16)")->check(CLI::Range(1, 4096));
  command.add_option("--case-seconds", c.case_seconds, "A case that takes longer is a time-out (default 10)")
      ->check(CLI::PositiveNumber);
  command.add_option("--start-seconds", c.start_seconds, "A process of cmd: has so much more for its first reply (default 60)")
      ->check(CLI::NonNegativeNumber);
  command.add_flag("--strict", c.strict, "Of an outside implementation, count copies later than the earliest point too");
  command.add_option("--replay", args->replay, "Print this case of the campaign with this seed and end");
  command.add_option("--exhaustive", args->exhaustive, "Instead: every program of so many nodes over two buffers and one input")
      ->check(CLI::Range(1, 4));
  command.add_option("--shard", args->shard, "Part K of N of the exhaustive programs")->type_name("K/N");
  command.add_option("--junit", args->junit, "Write the result as JUnit XML")->type_name("FILE");
  command.add_flag("--github", args->github, "Print GitHub annotations too");
  command.add_flag("--quiet", args->quiet, "No progress line");
  args->meaning.add_to(command);
  command.callback([args, &session] { session.status = fuzz_command(*args); });
}

}  // namespace writeback::cli
