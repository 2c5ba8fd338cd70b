// The words for effects, as reports print them.
#pragma once

#include <string_view>

#include "ref/graph/effects.h"

namespace writeback {

constexpr std::string_view name_of(ResultKind kind) {
  switch (kind) {
    case ResultKind::none:
      return "none";
    case ResultKind::fresh:
      return "fresh";
    case ResultKind::same:
      return "same";
    case ResultKind::alias:
      return "alias";
    case ResultKind::may_alias:
      return "may_alias";
    case ResultKind::opaque:
      return "opaque";
  }
  return "";
}

}  // namespace writeback
