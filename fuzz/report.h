// The bug report of one failure: a page for people, a test for our corpus, a script that shows it in PyTorch without us.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "fuzz/oracle.h"

namespace writeback::fuzz {

/// What a report is made of: a failing program and its judgement.
struct Case {
  std::string implementation;  ///< empty: a pass in the caller's own process, which nobody else can run again
  Program program;
  Options options;
  Judged judged;
};

/// Markdown: the program as PyTorch prints it, the placement found and the right one, the first difference, the hazard in a
/// sentence, the alias chain, how to replay.
std::string report_markdown(const Case&);

/// A test in GoogleTest for tests/corpus: the program and what must hold of its placement.
std::string report_test(const Case&);

/// A Python script that needs torch only: it rebuilds the graph, runs the placement found with real copies beside the meaning,
/// and shows what the failure claims. Empty where no run shows anything.
std::string report_script(const Case&);

/// The program as the implementation left it, its copies as nodes.
Program left_by(const Case&);

/// report.md, reproduce.py, case_test.cpp, expected.txt for a program that fails: name and content. `name` is that of the
/// implementation, which is asked once more: whoever writes many reports keeps one, since a process takes long to start.
std::vector<std::pair<std::string, std::string>> report_files(const std::string& program_text, const std::string& name,
                                                              Implementation& tested, const Options& base);

}  // namespace writeback::fuzz
