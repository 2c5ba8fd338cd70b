// Possible sets: where a tensor can be. An entry is a storage and a region in it, plain (where the program as written has the
// tensor under some choice) or via lowering. Sets are interned, so that a tensor carries one number and equal sets are compared
// as such. Which storage an entry via lowering comes from is its home: two tensors of one home move alike. An entry's cause is the
// list of choices that it takes: each a node whose result may be an alias.
#pragma once

#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "impl/hash_index.h"
#include "impl/regions.h"
#include "ref/graph/ids.h"

namespace writeback::impl {
inline namespace WRITEBACK_BUILD {

/// A storage goes by the value that is born with it; placeholders of an alias group share the first one's.
using StorageId = ValueId;

constexpr std::uint32_t kPlain = 0xffffffff;     ///< Entry::home of a plain entry
constexpr std::uint32_t kHomeless = 0xfffffffe;  ///< of an entry via lowering that does not keep cells apart: never the same home

enum class CauseId : std::uint32_t { none = 0 };

struct Entry {
  StorageId storage{};
  RegionId region{};
  std::uint32_t home = kPlain;  ///< else the storage that lowering merges into `storage`
  CauseId cause = CauseId::none;

  bool lowered() const { return home != kPlain; }
  bool operator==(const Entry&) const = default;
};

/// The same cells can be in both. Entries of the same home meet by lowering only where they met before.
inline bool meet(const RegionTable& regions, const Entry& a, const Entry& b) {
  return a.storage == b.storage && regions.overlap(a.region, b.region);
}
inline bool same_home(const Entry& a, const Entry& b) { return a.home == b.home && a.home != kPlain && a.home != kHomeless; }

/// Lists of choices as a tree: a list and one choice more.
class Causes {
 public:
  CauseId extend(CauseId, ValueId choice);
  /// Who takes the choices of `longer` takes those of `shorter`, which are the first of them.
  bool implies(CauseId longer, CauseId shorter) const;

 private:
  struct Step {
    CauseId before{};
    ValueId choice{};
  };
  std::vector<Step> steps_{{}};
  std::unordered_map<std::uint64_t, CauseId> index_;
};

enum class SetId : std::uint32_t { empty = 0 };

class CellSets {
 public:
  CellSets() : first_{0, 0}, first_lowered_{0} {}

  /// The set of these entries, in any order, repetitions allowed.
  SetId intern(std::vector<Entry>& entries);
  std::span<const Entry> operator[](SetId id) const {
    const auto i = static_cast<std::size_t>(id);
    return {entries_.data() + first_[i], first_[i + 1] - first_[i]};
  }
  std::span<const Entry> plain(SetId id) const { return (*this)[id].first(plain_count(id)); }
  std::span<const Entry> lowered(SetId id) const { return (*this)[id].subspan(plain_count(id)); }

 private:
  std::size_t plain_count(SetId id) const {
    const auto i = static_cast<std::size_t>(id);
    return first_lowered_[i] - first_[i];
  }

  std::vector<Entry> entries_;                      ///< of each set the plain ones first
  std::vector<std::size_t> first_, first_lowered_;  ///< set i is entries [first_[i], first_[i + 1])
  HashIndex by_hash_;
};

}  // namespace WRITEBACK_BUILD
}  // namespace writeback::impl
