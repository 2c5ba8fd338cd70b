// The `# expect:` lines of a corpus file, and their comparison with a placement. The language is in tests/corpus/manual.txt.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "ref/graph/options.h"
#include "ref/graph/placement.h"
#include "ref/graph/program.h"

namespace writeback::corpus {

struct Case {
  std::string name;
  Program program;
  Options options;
  std::vector<std::string> expect;  ///< the lines without "# expect: "
  std::vector<bool> tight;          ///< per write-back: one slot earlier was seen to change a value; empty = all of them
};

/// Every text file under tests/corpus (with `# expect:` lines), sorted by name.
std::vector<Case> text_cases();

/// tests/corpus/random.jsonl.
std::vector<Case> random_cases();

/// What a placement says in the language of `# expect:`, sorted: slots, in place, temporaries, outputs read first.
std::vector<std::string> described(const Program&, const Placement&);

/// (copy, by) pairs of write-backs in the same language, "clobbered P by Q".
std::vector<std::string> described_clobbers(const Program&, const std::vector<std::pair<std::uint32_t, std::uint32_t>>&);

/// "P before Q" lines among the expectations that the placement breaks.
std::vector<std::string> broken_orders(const Case&, const Placement&);

/// The expectations that `described` and `described_clobbers` answer (all but "P before Q"), sorted.
std::vector<std::string> plain_expectations(const Case&);

/// "b_a <- new": the name of a write-back in this language.
std::string pair_name(const Program&, std::uint32_t write_back);

}  // namespace writeback::corpus
