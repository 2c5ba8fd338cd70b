// What one operator does, before it is bound to the arguments of a node: its schema's alias annotations, corrected by the rows of
// overrides.h. Made once per target; a node then only binds its arguments.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "ref/graph/effects.h"
#include "ref/graph/overrides.h"
#include "ref/graph/schema.h"

namespace writeback {

struct ArgumentRule {
  bool tensor = false;  ///< a tensor, or a list of them
  bool list = false;
  bool reads = false;
  bool writes = false;
  bool out = false;  ///< keyword-only and written: it must have the result's sizes
};

struct ResultRule {
  ResultKind kind = ResultKind::fresh;
  bool list = false;
  bool elementwise = false;
  std::vector<std::uint32_t> sources;  ///< indices of arguments; empty for opaque: all
};

struct EffectRule {
  std::vector<ArgumentRule> arguments;  ///< as in the schema
  std::vector<ResultRule> results;
  std::uint16_t traits = 0;

  bool has(Trait t) const { return (traits & static_cast<std::uint16_t>(t)) != 0; }
  void set(Trait t) { traits |= static_cast<std::uint16_t>(t); }
  void clear(Trait t) { traits &= static_cast<std::uint16_t>(~static_cast<std::uint16_t>(t)); }
};

/// The rule of a trusted schema, corrected by `rows`.
EffectRule effect_rule(const Schema&, const std::vector<const Override*>& rows);

/// The rule of a schema that is not trusted: only how many results it has and which are tensors.
EffectRule opaque_rule(const Schema&);

}  // namespace writeback
