// A campaign: processes that generate, ask the implementation and judge, until the time, the number of cases or a signal ends it.
// Failures are deduplicated by signature, minimised at once, reported and written under `out`; a campaign with the same `out` goes
// on where it stopped. Case i of a campaign is made from (seed, i) alone, so any case can be made again.
//
// Workers are processes, so that a crash or a hang of the implementation ends a worker and is a verdict, not the end of the
// campaign.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "fuzz/features.h"
#include "fuzz/generate.h"
#include "fuzz/oracle.h"
#include "impl/rule.h"

namespace writeback::fuzz {

struct CampaignOptions {
  std::string implementation = "fast";
  Options options;
  double seconds = 60;
  std::uint64_t runs = 0;  ///< most cases, 0 = as many as the time allows
  unsigned jobs = 1;
  std::uint64_t seed = 1;
  std::string out;  ///< folder for failures and state; empty = nothing is written
  bool strict = false;
  std::uint32_t stop_after = 0;  ///< end after so many distinct failures; 0 = never
  double minimize_seconds = 10;
  double case_seconds = 10;   ///< a case that takes longer is a time-out
  double start_seconds = 60;  ///< and so much longer where a process of `cmd:` has to start for it
  Sizes sizes;
  bool progress = true;
};

struct Failure {
  Signature signature;
  std::string reason;
  std::uint64_t index = 0;   ///< of the case
  double first_seconds = 0;  ///< into the campaign
  std::uint64_t cases = 0;   ///< judged until then, by its worker
  std::uint64_t times = 1;
  std::size_t nodes = 0;
  bool one_minimal = false;
  double minimize_seconds = 0;
  std::string program;  ///< minimised, as text
  std::string original;
  std::string file;  ///< where it was written
};

constexpr std::size_t kRuleCount = 11;

/// What happened; the numbers add up: cases = right + failing + skipped.
struct Summary {
  std::string implementation;
  std::uint64_t seed = 0, next = 0;  ///< `next`: the first case not yet made
  double seconds = 0;
  std::uint64_t cases = 0, valid = 0, right = 0, failing = 0, skipped = 0;
  std::map<std::string, std::uint64_t> skips;  ///< by reason
  std::array<std::uint64_t, kFeatureCount> features{};
  std::array<std::uint64_t, kRuleCount> rules{};  ///< reasons given, by rule
  std::uint64_t nodes = 0, copies = 0, confirmed_reasons = 0, unobserved_reasons = 0;
  std::uint64_t copies_searched = 0, copies_as_searched = 0;  ///< of small programs: all, and those where a search puts them
  std::vector<Failure> failures;
  bool interrupted = false;

  double rate() const { return seconds > 0 ? static_cast<double>(cases) / seconds : 0; }
};

/// Case `index` of the campaign with this seed.
Program campaign_case(std::uint64_t seed, std::uint64_t index, const Sizes&);
/// The questions asked of that case: the dear ones every few cases.
Checks campaign_checks(std::uint64_t index, bool strict);

Summary run_campaign(const CampaignOptions&);

std::string summary_text(const Summary&);
std::string summary_json(const Summary&);
std::string summary_html(const Summary&);
std::string summary_junit(const Summary&);
/// GitHub workflow commands, a line a failure.
std::string summary_annotations(const Summary&);

}  // namespace writeback::fuzz
