// Our placement against the reference, every question of the oracle asked.
#include "fuzz/implementation.h"
#include "fuzz/oracle.h"
#include "fuzz/targets/records_mutator.h"
#include "ref/graph/error.h"
#include "ref/graph/text.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace writeback;
  static const std::unique_ptr<fuzz::Implementation> fast = fuzz::implementation("fast");
  const Program program = fuzz::program_of_input(data, size);
  if (program.graph.nodes.size() > 64) return 0;  // the reference is slow
  fuzz::Checks checks;
  checks.explanation = checks.text = checks.relations = true;
  try {
    const fuzz::Judged judged = fuzz::judge(*fast, program, options_of(program), checks);
    if (judged.verdict != fuzz::Verdict::right && judged.verdict != fuzz::Verdict::skipped) {
      fuzz::broken(judged.signature.text, judged.reason + "\n" + print_text(program));
    }
  } catch (const InputError&) {
    // Texts from the corpus may be refused; generated programs are not, which the oracle says.
  }
  return 0;
}
