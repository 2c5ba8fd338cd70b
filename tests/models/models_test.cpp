// The real programs that torch exported: each is placed, and the placement is safe by the reference; the archive and the printed
// text of one program get the same placement by name; and a copy that stands one slot earlier, or is left out, is refused.
#include <fmt/core.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "impl/coalesce.h"
#include "impl/import/import.h"
#include "impl/place.h"
#include "ref/graph/error.h"
#include "ref/graph/text.h"
#include "ref/meaning.h"
#include "tests/models/files.h"

namespace writeback {
namespace {

namespace fs = std::filesystem;

/// "target <- value after node": the placement by names, in output order.
std::vector<std::string> by_name(const Program& program, const impl::PlaceResult& result) {
  std::vector<std::string> lines;
  for (std::size_t i = 0; i < result.write_backs.size(); ++i) {
    const PlacedCopy& copy = result.placement.copies[i];
    const std::string after = index_of(copy.at.slot) == 0 ? "start" : program.graph.nodes[index_of(copy.at.slot) - 1].name;
    lines.push_back(fmt::format("{} <- {} {}", program.graph.name_of(result.write_backs[i].target),
                                program.graph.name_of(result.write_backs[i].value), copy.in_place ? "in place" : "after " + after));
  }
  return lines;
}

TEST(Models, ThereAreTwelveAndMore) { EXPECT_GE(model_files({".pt2"}).size(), 24u); }

TEST(Models, EveryPlacementIsSafe) {
  for (const fs::path& path : model_files({".pt2", ".txt"})) {
    const Program program = impl::read_program_file(path.string());
    const impl::PlaceResult result = impl::place(program);
    EXPECT_TRUE(result.lowering_hazards.empty()) << path.filename();
    EXPECT_TRUE(impl::accept(program, result.placement).empty()) << path.filename();
    const ref::Judgement judgement = ref::equivalent(program, with_explicit_copies(program, result.placement), {});
    EXPECT_EQ(judgement.verdict, ref::Verdict::safe) << path.filename() << ": " << judgement.note;
  }
}

TEST(Models, ArchiveAndTextGetTheSamePlacement) {
  std::size_t compared = 0;
  for (const fs::path& path : model_files({".pt2"})) {
    const fs::path text = fs::path(path).replace_extension(".txt");
    if (!fs::exists(text)) continue;
    ++compared;
    const Program archive = impl::read_program_file(path.string());
    Program printed = impl::read_program_file(text.string());
    if (printed.alias_groups.empty() && !archive.alias_groups.empty()) printed = read_text(print_text(archive));
    EXPECT_EQ(by_name(archive, impl::place(archive)), by_name(printed, impl::place(printed))) << path.filename();
  }
  EXPECT_GE(compared, 24u);
}

TEST(Models, OneSlotEarlierIsRefused) {
  std::size_t moved = 0;
  for (const fs::path& path : model_files({".pt2"})) {
    const Program program = impl::read_program_file(path.string());
    const Placement placement = impl::place(program).placement;
    for (std::size_t i = 0; i < placement.copies.size(); ++i) {
      if (placement.copies[i].in_place || index_of(placement.copies[i].at.slot) == 0) continue;
      Placement earlier = placement;
      earlier.copies[i].at = {slot_at(index_of(placement.copies[i].at.slot) - 1), 1000};
      ++moved;
      EXPECT_FALSE(impl::accept(program, earlier).empty()) << path.filename() << ", copy " << i;
      EXPECT_EQ(ref::judge(program, earlier, {}).verdict, ref::Verdict::unsafe) << path.filename() << ", copy " << i;
    }
  }
  EXPECT_GE(moved, 40u);
}

TEST(Models, ACopyLeftOutIsRefused) {
  for (const fs::path& path : model_files({".pt2"})) {
    const Program program = impl::read_program_file(path.string());
    const Placement placement = impl::place(program).placement;
    for (std::size_t i = 0; i < placement.copies.size(); ++i) {
      if (placement.copies[i].in_place) continue;
      Placement without = placement;
      without.copies[i].in_place = true;
      EXPECT_FALSE(impl::accept(program, without).empty()) << path.filename() << ", copy " << i;
      EXPECT_EQ(ref::judge(program, without, {}).verdict, ref::Verdict::unsafe) << path.filename() << ", copy " << i;
    }
  }
}

/// As a user does it: the text that `place --forward` or `--coalesce` writes is checked against the archive.
TEST(Models, WhatIsForwardedOrCoalescedIsSafeAsItPrints) {
  std::size_t undecided = 0;
  for (const fs::path& path : model_files({".pt2", ".txt"})) {
    const Program program = impl::read_program_file(path.string());
    const Placement placement = impl::place(program).placement;
    for (const impl::Savings savings : {impl::Savings{.forward = true}, impl::Savings{.forward = true, .coalesce = true}}) {
      const Program printed = read_text(print_text(impl::rewrite(program, placement, savings, {}).program));
      const ref::Judgement judgement = ref::equivalent(program, printed, {}, {.choices = 256});
      if (judgement.note.starts_with("tried 256 choices")) {
        ++undecided;
        continue;
      }
      EXPECT_EQ(judgement.verdict, ref::Verdict::safe) << path.filename() << ": " << judgement.note;
    }
  }
  EXPECT_LE(undecided, 6u) << "three decoders alone have more choices than can be tried";
}

TEST(Models, PrintOfReadIsTheTextThatTorchPrinted) {
  for (const fs::path& path : model_files({".txt"})) {
    const std::string text = impl::read_file(path.string());
    EXPECT_EQ(print_text(read_text(text)), text) << path.filename();
  }
}

}  // namespace
}  // namespace writeback
