// The reader of .pt2 archives on any bytes: it reads or refuses.
#include "fuzz/targets/target.h"
#include "impl/import/import.h"
#include "ref/graph/error.h"
#include "ref/graph/text.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace writeback;
  try {
    print_text(impl::read_archive(fuzz::text_of_input(data, size)));
  } catch (const InputError&) {
  }
  return 0;
}
