// Is an implementation's answer right? The reference says whether it is safe and whether it is earliest; the explanation must name
// something that really blocks; the text must read back; related programs must have related answers. A verdict always has a reason,
// and what is not judged is counted as a skip, never as a pass.
//
// It may be wrong where the reference is: both sides share the effect of one op and the readers (see faults.h, shared faults).
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "fuzz/implementation.h"
#include "ref/meaning.h"

namespace writeback::fuzz {

enum class Verdict : std::uint8_t {
  right,
  unsafe,        ///< some run differs from the meaning
  late,          ///< safe, but a copy could stand earlier, or a temporary or a copy is not needed
  early,         ///< judged safe, though before the earliest slot that the reference finds: one of the two is wrong
  not_accepted,  ///< the placement is not what `accept` takes
  unexplained,   ///< the reason does not name what blocks
  unreported,    ///< a lowering hazard or a clobbered write-back that the answer is silent about
  unreadable,    ///< what was printed does not read back as itself
  unrelated,     ///< a related program gets an unrelated answer
  refused,       ///< a good program is refused
  crashed,
  timed_out,
  malformed,
  skipped  ///< not judged: see `reason`
};
constexpr std::uint8_t kVerdictCount = 14;
std::string_view name_of(Verdict);

/// Names a failure so that two of one kind count once: verdict, rule, role of the copy, kind of the observing node.
struct Signature {
  std::string text;  ///< "unsafe/reads_target/buffer<-node/view"
  std::string rule;
  auto operator<=>(const Signature&) const = default;
};

struct Judged {
  Verdict verdict = Verdict::right;
  Signature signature;
  std::string reason;                          ///< a sentence
  std::optional<std::uint32_t> copy;           ///< the write-back at fault
  std::map<std::string, std::string> choices;  ///< that witness the failure
  Answer answer;
  Placement earliest;      ///< by the reference, where minimality was judged
  bool unlowered = false;  ///< the difference is there in a run without lowering
  std::optional<ref::Judgement> judgement;
  std::uint32_t unobserved_reasons = 0;  ///< blockers whose removal no value shows (x - x, dead stores)
  std::uint32_t confirmed_reasons = 0;
  std::uint32_t copies_searched = 0, copies_as_searched = 0;  ///< of small programs: all, and those at the slot that a search finds
};

/// Which questions to ask; each costs.
struct Checks {
  bool minimality = true;
  bool explanation = false;
  bool text = false;
  bool relations = false;
  bool search = false;                               ///< compare small programs with a search over values
  bool strict = false;                               ///< judge outside implementations by more than safety
  std::uint64_t choices = 64;                        ///< most choices tried a case
  std::map<std::string, std::string> first_choices;  ///< tried before all others: a witness of a program like this one
};

Judged judge(Implementation&, const Program&, const Options&, const Checks&);

/// What a node is to an observer: "write", "view", "later alias", "opaque", "list", "metadata", "op".
std::string kind_of_node(const Program&, NodeId, const Options&);

}  // namespace writeback::fuzz
