// Which values a write-back can care about. Values that may share a storage form a class; only a class that holds a target, or that
// is written while a write-back's value, an output or a later alias is in it, can hold a copy back. In an ordinary network that
// is the state and what is viewed from it, and the rest of the program is passed over at one test a node.
#pragma once

#include <cstdint>
#include <vector>

#include "impl/planted.h"
#include "ref/graph/effects.h"
#include "ref/graph/program.h"

namespace writeback::impl {
inline namespace WRITEBACK_BUILD {

class Interest {
 public:
  Interest(const Program&, const Effects&, const std::vector<WriteBack>&, bool lowering);

  bool in(ValueId v) const { return interesting_[index_of(v)]; }
  /// A value that stands for all that may share a storage with v.
  ValueId class_of(ValueId v) const { return value_id(root_[index_of(v)]); }

 private:
  std::uint32_t find(std::uint32_t v);
  void join(ValueId a, ValueId b);
  void join_node(const Program&, const Effects&, NodeId, bool lowering);

  std::vector<std::uint32_t> root_;
  std::vector<bool> interesting_;
};

}  // namespace WRITEBACK_BUILD
}  // namespace writeback::impl
