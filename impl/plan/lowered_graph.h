// The graph that ExecuTorch's memory planner sees, made from an edge program with explicit copies: dead code removed, view_copy
// chains re-based and turned into views, a `memory.alloc` before each op that gets an out variant, in-place results on their
// argument's storage. Only what planning needs: steps, their storages ("specs"), and which steps they use.
//
// Facts were read in and measured on ExecuTorch 1.4.1 (exir/memory_planning.py and the passes before it).
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "ref/graph/options.h"
#include "ref/graph/placement.h"
#include "ref/graph/program.h"

namespace writeback::impl::plan {

/// A storage to be planned. `bytes` = upper bound of the tensor's bytes, before alignment.
struct Spec {
  std::string name;  ///< of the node that brought it; the elements of a list get "[i]"
  std::int64_t bytes = 0;
  bool constant = false;                ///< parameters, lifted constants, buffers that are never written: not planned
  bool unbounded = false;               ///< a size without an upper bound: the runtime allocates it
  bool stale = false;                   ///< left over on the output node by a copy_ result
  std::optional<std::uint32_t> shares;  ///< takes the place of this spec (`# share_alloc:`)
};

struct LoweredNode {
  enum class Kind : std::uint8_t { placeholder, alloc, op, view, in_place, other, output } kind = Kind::other;
  std::string name;
  std::vector<std::uint32_t> specs;  ///< indices of specs that stand for the node itself
  std::vector<std::uint32_t> uses;   ///< indices of nodes among its arguments
  bool mutable_buffer = false, user_input = false, mutated_input = false;
};

struct LoweredGraph {
  std::vector<LoweredNode> nodes;  ///< in order; the index is the step
  std::vector<Spec> specs;
  /// Bytes that the planner puts in front for the branches of control flow: the largest of them.
  std::int64_t reserved = 0;
  /// What could not be known ("the sizes of result 2 of %x are not told").
  std::vector<std::string> warnings;
};

/// `released`: as the passes leave it, stale output specs included. `fixed`: the output node has its arguments' present specs.
enum class Fidelity : std::uint8_t { released, fixed };

struct LoweringInput {
  Fidelity fidelity = Fidelity::released;
  std::int64_t alignment = 16;
  /// Values for symbols; absent ones take their upper bound.
  std::map<std::string, std::int64_t> symbols;
};

/// `placed` has explicit copies (with_explicit_copies); mutation outputs that name no copy are in place.
LoweredGraph lower(const Program& placed, const Options&, const LoweringInput& = {});

/// The placement of ExecuTorch 1.4.1's insert_write_back_for_buffers_pass: all copies at the end, none for parameters, and none
/// where it takes the value for the buffer itself (values that reach any buffer, or any user input, through in-place ops: so a
/// write-back from one buffer to another is dropped).
Placement released_placement(const Program&);

}  // namespace writeback::impl::plan
