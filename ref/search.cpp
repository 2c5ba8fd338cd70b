#include "ref/search.h"

#include <algorithm>
#include <tuple>

namespace writeback::ref {
namespace {

constexpr std::size_t kPairs = 5;  // pairs of copies are moved together where there are at most so many copies

/// A placement whose orders within a slot are easy to change: each event has a slot and a rank, renumbered when it is tried.
class Candidate {
 public:
  explicit Candidate(Placement p) : p_(std::move(p)) {}

  const Placement& placement() const { return p_; }
  bool movable(std::size_t i) const { return !p_.copies[i].in_place; }
  std::uint32_t slot(std::size_t i) const { return static_cast<std::uint32_t>(index_of(p_.copies[i].at.slot)); }

  /// The same with copy i in this slot, before (or behind) all others there.
  Candidate moved(std::size_t i, std::uint32_t slot, bool first) const {
    Candidate c = *this;
    for (Position* at : c.positions()) at->order += 2;
    c.p_.copies[i].at = {slot_at(slot), first ? 0 : ~std::uint32_t{0}};
    c.renumber();
    return c;
  }

  /// The same with copies reading values and not temporary t; the temporary goes unless an output needs it.
  Candidate without(std::uint32_t t) const {
    Candidate c = *this;
    for (PlacedCopy& copy : c.p_.copies) {
      if (copy.temporary == t) copy.temporary.reset();
      if (copy.temporary && *copy.temporary > t) --*copy.temporary;
    }
    c.p_.temporaries.erase(c.p_.temporaries.begin() + t);
    for (OutputReadFirst& o : c.p_.outputs_read_first) o.temporary -= o.temporary > t;
    c.renumber();
    return c;
  }
  bool serves_an_output(std::uint32_t t) const {
    return std::ranges::any_of(p_.outputs_read_first, [&](const OutputReadFirst& o) { return o.temporary == t; });
  }

 private:
  std::vector<Position*> positions() {
    std::vector<Position*> all;
    for (Temporary& t : p_.temporaries) all.push_back(&t.at);
    for (PlacedCopy& c : p_.copies) {
      if (!c.in_place) all.push_back(&c.at);
    }
    return all;
  }
  void renumber() {
    std::vector<Position*> all = positions();
    std::ranges::sort(all, [](const Position* a, const Position* b) { return std::tie(*a, a) < std::tie(*b, b); });
    for (std::size_t i = 0, order = 0; i < all.size(); ++i) {
      order = i > 0 && all[i - 1]->slot == all[i]->slot ? order + 1 : 0;
      all[i]->order = static_cast<std::uint32_t>(order);
    }
  }

  Placement p_;
};

class Search {
 public:
  Search(Placement start, const IsSafe& safe) : best_(std::move(start)), safe_(safe) {}

  Placement run() {
    for (std::uint32_t t = 0; t < best_.placement().temporaries.size();) {
      if (best_.serves_an_output(t) || !accept(best_.without(t))) ++t;
    }
    while (move_each() || move_pairs()) {
    }
    return best_.placement();
  }

 private:
  bool accept(Candidate c) {
    if (!safe_(c.placement())) return false;
    best_ = std::move(c);
    return true;
  }

  bool move_each() {
    bool any = false;
    for (std::size_t i = 0; i < best_.placement().copies.size(); ++i) any |= best_.movable(i) && move(i);
    return any;
  }
  bool move(std::size_t i) {
    for (std::uint32_t slot = 0; slot < best_.slot(i); ++slot) {
      if (accept(best_.moved(i, slot, true)) || accept(best_.moved(i, slot, false))) return true;
    }
    return false;
  }

  bool move_pairs() {
    const std::size_t count = best_.placement().copies.size();
    bool any = false;
    for (std::size_t i = 0; i < count && count <= kPairs; ++i) {
      for (std::size_t j = 0; j < count; ++j) any |= i != j && best_.movable(i) && best_.movable(j) && move_pair(i, j);
    }
    return any;
  }
  /// Both to one slot, i before j, where that is earlier for one and later for none.
  bool move_pair(std::size_t i, std::size_t j) {
    for (std::uint32_t slot = 0; slot < best_.slot(i) && slot < best_.slot(j); ++slot) {
      for (const bool first : {true, false}) {
        const Candidate both =
            first ? best_.moved(j, slot, true).moved(i, slot, true) : best_.moved(i, slot, false).moved(j, slot, false);
        if (accept(both)) return true;
      }
    }
    return false;
  }

  Candidate best_;
  const IsSafe& safe_;
};

}  // namespace

Placement search_earlier(Placement start, const IsSafe& safe) { return safe(start) ? Search(std::move(start), safe).run() : start; }

}  // namespace writeback::ref
