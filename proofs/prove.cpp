#include "proofs/prove.h"

namespace writeback::proofs {

std::string_view name_of(Verdict verdict) {
  switch (verdict) {
    case Verdict::proved:
      return "proved";
    case Verdict::refuted:
      return "refuted";
    case Verdict::unknown:
      return "unknown";
  }
  return {};
}

}  // namespace writeback::proofs
