#include "impl/placed_program.h"

#include <algorithm>

#include "ref/graph/view_geometry.h"

namespace writeback::impl {
inline namespace WRITEBACK_BUILD {
namespace {

Aliases aliases_with_values(const Program& program, const Effects& effects, const Options& options,
                            const std::vector<WriteBack>& write_backs, const Placement& placement) {
  std::vector<WriteBack> followed = write_backs;
  for (const WriteBack& w : write_backs) followed.push_back({w.output, w.value, w.value});
  return walk_aliases(program, effects, options, followed, user_outputs(program, &placement));
}

/// Some part of another input's storage: its metadata do not tell which.
bool lies_in_another(const Program& program, ValueId input) {
  return std::ranges::any_of(program.alias_groups, [&](const std::vector<AliasMember>& group) {
    return std::ranges::any_of(group, [&](const AliasMember& m) { return m.value == input && m.geometry; });
  });
}

}  // namespace

PlacedProgram::PlacedProgram(const Program& program, const Placement& placement, const Options& options)
    : program_(program),
      placement_(placement),
      effects_(program, options),
      write_backs_(write_backs(program)),
      aliases_(aliases_with_values(program, effects_, options, write_backs_, placement)) {}

bool PlacedProgram::leaves_the_program(ValueId value) const {
  bool seen = false;
  for (std::size_t i = 0; i < program_.graph.outputs.size(); ++i) {
    if (is_mutation(program_.output_specs[i].kind)) continue;
    for_each_value(program_.graph.outputs[i],
                   [&](ValueId v) { seen = seen || seen_by_output(domain_, cells_of(value), cells_of(v)); });
  }
  return seen;
}

bool PlacedProgram::same_layout(ValueId value, ValueId target) const {
  const TensorMeta *a = tensor_meta(program_.graph.meta_of(value)), *b = tensor_meta(program_.graph.meta_of(target));
  if (a == nullptr || b == nullptr || a->dtype != b->dtype || a->sizes != b->sizes) return false;
  if (planted(Fault::forwarded_across_strides)) return true;
  if (a->storage_offset != b->storage_offset || lies_in_another(program_, target)) return false;
  return (a->strides && a->strides == b->strides) || (has_contiguous_strides(*a) && has_contiguous_strides(*b));
}

}  // namespace WRITEBACK_BUILD
}  // namespace writeback::impl
