// The text reader on any bytes: it reads or refuses, and what it reads prints as something that reads as itself.
#include "ref/graph/text.h"
#include "fuzz/targets/target.h"
#include "ref/graph/error.h"
#include "ref/graph/well_formed.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace writeback;
  Program program;
  try {
    program = read_text(fuzz::text_of_input(data, size));
  } catch (const InputError&) {
    return 0;
  }
  breaches(program);
  const std::string text = print_text(program);
  try {
    if (print_text(read_text(text)) != text) fuzz::broken("printed text reads as itself", text);
  } catch (const InputError& e) {
    fuzz::broken(std::string("printed text can be read: ") + e.what(), text);
  }
  return 0;
}
