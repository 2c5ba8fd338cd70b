#include "ref/terms.h"

#include <algorithm>

namespace writeback::ref {
namespace {

std::uint64_t mix(std::uint64_t h, std::uint64_t x) {
  h = (h ^ x) * 0x9e3779b97f4a7c15ull;
  return h ^ (h >> 29);
}

constexpr std::size_t kFirstBuckets = 1 << 12;
constexpr int kDepth = 6;             // deeper terms print as "…"
constexpr std::size_t kLength = 400;  // and so does what follows this many characters

}  // namespace

Name Symbols::intern(std::string_view name) {
  if (const auto found = ids_.find(name); found != ids_.end()) return found->second;
  names_.emplace_back(name);
  const Name id{static_cast<std::uint32_t>(names_.size() - 1)};
  ids_.emplace(names_.back(), id);
  return id;
}

void Terms::clear() {
  if (buckets_.empty()) buckets_.assign(kFirstBuckets, 0);
  for (const Node& n : nodes_) buckets_[n.bucket] = 0;
  nodes_.clear();
  children_.clear();
}

Term Terms::make(Name symbol, std::span<const Term> children, std::uint32_t block, std::uint32_t index) {
  std::uint64_t hash = mix(static_cast<std::uint64_t>(symbol), (std::uint64_t{block} << 32) | index);
  for (const Term child : children) hash = mix(hash, static_cast<std::uint64_t>(child) + 1);
  const std::size_t mask = buckets_.size() - 1;
  std::size_t bucket = (hash >> 17) & mask;
  for (; buckets_[bucket] != 0; bucket = (bucket + 1) & mask) {
    const Node& n = nodes_[buckets_[bucket] - 1];
    if (n.hash == hash && n.symbol == symbol && n.block == block && n.index == index &&
        std::ranges::equal(this->children(n), children)) {
      return Term{buckets_[bucket] - 1};
    }
  }
  const auto id = static_cast<std::uint32_t>(nodes_.size());
  nodes_.push_back({hash, symbol, block, index, static_cast<std::uint32_t>(children_.size()),
                    static_cast<std::uint32_t>(children.size()), static_cast<std::uint32_t>(bucket)});
  children_.insert(children_.end(), children.begin(), children.end());
  buckets_[bucket] = id + 1;
  if (nodes_.size() * 2 > buckets_.size()) grow();
  return Term{id};
}

void Terms::grow() {
  buckets_.assign(buckets_.size() * 4, 0);
  const std::size_t mask = buckets_.size() - 1;
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    std::size_t bucket = (nodes_[i].hash >> 17) & mask;
    while (buckets_[bucket] != 0) bucket = (bucket + 1) & mask;
    buckets_[bucket] = static_cast<std::uint32_t>(i + 1);
    nodes_[i].bucket = static_cast<std::uint32_t>(bucket);
  }
}

std::string Terms::text(Term t, const Symbols& symbols) const {
  std::string out;
  print(t, symbols, kDepth, out);
  return out;
}

void Terms::print(Term t, const Symbols& symbols, int depth, std::string& out) const {
  const Node& n = nodes_[static_cast<std::uint32_t>(t)];
  if (depth == 0 || out.size() > kLength) {
    out += "…";
    return;
  }
  const std::string& name = symbols.name(n.symbol);
  if (name.empty()) return print_list(children(n), symbols, depth, out);  // the list of what an op reads
  out += name;
  const bool number = name[0] == '-' || (name[0] >= '0' && name[0] <= '9');
  if (number && n.child_count == 0) return;
  if (n.child_count > 0) {
    out += '(';
    print_list(children(n), symbols, depth - 1, out);
    out += ')';
  }
  if (n.block > 0) out += '.' + std::to_string(n.block);
  out += '[' + std::to_string(n.index) + ']';
}

// Neighbours that differ in their index alone, one up each time, print as one: x[0], x[1], x[2] as x[0:3].
void Terms::print_list(std::span<const Term> list, const Symbols& symbols, int depth, std::string& out) const {
  const auto node = [&](std::size_t i) -> const Node& { return nodes_[static_cast<std::uint32_t>(list[i])]; };
  for (std::size_t i = 0; i < list.size();) {
    std::size_t end = i + 1;
    while (end < list.size() && node(end).symbol == node(i).symbol && node(end).block == node(i).block &&
           node(end).index == node(i).index + (end - i) && std::ranges::equal(children(node(end)), children(node(i)))) {
      ++end;
    }
    if (i > 0) out += ", ";
    print(list[i], symbols, depth, out);
    if (end > i + 1 && out.ends_with(']')) {
      out.resize(out.rfind('['));
      out += '[' + std::to_string(node(i).index) + ':' + std::to_string(node(i).index + (end - i)) + ']';
    }
    i = end;
  }
}

}  // namespace writeback::ref
