#include "ref/graph/strides.h"

#include <algorithm>

#include "ref/graph/view_geometry.h"

namespace writeback {
namespace {

/// The numbers of sizes or strides; nullopt where one is symbolic or negative.
std::optional<std::vector<std::int64_t>> numbers_of(const std::vector<SymInt>& sizes) {
  std::vector<std::int64_t> numbers;
  for (const SymInt& size : sizes) {
    if (!size.is_number() || size.number() < 0) return std::nullopt;
    numbers.push_back(size.number());
  }
  return numbers;
}

class Walk {
 public:
  explicit Walk(const Program& program) : program_(program), graph_(program.graph), regions_(graph_.value_count()) {}

  std::vector<std::optional<std::vector<std::int64_t>>> run() {
    std::vector<std::optional<std::vector<std::int64_t>>> strides(graph_.value_count());
    for (std::size_t i = 0; i < strides.size(); ++i) {
      const TensorMeta* meta = tensor_meta(graph_.meta_of(value_id(i)));
      regions_[i] = region_of(value_id(i), meta);
      if (meta != nullptr && !meta->strides && regions_[i]) strides[i] = regions_[i]->strides;
    }
    return strides;
  }

 private:
  std::optional<Region> region_of(ValueId v, const TensorMeta* meta) const {
    const auto sizes = meta != nullptr ? numbers_of(meta->sizes) : std::nullopt;
    if (!sizes) return std::nullopt;
    if (meta->strides) {
      const auto strides = numbers_of(*meta->strides);
      return strides ? std::optional(Region{0, *sizes, *strides}) : std::nullopt;
    }
    const auto view = graph_.is_placeholder(v) ? std::nullopt : view_of(graph_.producer_of(v));
    return view && view->sizes == *sizes ? *view : Region::contiguous(*sizes);
  }

  /// The region that a view op, or the getitem that picks from one, gives over its first argument.
  std::optional<Region> view_of(NodeId n) const {
    const Node& node = graph_.node(n);
    const ValueId* base = node.args.empty() ? nullptr : as_value(node.args[0]);
    if (base == nullptr || program_.target(node).name.ends_with("_copy")) return std::nullopt;
    if (regions_[index_of(*base)]) return view_region(program_, n, *regions_[index_of(*base)], 0);
    const std::int64_t* index = node.args.size() == 2 ? as_int(node.args[1]) : nullptr;
    if (!program_.target(node).is_getitem() || index == nullptr || graph_.is_placeholder(*base)) return std::nullopt;
    const NodeId list = graph_.producer_of(*base);
    const ValueId* split = graph_.node(list).args.empty() ? nullptr : as_value(graph_.node(list).args[0]);
    if (split == nullptr || !regions_[index_of(*split)] || program_.target(list).name.ends_with("_copy")) return std::nullopt;
    return view_region(program_, list, *regions_[index_of(*split)], *index);
  }

  const Program& program_;
  const Graph& graph_;
  std::vector<std::optional<Region>> regions_;  ///< by value
};

}  // namespace

std::vector<std::optional<std::vector<std::int64_t>>> guessed_strides(const Program& program) { return Walk(program).run(); }

}  // namespace writeback
