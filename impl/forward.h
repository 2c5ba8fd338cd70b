// Forwarding: after its copy, a value stands in the target too; a later reader that takes the target lets the value die at its
// copy, and its memory is free for others. A transformation of the placed program; the reference judges it like any rewriting.
#pragma once

#include <cstdint>
#include <vector>

#include "impl/place.h"
#include "impl/planted.h"

namespace writeback::impl {

/// One use of a value that reads the copy's result instead.
struct Forwarded {
  std::uint32_t copy = 0;  ///< index of the write-back
  NodeId node{};           ///< the reader, in the program without copies
  bool operator==(const Forwarded&) const = default;
};

inline namespace WRITEBACK_BUILD {

/// The readers that may be forwarded under `placement`, in program order. A reader is left alone where
///   - dtype, sizes or strides of value and target differ, or are not told for one of them;
///   - a later copy may write cells of the target, or a later node those of the value by lowering (other writers of target or value
///     stand before the copy in a placement that the rules accept);
///   - the reader is opaque, has subgraphs, or the value is a temporary's.
std::vector<Forwarded> forwardable(const Program&, const Placement&, const Options& = {});

/// The program with explicit copies in which those readers take the copies' results.
Program with_forwarded_readers(const Program&, const Placement&, const std::vector<Forwarded>&,
                               const std::vector<std::string>& comments = {});

}  // namespace WRITEBACK_BUILD
}  // namespace writeback::impl
