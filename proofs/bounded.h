// The bounded theorem: for all programs up to N nodes at once, whatever `accept` allows is safe; and its contrary, the smallest
// program that goes wrong when one clause of the rules is taken out.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "impl/rule.h"
#include "proofs/decode.h"
#include "proofs/prove.h"

namespace writeback::proofs {

/// The theorem for programs of exactly `nodes` nodes (a smaller one is among them: its missing nodes are dead ones), one row a
/// claim of the encoding, and one that says that all of them speak of some program. All rows together are the theorem.
std::vector<Row> prove_steps(std::size_t nodes, const ProveOptions&);

/// A program of `nodes` nodes and a placement that the rules without `dropped` accept and that ends differently; nullopt if there
/// is none.
std::optional<Counterexample> refute(std::size_t nodes, impl::Clause dropped, double seconds = 60);

}  // namespace writeback::proofs
