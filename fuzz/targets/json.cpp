// The reader of export-schema JSON on any bytes: it reads or refuses, and what it reads is written and read again as the same text.
#include "fuzz/targets/target.h"
#include "impl/import/import.h"
#include "ref/graph/error.h"
#include "ref/graph/text.h"
#include "ref/graph/well_formed.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace writeback;
  Program program;
  try {
    program = impl::read_json(fuzz::text_of_input(data, size));
    if (!breaches(program).empty()) return 0;
    print_text(program);
    program = impl::read_json(impl::write_json(program));
  } catch (const InputError&) {
  }
  return 0;
}
