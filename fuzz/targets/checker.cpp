// `accept` and `equivalent` against `judge`, on placements that are wrong more often than right: what `accept` takes is safe, and a
// placement is safe if and only if the program with its explicit copies is equivalent.
#include "fuzz/drivers.h"
#include "fuzz/targets/records_mutator.h"
#include "impl/place.h"
#include "ref/graph/error.h"
#include "ref/graph/text.h"
#include "ref/meaning.h"

namespace {

using namespace writeback;

/// The least placement with a few copies moved, by decisions from the end of the input.
Placement disturbed(const Program& program, Placement placement, fuzz::Random random) {
  for (PlacedCopy& copy : placement.copies) {
    if (random.below(2) == 0) continue;
    copy.at = {slot_at(random.below(static_cast<std::uint32_t>(program.graph.nodes.size() + 1))), 0};
    copy.in_place = copy.in_place && random.below(2) == 0;
  }
  // Orders within a slot are counted anew: temporaries, then copies in output order.
  std::vector<std::uint32_t> orders(program.graph.nodes.size() + 1);
  for (Temporary& t : placement.temporaries) t.at.order = orders[index_of(t.at.slot)]++;
  for (PlacedCopy& copy : placement.copies) {
    if (!copy.in_place) copy.at.order = orders[index_of(copy.at.slot)]++;
  }
  return placement;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const Program program = fuzz::program_of_input(data, size);
  if (program.graph.nodes.size() > 64) return 0;
  try {
    const Options options = options_of(program);
    const Placement placement =
        disturbed(program, impl::place(program, options).placement, fuzz::Random(size == 0 ? 0 : data[size - 1]));
    ref::Limits limits;
    limits.choices = 64;
    const ref::Judgement judged = ref::judge(program, placement, options, limits);
    if (impl::accept(program, placement, options).empty() && judged.verdict == ref::Verdict::unsafe) {
      fuzz::broken("what accept takes is safe", print_text(with_explicit_copies(program, placement)));
    }
    const ref::Judgement whole = ref::equivalent(program, with_explicit_copies(program, placement), options, limits);
    const bool decided = judged.verdict != ref::Verdict::undecided && whole.verdict != ref::Verdict::undecided;
    if (decided && judged.verdict != whole.verdict) {
      fuzz::broken("judge and equivalent agree", print_text(with_explicit_copies(program, placement)));
    }
  } catch (const InputError&) {
  }
  return 0;
}
