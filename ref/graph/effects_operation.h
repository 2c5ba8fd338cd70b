// One target of a program, resolved once: its schema, whether that is trusted, and its effect rule for every outcome of the
// conditions that the rule depends on (`training=True`).
#pragma once

#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "ref/graph/effects_rule.h"
#include "ref/graph/options.h"
#include "ref/graph/program.h"
#include "ref/graph/schema.h"

namespace writeback {

struct Operation {
  enum class Kind : std::uint8_t {
    schema,   ///< a known schema: `rules` says what it does, and if it is not trusted they are opaque
    unknown,  ///< no schema: opaque
    getitem,
    numbers,  ///< a function of Python on numbers
    higher_order
  };
  Kind kind = Kind::unknown;
  const Schema* schema = nullptr;  ///< Kind::schema only
  std::uint32_t positional = 0;    ///< arguments that may be given by position
  std::uint32_t required = 0;      ///< arguments without a default
  bool later_alias = false;        ///< view_copy
  std::string source;              ///< see effect_source

  /// The rule under the bound arguments (by schema index; nullptr = left at its default).
  const EffectRule& rule(std::span<const Argument* const> bound) const;

  /// `argument = value`, as a number.
  struct Condition {
    std::size_t argument = 0;
    double value = 0;
    std::optional<double> by_default;
    bool must_be_known = false;  ///< a value that is not known does not fulfil it
  };
  std::vector<std::vector<Condition>> conditions;  ///< one entry a conditional row: alternatives
  std::vector<EffectRule> rules;                   ///< by the set of conditional rows that may hold, as bits
};

/// What a schema says, corrected by the table of overrides; opaque if it is not trusted.
Operation operation_of(const Schema&, bool trusted, bool lowered);

/// All targets of a program. What the compiled-in table says of an operator is worked out once a thread and kept.
class Operations {
 public:
  Operations(const Program&, const Options&);
  const Operation& of(const Node& node) const { return *operations_[index_of(node.target)]; }

 private:
  const Operation& resolve(const Target&, const Options&);
  const Operation& keep(Operation operation) { return own_.emplace_back(std::move(operation)); }

  SchemaTable table_;
  std::deque<Operation> own_;  ///< those that this program alone knows
  std::vector<const Operation*> operations_;
};

}  // namespace writeback
