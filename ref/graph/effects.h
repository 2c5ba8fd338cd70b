// What one node does to its tensor arguments: which it reads, which it writes, and for each result whether it is fresh, an alias
// of an argument, or may be either. Derived from schemas of trusted namespaces, corrected by a reviewed table (overrides.cpp) for
// the ops whose annotations lie; an op without a trusted schema is opaque. Nothing here follows an alias further than one op:
// closures, orders and lifetimes are for the reference and the implementation to find, each in its own way.
#pragma once

#include <cstdint>
#include <deque>
#include <span>
#include <string>
#include <vector>

#include "ref/graph/options.h"
#include "ref/graph/program.h"
#include "ref/graph/schema.h"

namespace writeback {

/// One tensor leaf among a node's arguments (lists, dicts and keywords flattened, in argument order, positional before keyword).
struct OperandEffect {
  ValueId value{};
  bool reads = false;   ///< the op's result or writes may depend on the cells
  bool writes = false;  ///< the op writes the cells. Neither flag: metadata alone is used
  bool operator==(const OperandEffect&) const = default;
};

enum class ResultKind : std::uint8_t {
  none,       ///< no tensor (a number, None)
  fresh,      ///< a new storage
  same,       ///< the very tensor of an operand (in-place ops, out=): same storage, region and identity
  alias,      ///< a view of an operand
  may_alias,  ///< a view of an operand under one choice, a copy under the other
  opaque      ///< fresh, or any region inside an operand's region
};

/// One return of the schema. An op without a schema has one entry, a list if `getitem` picks from it. `operands` are indices into
/// the node's operands. For a list return, element i relates to
/// operands[i] where `elementwise` (foreach, broadcast_tensors), else every element to each of them (split).
/// A tuple-returning op has several of these; a list return is one with `list` set.
struct ResultEffect {
  ResultKind kind = ResultKind::fresh;
  bool list = false;
  bool elementwise = false;
  std::span<const std::uint32_t> operands;
};

/// Properties of a node as bits.
enum class Trait : std::uint16_t {
  opaque = 1 << 0,       ///< no trusted schema: may read and write every operand
  later_alias = 1 << 1,  ///< view_copy: a later pass may turn its result into an alias of operand 0 (chains: of the chain's root).
                         ///< Never set where the options' lowering is none
  random = 1 << 2,       ///< reads and writes the hidden generator
  uninitialized = 1 << 3,  ///< the result's cells are unspecified (empty, empty_like)
  returns_nothing = 1 << 4,
  observed = 1 << 5,  ///< asserts and the like: kept alive whatever becomes of the result
  getitem = 1 << 6,   ///< operator.getitem: picks `index` of operand 0; its one result is `same`, or `none` if that is no tensor
  rebinds = 1 << 7,   ///< in-place metadata op (t_, squeeze_): writes no cell, gives operand 0 the geometry of the result
  refused = 1 << 8,   ///< set_, resize_: outside what this tool can judge
  subgraph = 1 << 9,  ///< a higher-order op whose effect was taken from its subgraphs
  born = 1 << 10      ///< `# born_in:`: the last operand is the placeholder in whose storage the result is born
};

/// The effects of all nodes of a program, flat.
class Effects {
 public:
  /// Throws InputError where a node is refused (set_, resize_, an out= that must be resized) or its arguments do not fit its
  /// trusted schema.
  Effects(const Program&, const Options&);
  Effects(Effects&&) noexcept = default;
  Effects& operator=(Effects&&) noexcept = default;

  std::span<const OperandEffect> operands(NodeId n) const {
    return {operands_.data() + record(n).first_operand, record(n).operand_count};
  }
  std::span<const ResultEffect> results(NodeId n) const {
    return {results_.data() + record(n).first_result, record(n).result_count};
  }
  bool has(NodeId n, Trait t) const { return (record(n).traits & static_cast<std::uint16_t>(t)) != 0; }
  /// Only for getitem nodes.
  std::int64_t getitem_index(NodeId n) const { return record(n).index; }
  /// Index into operands(n) of the argument whose storage the result may take (`# share_alloc:`), or -1. Always -1 where the
  /// options' lowering is none.
  std::int32_t shares_allocation_of(NodeId n) const { return record(n).shares; }

 private:
  friend class EffectsBuilder;
  Effects() = default;

  struct Record {
    std::uint32_t first_operand = 0, operand_count = 0, first_result = 0, result_count = 0;
    std::int64_t index = 0;  ///< getitem
    std::int32_t shares = -1;
    std::uint16_t traits = 0;
  };
  const Record& record(NodeId n) const { return records_[index_of(n)]; }

  std::vector<Record> records_;
  std::vector<OperandEffect> operands_;
  std::vector<ResultEffect> results_;
  std::deque<std::vector<std::uint32_t>> long_lists_;  ///< that ResultEffect::operands point into where no static list does
};

/// Why an op has the effect that it has: "schema", "table: <reason>", "opaque: no schema", "opaque: namespace my is not trusted".
std::string effect_source(const Program&, NodeId, const Options&);

}  // namespace writeback
