// Typed indices into a graph. Each is an enum class, so that a value can never be passed where a node is meant; `index_of` is
// the one way back to a number.
//
//   name     type       what it counts
//   v, value ValueId    placeholders first, then one value per node: value P + n is the result of node n (P = placeholders)
//   n, node  NodeId     nodes in program order (placeholders are not nodes)
//   s, slot  Slot       gaps between nodes: slot k stands after the first k nodes, 0 = directly after the placeholders
#pragma once

#include <cstddef>
#include <cstdint>

namespace writeback {

enum class ValueId : std::uint32_t {};
enum class NodeId : std::uint32_t {};
enum class Slot : std::uint32_t {};
enum class TargetId : std::uint32_t {};

template <typename Id>
constexpr std::size_t index_of(Id id) {
  static_assert(sizeof(Id) == sizeof(std::uint32_t));
  return static_cast<std::size_t>(static_cast<std::uint32_t>(id));
}

constexpr ValueId value_id(std::size_t i) { return static_cast<ValueId>(static_cast<std::uint32_t>(i)); }
constexpr NodeId node_id(std::size_t i) { return static_cast<NodeId>(static_cast<std::uint32_t>(i)); }
constexpr Slot slot_at(std::size_t i) { return static_cast<Slot>(static_cast<std::uint32_t>(i)); }

/// The slot directly after a node.
constexpr Slot slot_after(NodeId n) { return slot_at(index_of(n) + 1); }

}  // namespace writeback
