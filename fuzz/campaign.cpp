#include "fuzz/campaign.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "fuzz/drivers.h"
#include "fuzz/failure_json.h"
#include "fuzz/minimize.h"
#include "fuzz/report.h"
#include "ref/graph/error.h"
#include "ref/graph/text.h"
#include "ref/graph/well_formed.h"

namespace writeback::fuzz {
namespace {

using Json = nlohmann::ordered_json;
using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

// --- What a worker shares with its parent ---

constexpr std::uint64_t kIdle = ~std::uint64_t{0};
constexpr std::size_t kSkipKinds = 8;
constexpr std::size_t kSkipName = 128;  ///< bytes

/// Numbers in memory that both processes map; each is written by its worker alone.
struct Counters {
  std::atomic<std::uint64_t> current{kIdle};  ///< the case being judged
  std::atomic<std::uint64_t> started_ms{0};   ///< when, since the start
  std::atomic<std::uint64_t> cases{0}, valid{0}, right{0}, failing{0}, skipped{0}, nodes{0}, copies{0}, confirmed{0}, unobserved{0},
      searched{0}, as_searched{0};
  std::atomic<std::uint64_t> next{0};  ///< the first case of this worker not yet judged
  std::array<std::atomic<std::uint64_t>, kFeatureCount> features{};
  std::array<std::atomic<std::uint64_t>, kRuleCount> rules{};
  std::array<std::atomic<std::uint64_t>, kSkipKinds> skips{};
  std::array<char[kSkipName], kSkipKinds> skip_names{};
  std::atomic<bool> minimizing{false};
};

struct Shared {
  std::atomic<bool> stop{false};
  std::atomic<std::uint64_t> limit{kIdle};
};

template <typename T>
T* map_shared(std::size_t count) {
  void* memory = mmap(nullptr, sizeof(T) * count, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) throw std::runtime_error("cannot map memory for the workers");
  return new (memory) T[count];
}

volatile sig_atomic_t interrupted = 0;

// --- A worker ---

class Worker {
 public:
  Worker(const CampaignOptions& options, Shared& shared, Counters& counters, int pipe, std::set<std::string> known,
         Clock::time_point start)
      : options_(options), shared_(shared), counters_(counters), pipe_(pipe), known_(std::move(known)), start_(start) {}

  [[noreturn]] void run(std::uint64_t first, std::uint64_t stride) {
    signal(SIGINT, SIG_IGN);
    implementation_ = implementation(options_.implementation, {options_.case_seconds, options_.start_seconds});
    for (std::uint64_t i = first; !shared_.stop && i < shared_.limit; i += stride) {
      counters_.started_ms = static_cast<std::uint64_t>(seconds_since(start_) * 1000);
      counters_.current = i;
      run_case(i);
      counters_.next = i + stride;
    }
    counters_.current = kIdle;
    std::exit(0);  // not _exit: coverage and leaks are written down at the end of a process
  }

 private:
  void run_case(std::uint64_t i) {
    const Program program = campaign_case(options_.seed, i, options_.sizes);
    const Options meaning = options_of(program, options_.options);
    const Checks checks = campaign_checks(i, options_.strict);
    const Judged judged = judged_or_refused(program, meaning, checks);
    counters_.valid += is_valid(program, judged) ? 1 : 0;
    count(program, meaning, judged);
    if (judged.verdict == Verdict::right || judged.verdict == Verdict::skipped) return;
    if (known_.insert(judged.signature.text).second) report(i, program, judged, checks);
  }

  /// A program that the reference refuses is not judged.
  Judged judged_or_refused(const Program& program, const Options& meaning, const Checks& checks) {
    try {
      return judge(*implementation_, program, meaning, checks);
    } catch (const InputError& e) {
      Judged judged;
      judged.verdict = Verdict::skipped;
      judged.reason = kRefused + std::string(e.what());
      return judged;
    }
  }

  /// The generator's promise, seen on every case: the program is well formed and the reference takes it.
  static bool is_valid(const Program& program, const Judged& judged) {
    return breaches(program).empty() && !judged.reason.starts_with(kRefused);
  }

  /// A value must be read before a node that changes it by lowering.
  static bool end_is_too_late(const Program& program, const Options& meaning) {
    const auto conflicts = impl::accept(program, end_placement(program), meaning);
    return std::any_of(conflicts.begin(), conflicts.end(), [](const auto& c) { return c.rule == impl::Rule::deadline; });
  }

  void count(const Program& program, const Options& meaning, const Judged& judged) {
    ++counters_.cases;
    counters_.nodes += program.graph.nodes.size();
    counters_.confirmed += judged.confirmed_reasons;
    counters_.unobserved += judged.unobserved_reasons;
    counters_.searched += judged.copies_searched;
    counters_.as_searched += judged.copies_as_searched;
    if (judged.verdict == Verdict::right)
      ++counters_.right;
    else if (judged.verdict == Verdict::skipped)
      ++counters_.skipped, count_skip(judged.reason);
    else
      ++counters_.failing;
    if (counters_.cases % 8 != 1) return;  // features are a sample: they cost as much as a placement
    Features features = features_of(program, meaning);
    const impl::PlaceResult& result = judged.answer.result;
    const auto set = [&](Feature f, bool on) { features[static_cast<std::size_t>(f)] = on; };
    const auto& copies = result.placement.copies;
    const Slot end = slot_at(program.graph.nodes.size());
    set(Feature::earliest_before_end,
        std::any_of(copies.begin(), copies.end(), [&](const PlacedCopy& c) { return !c.in_place && c.at.slot < end; }));
    set(Feature::in_place_copy, std::any_of(copies.begin(), copies.end(), [](const PlacedCopy& c) { return c.in_place; }));
    set(Feature::temporaries, !result.placement.temporaries.empty());
    set(Feature::read_first, !result.placement.outputs_read_first.empty());
    set(Feature::clobbered, !result.clobbered.empty());
    set(Feature::lowering_hazard, !result.lowering_hazards.empty());
    set(Feature::deadline, judged.answer.kind == Answer::Kind::placed && end_is_too_late(program, meaning));
    for (std::size_t f = 0; f < kFeatureCount; ++f) counters_.features[f] += features[f] ? 1 : 0;
    for (const impl::Reason& r : result.reasons) ++counters_.rules[static_cast<std::size_t>(r.rule)];
    counters_.copies += copies.size();
  }

  void count_skip(const std::string& reason) {
    for (std::size_t k = 0; k < kSkipKinds; ++k) {
      char* name = counters_.skip_names[k];
      if (name[0] == 0) std::snprintf(name, sizeof counters_.skip_names[k], "%s", k + 1 == kSkipKinds ? "other" : reason.c_str());
      if (k + 1 == kSkipKinds || reason.substr(0, sizeof counters_.skip_names[k] - 1) == name) return ++counters_.skips[k], void();
    }
  }

  void report(std::uint64_t i, const Program& program, const Judged& judged, const Checks& checks) {
    Failure failure;
    failure.signature = judged.signature;
    failure.index = i;
    failure.first_seconds = seconds_since(start_);
    failure.cases = counters_.cases;
    counters_.minimizing = true;
    const auto begin = Clock::now();
    const Minimized small =
        minimize(*implementation_, program, options_.options, judged.signature, checks, options_.minimize_seconds);
    counters_.minimizing = false;
    failure.minimize_seconds = seconds_since(begin);
    failure.program = print_text(small.program);
    failure.nodes = small.program.graph.nodes.size();
    failure.one_minimal = small.one_minimal;
    failure.reason = small.judged.reason.empty() ? judged.reason : small.judged.reason;
    Json message = failure_json(failure);
    message["original"] = print_text(program);
    send(message);
  }

  void send(const Json& message) {
    const std::string line = message.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
    for (std::size_t sent = 0; sent < line.size();) {
      const ssize_t n = write(pipe_, line.data() + sent, line.size() - sent);
      if (n <= 0) return;
      sent += static_cast<std::size_t>(n);
    }
  }

  static constexpr const char* kRefused = "refused by the reference: ";

  const CampaignOptions& options_;
  Shared& shared_;
  Counters& counters_;
  int pipe_;
  std::set<std::string> known_;
  Clock::time_point start_;
  std::unique_ptr<Implementation> implementation_;
};

// --- The parent ---

class Campaign {
 public:
  explicit Campaign(const CampaignOptions& options) : options_(options), start_(Clock::now()) {
    summary_.implementation = options.implementation;
    summary_.seed = options.seed;
    load();
  }

  Summary run() {
    // For the reports; and a bad name is said here and not in each worker.
    reported_ = implementation(options_.implementation, {options_.case_seconds, options_.start_seconds});
    shared_ = map_shared<Shared>(1);
    counters_ = map_shared<Counters>(options_.jobs);
    if (options_.runs > 0) shared_->limit = summary_.next + options_.runs;
    interrupted = 0;
    struct sigaction action{}, before{};
    action.sa_handler = [](int) { interrupted = 1; };
    sigaction(SIGINT, &action, &before);
    workers_.resize(options_.jobs);
    for (unsigned w = 0; w < options_.jobs; ++w) start_worker(w, summary_.next + w);
    watch();
    sigaction(SIGINT, &before, nullptr);
    collect();
    save();
    return summary_;
  }

 private:
  struct Process {
    pid_t pid = 0;
    int pipe = -1;
    std::string buffer;
    bool done = false;
  };

  void start_worker(unsigned w, std::uint64_t first) {
    int ends[2];
    if (pipe(ends) != 0) throw std::runtime_error("cannot open a pipe for a worker");
    counters_[w].next = first;
    std::fflush(nullptr);
    const pid_t pid = fork();
    if (pid < 0) throw std::runtime_error("cannot start a worker");
    if (pid == 0) {
      close(ends[0]);
      std::set<std::string> known;
      for (const Failure& f : summary_.failures) known.insert(f.signature.text);
      try {
        Worker(options_, *shared_, counters_[w], ends[1], std::move(known), start_).run(first, options_.jobs);
      } catch (const std::exception& e) {
        std::fprintf(stderr, "worker: %s\n", e.what());
        _exit(3);
      }
    }
    close(ends[1]);
    fcntl(ends[0], F_SETFL, O_NONBLOCK);
    workers_[w] = {pid, ends[0], {}, false};
  }

  void watch() {
    Clock::time_point shown = start_, saved = start_;
    while (std::any_of(workers_.begin(), workers_.end(), [](const Process& p) { return !p.done; })) {
      wait_for_messages();
      if (interrupted || seconds_since(start_) >= options_.seconds || enough()) shared_->stop = true;
      for (unsigned w = 0; w < workers_.size(); ++w) {
        if (!workers_[w].done) receive(workers_[w]), look_after(w);
      }
      if (options_.progress && seconds_since(shown) >= 1) shown = Clock::now(), show_progress();
      if (seconds_since(saved) >= 10) saved = Clock::now(), collect(), save();
    }
    summary_.interrupted = interrupted != 0;
    if (options_.progress) show_progress(), std::fputc('\n', stderr);
  }

  bool enough() const { return options_.stop_after > 0 && new_failures_ >= options_.stop_after; }

  void wait_for_messages() {
    std::vector<pollfd> polls;
    for (const Process& p : workers_) {
      if (!p.done) polls.push_back({p.pipe, POLLIN, 0});
    }
    poll(polls.data(), polls.size(), 50);
  }

  void receive(Process& process) {
    char bytes[1 << 14];
    for (ssize_t n; (n = read(process.pipe, bytes, sizeof bytes)) > 0;) process.buffer.append(bytes, static_cast<std::size_t>(n));
    for (std::size_t end; (end = process.buffer.find('\n')) != std::string::npos;) {
      const Json message = Json::parse(process.buffer.substr(0, end), nullptr, false);
      process.buffer.erase(0, end + 1);
      if (!message.is_discarded()) add(message);
    }
  }

  void add(const Json& message) {
    Failure f = failure_of(message);
    f.original = message.at("original");
    add(std::move(f));
  }

  void add(Failure f) {
    for (Failure& known : summary_.failures) {
      if (known.signature == f.signature) return ++known.times, void();
    }
    ++new_failures_;
    write_failure(f);
    summary_.failures.push_back(std::move(f));
  }

  /// Ends a worker that hangs, notices one that has ended, and starts another after a crash.
  void look_after(unsigned w) {
    Counters& c = counters_[w];
    const double busy = seconds_since(start_) - static_cast<double>(c.started_ms) / 1000;
    const double starting = options_.implementation.starts_with("cmd:") ? options_.start_seconds : 0;
    const double allowed = options_.case_seconds + starting + (c.minimizing ? options_.minimize_seconds : 0) + 1;
    const bool hangs = c.current != kIdle && busy > allowed && !interrupted;
    const bool late = interrupted && seconds_since(start_) > options_.seconds + options_.minimize_seconds + 5;
    if (hangs || late) kill(workers_[w].pid, SIGKILL);
    int status = 0;
    if (waitpid(workers_[w].pid, &status, hangs || late ? 0 : WNOHANG) != workers_[w].pid) return;
    receive(workers_[w]);
    close(workers_[w].pipe);
    workers_[w].done = true;
    if (WIFEXITED(status)) return;
    const std::uint64_t at = c.current;
    if (at != kIdle) {
      const Program program = campaign_case(options_.seed, at, options_.sizes);
      c.valid += breaches(program).empty() ? 1 : 0;
      ++c.cases, ++c.failing, add(ended(program, at, hangs, status));
    }
    c.current = kIdle;
    c.minimizing = false;
    if (!shared_->stop) start_worker(w, at == kIdle ? c.next.load() : at + options_.jobs);
  }

  Failure ended(const Program& program, std::uint64_t at, bool hangs, int status) {
    Failure f;
    const std::string what = hangs ? "timed out/" : fmt::format("crashed/signal {}", WTERMSIG(status));
    f.signature = {what, hangs ? "timed out" : "crashed"};
    f.reason = hangs ? fmt::format("case {} took more than {} s", at, options_.case_seconds)
                     : fmt::format("case {} ended the process with signal {}", at, WTERMSIG(status));
    f.index = at;
    f.first_seconds = seconds_since(start_);
    f.original = f.program = print_text(program);
    f.nodes = program.graph.nodes.size();
    return f;
  }

  /// Adds up the workers' numbers, over those of the campaign that this one goes on with.
  void collect() {
    const std::vector<Failure> failures = std::move(summary_.failures);
    const bool was_interrupted = summary_.interrupted;
    summary_ = before_;
    summary_.implementation = options_.implementation;
    summary_.seed = options_.seed;
    summary_.failures = failures;
    summary_.interrupted = was_interrupted;
    summary_.seconds += seconds_since(start_);
    for (unsigned w = 0; w < options_.jobs; ++w) {
      const Counters& c = counters_[w];
      summary_.cases += c.cases;
      summary_.valid += c.valid;
      summary_.right += c.right;
      summary_.failing += c.failing;
      summary_.skipped += c.skipped;
      summary_.nodes += c.nodes;
      summary_.copies += c.copies;
      summary_.confirmed_reasons += c.confirmed;
      summary_.unobserved_reasons += c.unobserved;
      summary_.copies_searched += c.searched;
      summary_.copies_as_searched += c.as_searched;
      summary_.next = std::max<std::uint64_t>(summary_.next, c.next);
      for (std::size_t f = 0; f < kFeatureCount; ++f) summary_.features[f] += c.features[f];
      for (std::size_t r = 0; r < kRuleCount; ++r) summary_.rules[r] += c.rules[r];
      for (std::size_t k = 0; k < kSkipKinds; ++k) {
        if (c.skips[k] > 0) summary_.skips[c.skip_names[k]] += c.skips[k];
      }
    }
  }

  void show_progress() {
    collect();
    std::fprintf(
        stderr, "\r%s",
        fmt::format("{:6.0f} s  {} cases  {:.0f}/s  {} failing  {} signatures  {} skipped    ", summary_.seconds, summary_.cases,
                    static_cast<double>(summary_.cases - before_.cases) / std::max(0.001, seconds_since(start_)), summary_.failing,
                    summary_.failures.size(), summary_.skipped)
            .c_str());
    std::fflush(stderr);
  }

  // --- Files ---

  std::string path(const std::string& name) const { return options_.out + "/" + name; }

  void write(const std::string& name, const std::string& content) {
    std::filesystem::create_directories(std::filesystem::path(path(name)).parent_path());
    const std::string temporary = path(name) + ".new";
    std::ofstream(temporary, std::ios::binary) << content;
    std::filesystem::rename(temporary, path(name));
  }

  void write_failure(Failure& f) {
    if (options_.out.empty()) return;
    std::string folder = fmt::format("failures/{:03}-", summary_.failures.size() + 1);
    for (const char c : f.signature.text) folder += (std::isalnum(static_cast<unsigned char>(c)) != 0) ? c : '-';
    folder = folder.substr(0, 80);
    f.file = path(folder + "/program.txt");
    write(folder + "/program.txt", f.program);
    write(folder + "/original.txt", f.original);
    if (f.signature.rule == "crashed" || f.signature.rule == "timed out") return;
    for (const auto& [name, content] : report_files(f.program, options_.implementation, *reported_, options_.options))
      write(folder + "/" + name, content);
  }

  void save() {
    if (options_.out.empty()) return;
    write("summary.txt", summary_text(summary_));
    write("summary.html", summary_html(summary_));
    write("summary.json", summary_json(summary_));
  }

  /// summary.json of the campaign that this one goes on with.
  void load() {
    if (options_.out.empty() || !std::filesystem::exists(path("summary.json"))) return;
    std::ifstream file(path("summary.json"));
    const Json json = Json::parse(file, nullptr, false);
    if (json.is_discarded() || json.value("seed", options_.seed + 1) != options_.seed ||
        json.value("implementation", "") != options_.implementation) {
      throw InputError(path("summary.json"), "is not of a campaign with this seed and implementation; choose another --out");
    }
    before_ = summary_of_json(json);
    summary_ = before_;
  }

  static Summary summary_of_json(const Json& json) {
    Summary s;
    s.next = json.at("next");
    s.seconds = json.at("seconds");
    s.cases = json.at("cases");
    s.valid = json.at("valid");
    s.right = json.at("right");
    s.failing = json.at("failing");
    s.nodes = json.at("nodes");
    s.copies = json.at("copies");
    s.confirmed_reasons = json.at("reasons_confirmed");
    s.unobserved_reasons = json.at("reasons_unobserved");
    s.copies_searched = json.value("copies_searched", std::uint64_t{0});
    s.copies_as_searched = json.value("copies_as_searched", std::uint64_t{0});
    for (const auto& [reason, count] : json.at("skipped").items()) s.skips[reason] = count, s.skipped += count.get<std::uint64_t>();
    for (std::size_t f = 0; f < kFeatureCount; ++f)
      s.features[f] = json.at("features").value(std::string(name_of(static_cast<Feature>(f))), std::uint64_t{0});
    for (std::size_t r = 0; r < kRuleCount; ++r)
      s.rules[r] = json.at("rules").value(std::string(impl::name_of(static_cast<impl::Rule>(r))), std::uint64_t{0});
    for (const Json& failure : json.at("failures")) s.failures.push_back(failure_of(failure));
    return s;
  }

  CampaignOptions options_;
  Clock::time_point start_;
  Summary before_, summary_;
  Shared* shared_ = nullptr;
  Counters* counters_ = nullptr;
  std::unique_ptr<Implementation> reported_;
  std::vector<Process> workers_;
  std::uint32_t new_failures_ = 0;
};

}  // namespace

Program campaign_case(std::uint64_t seed, std::uint64_t index, const Sizes& sizes) {
  Random random(seed * 0x9e3779b97f4a7c15u + index);
  return generate(random_records(random, sizes), sizes);
}

Checks campaign_checks(std::uint64_t index, bool strict) {
  Checks checks;
  checks.strict = strict;
  checks.explanation = index % 4 == 0;
  checks.text = index % 16 == 1;
  checks.relations = index % 8 == 2;
  checks.search = index % 16 == 3;
  checks.choices = index % 64 == 0 ? 256 : 64;
  return checks;
}

Summary run_campaign(const CampaignOptions& options) { return Campaign(options).run(); }

}  // namespace writeback::fuzz
