#include "proofs/drat.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <cstdlib>
#include <stdexcept>
#include <unordered_map>
#include <utility>
#include <vector>

namespace writeback::proofs {
namespace {

/// 2 x variable, one more where it is negated.
using Literal = std::uint32_t;
using Clause = std::vector<Literal>;
using ClauseId = std::size_t;

constexpr std::int64_t kMostVariables = 1 << 22;

Literal negation(Literal l) { return l ^ 1U; }

/// A text as words, with the line of the last one.
class Words {
 public:
  Words(std::string what, std::string_view text) : what_(std::move(what)), text_(text) {}

  /// The next word; empty at the end.
  std::string_view next() {
    while (at_ < text_.size() && is_space(text_[at_])) line_ += text_[at_++] == '\n' ? 1 : 0;
    const std::size_t begin = at_;
    while (at_ < text_.size() && !is_space(text_[at_])) ++at_;
    return text_.substr(begin, at_ - begin);
  }
  void skip_line() { at_ = std::min(text_.find('\n', at_), text_.size()); }

  std::int64_t number(std::string_view word) const {
    std::int64_t n = 0;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), n);
    if (word.empty() || error != std::errc() || end != word.data() + word.size()) fail("no number where one must stand");
    return n;
  }

  [[noreturn]] void fail(const std::string& flaw) const {
    throw std::runtime_error(fmt::format("line {} of the {}: {}", line_, what_, flaw));
  }

 private:
  static bool is_space(char c) { return c == ' ' || c == '\n' || c == '\t' || c == '\r'; }

  std::string what_;
  std::string_view text_;
  std::size_t at_ = 0, line_ = 1;
};

/// A clause from its first word to its 0, each literal once.
Clause read_clause(Words& words, std::string_view word, std::int64_t variables) {
  Clause clause;
  for (std::int64_t n = 0; (n = words.number(word)) != 0; word = words.next()) {
    if (n > variables || n < -variables) words.fail(fmt::format("{} is no literal of the CNF", n));
    clause.push_back(static_cast<Literal>(2 * std::abs(n) + (n < 0 ? 1 : 0)));
  }
  std::ranges::sort(clause);
  clause.erase(std::ranges::unique(clause).begin(), clause.end());
  return clause;
}

/// Clauses and what follows from them by unit propagation. A clause with a true literal need not be kept, nor one of a single
/// literal that is not false: what it says is in the assignment, which only grows but for the assumptions of `follows`.
class Clauses {
 public:
  explicit Clauses(std::int64_t variables)
      : truth_(2 * static_cast<std::size_t>(variables) + 2), watches_(2 * static_cast<std::size_t>(variables) + 2) {}

  void add(Clause clause) {
    const auto free = std::partition(clause.begin(), clause.end(), [&](Literal l) { return truth_[l] != Truth::no; });
    if (std::any_of(clause.begin(), free, [&](Literal l) { return truth_[l] == Truth::yes; })) return;
    switch (free - clause.begin()) {
      case 0:
        contradict_ = true;
        break;
      case 1:
        assume(clause[0]);
        contradict_ |= !propagate();
        break;
      default:
        for (const std::size_t i : {0, 1}) watches_[clause[i]].push_back({clauses_.size(), clause[1 - i]});
        by_hash_.emplace(hash(clause), clauses_.size());
        clauses_.push_back(std::move(clause));
    }
  }

  void remove(const Clause& clause) {
    const auto [begin, end] = by_hash_.equal_range(hash(clause));
    const auto found = std::find_if(begin, end, [&](const auto& entry) {
      Clause kept = clauses_[entry.second];
      std::ranges::sort(kept);
      return kept == clause;
    });
    if (found == end) return;
    Clause().swap(clauses_[found->second]);  // its watches go when they are next looked at
    by_hash_.erase(found);
  }

  /// With all its literals false, propagation ends in a contradiction.
  bool follows(const Clause& clause) {
    if (contradict_) return true;
    const std::size_t known = trail_.size();
    bool holds = false;
    for (const Literal l : clause) {
      holds |= truth_[l] == Truth::yes;
      if (truth_[l] == Truth::open) assume(negation(l));
    }
    holds = holds || !propagate();
    for (; trail_.size() > known; trail_.pop_back()) truth_[trail_.back()] = truth_[negation(trail_.back())] = Truth::open;
    propagated_ = known;
    return holds;
  }

 private:
  enum class Truth : std::uint8_t { open, yes, no };
  struct Watch {
    ClauseId clause;
    Literal other;  ///< a literal of the clause: where it is true, the clause need not be looked at
  };

  /// The same for every order of the literals.
  static std::uint64_t hash(const Clause& clause) {
    std::uint64_t cubes = 0;
    for (const std::uint64_t l : clause) cubes += l * l * l;
    return cubes;
  }

  void assume(Literal l) {
    truth_[l] = Truth::yes;
    truth_[negation(l)] = Truth::no;
    trail_.push_back(l);
  }

  /// False where some clause has no literal left.
  bool propagate() {
    while (propagated_ < trail_.size())
      if (!visit(negation(trail_[propagated_++]))) return false;
    return true;
  }

  /// Gives each clause that watches `gone`, now false, another literal to watch.
  bool visit(Literal gone) {
    std::vector<Watch>& watches = watches_[gone];
    std::size_t kept = 0, i = 0;
    bool consistent = true;
    while (consistent && i < watches.size()) {
      Watch watch = watches[i++];
      Clause& clause = clauses_[watch.clause];
      if (truth_[watch.other] != Truth::yes) {
        if (clause.empty()) continue;
        if (clause[0] == gone) std::swap(clause[0], clause[1]);
        watch.other = clause[0];
        if (truth_[watch.other] != Truth::yes && watch_another(clause, watch)) continue;
      }
      watches[kept++] = watch;
      if (truth_[watch.other] == Truth::open) assume(watch.other);
      consistent = truth_[watch.other] != Truth::no;
    }
    while (i < watches.size()) watches[kept++] = watches[i++];
    watches.resize(kept);
    return consistent;
  }

  /// The second literal of the clause changes places with one that is not false, if there is one.
  bool watch_another(Clause& clause, const Watch& watch) {
    const auto found = std::find_if(clause.begin() + 2, clause.end(), [&](Literal l) { return truth_[l] != Truth::no; });
    if (found == clause.end()) return false;
    std::swap(clause[1], *found);
    watches_[clause[1]].push_back(watch);
    return true;
  }

  std::vector<Truth> truth_;  ///< by literal
  std::vector<std::vector<Watch>> watches_;
  std::vector<Clause> clauses_;  ///< the two that are watched first; empty where deleted
  std::unordered_multimap<std::uint64_t, ClauseId> by_hash_;
  std::vector<Literal> trail_;  ///< the true literals in the order in which they became so
  std::size_t propagated_ = 0;  ///< of the trail
  bool contradict_ = false;
};

struct Cnf {
  std::int64_t variables = 0;
  std::vector<Clause> clauses;
};

Cnf read_cnf(std::string_view text) {
  Words words("CNF", text);
  Cnf cnf;
  std::string_view word = words.next();
  for (; word == "c"; word = words.next()) words.skip_line();
  if (word != "p" || words.next() != "cnf") words.fail("no header");
  cnf.variables = words.number(words.next());
  if (cnf.variables < 0 || cnf.variables > kMostVariables) words.fail("too many variables");
  const std::int64_t count = words.number(words.next());
  for (word = words.next(); !word.empty(); word = words.next())
    if (word == "c")
      words.skip_line();
    else
      cnf.clauses.push_back(read_clause(words, word, cnf.variables));
  if (count != static_cast<std::int64_t>(cnf.clauses.size())) words.fail("not as many clauses as the header says");
  return cnf;
}

/// Checks the proof clause by clause; true if the empty clause is reached.
bool reach_empty_clause(const Cnf& cnf, Words proof, std::size_t& added) {
  Clauses clauses(cnf.variables);
  for (const Clause& clause : cnf.clauses) clauses.add(clause);
  bool reached = std::ranges::any_of(cnf.clauses, &Clause::empty);
  for (std::string_view word = proof.next(); !word.empty(); word = proof.next()) {
    if (word == "d") {
      clauses.remove(read_clause(proof, proof.next(), cnf.variables));
      continue;
    }
    Clause clause = read_clause(proof, word, cnf.variables);
    if (!clauses.follows(clause)) proof.fail("the clause does not follow by unit propagation");
    reached |= clause.empty();
    clauses.add(std::move(clause));
    ++added;
  }
  return reached;
}

}  // namespace

DratAnswer check_drat(std::string_view cnf, std::string_view proof) {
  DratAnswer answer;
  try {
    answer.refutes = reach_empty_clause(read_cnf(cnf), Words("proof", proof), answer.added);
    if (!answer.refutes) answer.flaw = "the proof ends without the empty clause";
  } catch (const std::runtime_error& e) {
    answer.flaw = e.what();
  }
  return answer;
}

}  // namespace writeback::proofs
