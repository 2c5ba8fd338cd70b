// Coalescing, as in leaving SSA form: a value is born in the storage of its target, and no copy is left. A transformation of the
// placed program like forwarding; the reference judges it by running the result in the shared storage.
#pragma once

#include <string>
#include <vector>

#include "impl/forward.h"
#include "impl/place.h"
#include "impl/planted.h"

namespace writeback::impl {

/// A write-back whose value is born in its target.
struct Coalesced {
  std::uint32_t copy = 0;  ///< index of the write-back
  NodeId node{};           ///< that computes the value, in the program without copies
  bool operator==(const Coalesced&) const = default;
};

/// How far to go beyond the placement.
struct Savings {
  bool forward = false, coalesce = false;
};

/// The program with explicit copies, readers forwarded, values born in their targets (Program::births); what was done is told in
/// terms of the program without copies.
struct Rewritten {
  Program program;
  std::vector<Forwarded> readers;
  std::vector<Coalesced> births;
};

inline namespace WRITEBACK_BUILD {

/// The write-backs that may be coalesced under `placement`, in output order. One is left alone where
///   - its copy is in place or has a temporary, or another write-back has the same value;
///   - the value is not one fresh tensor of the target's dtype, sizes and strides, or leaves the program as a user output;
///   - a node after its birth reads or writes the target's cells, or changes the value by lowering;
///   - another copy writes the target's cells, or reads them after the birth, as a temporary or an output may;
///   - an operand of its node may overlap the target without being exactly it, or is not read cell by cell (cellwise.h).
std::vector<Coalesced> coalescible(const Program&, const Placement&, const Options& = {});

Rewritten rewrite(const Program&, const Placement&, Savings, const Options& = {}, const std::vector<std::string>& comments = {});

}  // namespace WRITEBACK_BUILD
}  // namespace writeback::impl
