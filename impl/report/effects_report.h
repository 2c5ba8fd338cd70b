// The effects of every operator of the compiled-in table, for whoever wants to compare them with the real thing.
#pragma once

#include <nlohmann/json.hpp>

namespace writeback {

/// A list with one object an operator: "op", "schema", "source" (see effect_source), "conditions" and "rules". A condition is a
/// list of alternatives {"argument", "value", "must_be_known"}, numbers (True = 1): a value that is not known fulfils it, but where
/// it must be known. rules[k] is the rule when exactly the conditions whose bit is set in k hold. A rule has "reads" and "writes"
/// (names of arguments), "results" ({"kind", "list", "of": names}) and "traits".
nlohmann::ordered_json effects_json();

}  // namespace writeback
