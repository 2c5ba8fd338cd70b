#include "ref/graph/options.h"

#include "ref/graph/error.h"
#include "ref/graph/program.h"

namespace writeback {
namespace {

[[noreturn]] void refuse(const std::string& expected, const std::string& got) {
  throw InputError("# options:", "expected " + expected + ", got '" + got + "'");
}

}  // namespace

Options options_of(const Program& program, Options options) {
  for (std::size_t i = 0; i < program.options.size(); i += 2) {
    const std::string& name = program.options[i];
    const std::string value = i + 1 < program.options.size() ? program.options[i + 1] : "";
    if (name == "--lowering") {
      if (value != "none" && value != "executorch") refuse("executorch or none", value);
      options.lowering = value == "none" ? Lowering::none : Lowering::executorch;
    } else if (name == "--semantics") {
      if (value != "parallel" && value != "sequential") refuse("parallel or sequential", value);
      options.semantics = value == "parallel" ? Semantics::parallel : Semantics::sequential;
    } else if (name == "--trust") {
      if (value.empty()) refuse("a namespace", value);
      options.trusted.push_back(value);
    } else {
      refuse("--lowering, --semantics or --trust", name);
    }
  }
  return options;
}

}  // namespace writeback
