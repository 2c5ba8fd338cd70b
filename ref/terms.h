// Herbrand terms: what a cell holds when nothing is known of an op but that it is a function. A term is a symbol applied to terms
// and two small numbers; equal terms are one object (hash-consing), so equality is equality of ids. Two runs that end in equal
// terms end in equal values for every kernel and every initial content. Terms of one arena only may be compared.
#pragma once

#include <cstdint>
#include <deque>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace writeback::ref {

enum class Term : std::uint32_t {};
enum class Name : std::uint32_t {};

/// Names as small numbers: function symbols, placeholders, nodes.
class Symbols {
 public:
  Symbols() { intern("generator"); }

  static constexpr Name kGenerator{0};  ///< the hidden state of random ops
  Name intern(std::string_view name);
  const std::string& name(Name s) const { return names_[static_cast<std::uint32_t>(s)]; }
  std::size_t size() const { return names_.size(); }

 private:
  std::deque<std::string> names_;  // a deque: the keys of ids_ point into it
  std::unordered_map<std::string_view, Name> ids_;
};

class Terms {
 public:
  Terms() { clear(); }

  /// symbol(children)[block, index]: the cell `index` of the `block`-th thing that `symbol` computes from `children`.
  Term make(Name symbol, std::span<const Term> children, std::uint32_t block = 0, std::uint32_t index = 0);

  /// Forgets all terms and keeps the memory. Symbols stay.
  void clear();
  std::size_t size() const { return nodes_.size(); }

  /// A reading such as "add(b_a[0:4], x[0:4])[2]"; "…" stands for what is deeper or longer than fits.
  std::string text(Term, const Symbols&) const;

 private:
  struct Node {
    std::uint64_t hash;
    Name symbol;
    std::uint32_t block, index, first_child, child_count, bucket;
  };
  std::span<const Term> children(const Node& n) const { return {children_.data() + n.first_child, n.child_count}; }
  void grow();
  void print(Term, const Symbols&, int depth, std::string& out) const;
  void print_list(std::span<const Term>, const Symbols&, int depth, std::string& out) const;

  std::vector<Node> nodes_;
  std::vector<Term> children_;
  std::vector<std::uint32_t> buckets_;  // open addressing; 0 = free, else index into nodes_ plus 1
};

}  // namespace writeback::ref
