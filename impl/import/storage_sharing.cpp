#include "impl/import/storage_sharing.h"

#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <tuple>
#include <unordered_map>
#include <unordered_set>

#include "impl/import/graph_reader.h"
#include "impl/import/pickle.h"
#include "impl/import/training_ir.h"
#include "ref/graph/error.h"
#include "ref/graph/region.h"

namespace writeback::impl {
namespace {

constexpr std::uint64_t kLargestConfiguration = std::uint64_t{1} << 28;
constexpr std::uint64_t kLargestPickle = std::uint64_t{1} << 23;
constexpr std::uint64_t kLargestPackedWeights = std::uint64_t{1} << 30;

/// An input of the program and where the archive keeps it.
struct StoredInput {
  ValueId value{};
  std::string storage;             ///< the record, "weights/weight_0"
  std::int64_t storage_bytes = 0;  ///< 0 = the record is empty or missing
  DType dtype = DType::unknown;
  Region region;

  std::int64_t storage_elements() const {
    return storage_bytes / static_cast<std::int64_t>(std::max<std::size_t>(1, byte_size(dtype)));
  }
  bool is_whole() const { return region == Region::contiguous(region.sizes) && region.numel() == storage_elements(); }
};

using InputsByName = std::unordered_map<std::string_view, ValueId>;

InputsByName stored_inputs_of(const Program& program) {
  InputsByName inputs;
  for (std::size_t i = 0; i < program.input_specs.size(); ++i) {
    const InputSpec& spec = program.input_specs[i];
    const bool stored =
        spec.kind == InputKind::parameter || spec.kind == InputKind::buffer || spec.kind == InputKind::constant_tensor;
    if (stored) inputs.emplace(spec.target, value_id(i));
  }
  return inputs;
}

std::int64_t saturated(std::uint64_t size) {
  return static_cast<std::int64_t>(std::min<std::uint64_t>(size, std::numeric_limits<std::int64_t>::max()));
}

bool is_region(const Region& region) {
  const auto negative = [](std::int64_t n) { return n < 0; };
  return region.offset >= 0 && region.sizes.size() == region.strides.size() &&
         std::none_of(region.sizes.begin(), region.sizes.end(), negative) &&
         std::none_of(region.strides.begin(), region.strides.end(), negative);
}

/// The numbers of sizes or strides; a stored tensor has no symbolic ones.
std::vector<std::int64_t> numbers_of(const Json& at, const std::vector<SymInt>& sizes) {
  std::vector<std::int64_t> numbers;
  for (const SymInt& size : sizes) {
    if (!size.is_number()) at.fail("expected numbers in the sizes of a stored tensor");
    numbers.push_back(size.number());
  }
  return numbers;
}

/// torch >= 2.9: {"config": {fqn: {"path_name", "tensor_meta", ...}}} beside one raw file for each storage.
class ConfigurationReader {
 public:
  ConfigurationReader(const Archive& archive, const Archive::Entry& entry, const InputsByName& inputs)
      : folder_(entry.name.substr(0, entry.name.rfind('/') + 1)), inputs_(inputs) {
    for (const Archive::Entry& e : archive.entries()) sizes_.emplace(e.name, e.size);
  }

  std::vector<StoredInput> read(std::string_view json) const {
    std::vector<StoredInput> stored;
    const JsonDocument document(json);
    const Json root = document.root();
    const Json config = root["config"];
    config.members([&](std::string_view fqn, const Json& payload) {
      const auto input = inputs_.find(fqn);
      const Json meta = payload["tensor_meta"];
      const Json pickled = payload["use_pickle"];
      if (input == inputs_.end() || meta.is_null() || (!pickled.is_null() && pickled.boolean())) return;
      stored.push_back(stored_input(input->second, payload["path_name"].text(), meta));
    });
    return stored;
  }

 private:
  StoredInput stored_input(ValueId value, const std::string& path, const Json& json) const {
    const TensorMeta meta = read_tensor_meta(json, Numbering::torch_export);
    StoredInput stored{value, folder_ + path, 0, meta.dtype, {}};
    const auto size = sizes_.find(stored.storage);
    if (size != sizes_.end()) stored.storage_bytes = saturated(size->second);
    if (!meta.strides || !meta.storage_offset.is_number()) json.fail("expected strides and an offset in numbers");
    stored.region = {meta.storage_offset.number(), numbers_of(json, meta.sizes), numbers_of(json, *meta.strides)};
    if (!is_region(stored.region)) json.fail("expected an offset, sizes and strides from 0 up");
    return stored;
  }

  std::string folder_;
  const InputsByName& inputs_;
  std::unordered_map<std::string_view, std::uint64_t> sizes_;
};

/// torch up to 2.8: a torch.save file, itself an archive, whose pickle names the storage of each tensor. nullopt where the pickle
/// is not understood.
std::optional<std::vector<StoredInput>> read_saved(const Archive& archive, const Archive::Entry& entry,
                                                   const InputsByName& inputs) {
  if (entry.size == 0) return std::vector<StoredInput>{};
  const Archive saved = archive.open_nested(entry, kLargestPackedWeights);
  const auto is_pickle = [](const Archive::Entry& e) { return e.name == "data.pkl" || e.name.ends_with("/data.pkl"); };
  const auto pickle = std::find_if(saved.entries().begin(), saved.entries().end(), is_pickle);
  if (pickle == saved.entries().end()) return std::nullopt;
  const std::string bytes = saved.read(*pickle, kLargestPickle);
  const auto tensors = read_pickled_tensors(bytes);
  if (!tensors) return std::nullopt;
  std::vector<StoredInput> stored;
  for (const auto& [fqn, tensor] : *tensors) {
    const auto input = inputs.find(fqn);
    if (input == inputs.end()) continue;
    if (!tensor) return std::nullopt;
    Region region{tensor->offset, tensor->sizes, tensor->strides};
    const auto bytes_each = static_cast<std::int64_t>(byte_size(tensor->dtype));
    if (!is_region(region) || tensor->storage_elements < 0 || tensor->storage_elements > (std::int64_t{1} << 56))
      return std::nullopt;
    stored.push_back({input->second, entry.name + ":" + std::string(tensor->storage), tensor->storage_elements * bytes_each,
                      tensor->dtype, std::move(region)});
  }
  return stored;
}

/// The inputs whose intervals of cells touch, as one group each. `inputs` lie in one storage.
std::vector<std::vector<const StoredInput*>> overlapping(std::vector<const StoredInput*> inputs) {
  std::sort(inputs.begin(), inputs.end(), [](const StoredInput* a, const StoredInput* b) {
    return std::tuple(a->region.offset, a->value) < std::tuple(b->region.offset, b->value);
  });
  std::vector<std::vector<const StoredInput*>> groups;
  std::int64_t end = 0;
  for (const StoredInput* input : inputs) {
    if (input->region.is_empty()) continue;
    if (groups.empty() || input->region.offset >= end) groups.emplace_back();
    groups.back().push_back(input);
    end = std::max(end, input->region.end());
  }
  return groups;
}

void add_groups(const std::vector<StoredInput>& stored, Program& program) {
  std::map<std::tuple<std::string_view, DType>, std::vector<const StoredInput*>> by_storage;
  for (const StoredInput& input : stored) {
    if (input.storage_bytes > 0) by_storage[{input.storage, input.dtype}].push_back(&input);
  }
  for (const auto& [storage, inputs] : by_storage) {
    for (auto& group : overlapping(inputs)) {
      if (group.size() < 2) continue;
      std::sort(group.begin(), group.end(), [](const StoredInput* a, const StoredInput* b) { return a->value < b->value; });
      std::vector<AliasMember>& members = program.alias_groups.emplace_back();
      for (const StoredInput* input : group) {
        AliasMember member{input->value, std::nullopt};
        if (!input->is_whole()) member.geometry = {input->region.offset, input->region.sizes, input->region.strides};
        members.push_back(std::move(member));
      }
    }
  }
  std::sort(program.alias_groups.begin(), program.alias_groups.end(),
            [](const auto& a, const auto& b) { return a.front().value < b.front().value; });
}

std::unordered_set<ValueId> written_inputs(const Program& program) {
  std::unordered_set<ValueId> written;
  for (const WriteBack& write : writes_of(program)) written.insert(write.target);
  return written;
}

/// Warns of the first two written inputs that may share a storage without the archive telling: a storage that is kept twice is
/// kept in equal sizes. One warning at most; programs whose state shares nothing are the rule.
void warn_of_lost_sharing(const std::vector<StoredInput>& weights, const std::vector<StoredInput>& constants, Program& program) {
  if (weights.size() + constants.size() < 2) return;
  const std::unordered_set<ValueId> written = written_inputs(program);
  struct Seen {
    const StoredInput* input;
    const std::vector<StoredInput>* table;
  };
  std::map<std::tuple<std::int64_t, std::string_view>, Seen> seen;
  const auto warn = [&](const StoredInput& a, const StoredInput& b, const char* why) {
    program.warnings.push_back("'" + program.graph.name_of(a.value) + "' and '" + program.graph.name_of(b.value) +
                               "' are taken for distinct storages; the archive could not tell otherwise, " + why);
  };
  for (const auto* table : {&weights, &constants}) {
    for (const StoredInput& input : *table) {
      if (written.count(input.value) == 0 || input.region.is_empty()) continue;
      const bool no_bytes = input.storage_bytes == 0;
      const auto [entry, is_new] = seen.try_emplace(
          {input.storage_bytes, no_bytes ? std::string_view(input.storage) : std::string_view()}, Seen{&input, table});
      const auto [first, first_table] = entry->second;
      if (is_new || (!no_bytes && first->storage == input.storage)) continue;
      if (no_bytes) return warn(*first, input, "as it holds no bytes for them");
      if (first_table != table) return warn(*first, input, "as it keeps weights and constants apart");
      if (first->dtype != input.dtype) return warn(*first, input, "as it keeps each element type apart");
    }
  }
}

}  // namespace

void add_alias_groups(const Archive& archive, const TensorEntries& entries, Program& program) {
  const InputsByName inputs = stored_inputs_of(program);
  const auto read = [&](const Archive::Entry* entry) -> std::vector<StoredInput> {
    if (entry == nullptr || inputs.empty()) return {};
    try {
      if (entry->name.ends_with("_config.json")) {
        return ConfigurationReader(archive, *entry, inputs).read(archive.read(*entry, kLargestConfiguration));
      }
      if (auto stored = read_saved(archive, *entry, inputs)) return *std::move(stored);
    } catch (const InputError& error) {
      throw InputError(entry->name, error.what());
    }
    program.warnings.push_back(entry->name + ": the pickle inside is not understood; its tensors are taken for distinct storages");
    return {};
  };
  const std::vector<StoredInput> weights = read(entries.weights);
  const std::vector<StoredInput> constants = read(entries.constants);
  add_groups(weights, program);
  add_groups(constants, program);
  warn_of_lost_sharing(weights, constants, program);
}

}  // namespace writeback::impl
