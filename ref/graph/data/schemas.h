// The text of ref/graph/data/aten_schemas.txt, compiled in.
#pragma once

#include <string_view>

namespace writeback {

extern const std::string_view kBuiltinSchemas;

}  // namespace writeback
