// Reads a program from a `.pt2` archive, whatever its layout: at the top level up to torch 2.7, below one folder since.
#include <fmt/format.h>

#include <algorithm>
#include <initializer_list>
#include <optional>

#include "impl/import/archive.h"
#include "impl/import/import.h"
#include "impl/import/storage_sharing.h"
#include "ref/graph/error.h"

namespace writeback::impl {
namespace {

constexpr std::uint64_t kLargestProgram = std::uint64_t{1} << 30;
constexpr std::string_view kFlatProgram = "serialized_exported_program.json";

bool ends_with(std::string_view text, std::string_view end) {
  return text.size() >= end.size() && text.substr(text.size() - end.size()) == end;
}

/// The program of one model and the name of that model.
struct ModelEntry {
  std::string model;
  const Archive::Entry* program;
};

/// `<top>/models/<name>.json`, sorted by name; `<top>` is whatever stands before.
std::vector<ModelEntry> models_of(const Archive& archive) {
  std::vector<ModelEntry> models;
  for (const Archive::Entry& entry : archive.entries()) {
    const std::string_view name = entry.name;
    const std::size_t slash = name.rfind('/');
    if (slash == std::string_view::npos || !ends_with(name, ".json")) continue;
    const std::string_view folder = name.substr(0, slash);
    if (folder != "models" && !ends_with(folder, "/models")) continue;
    models.push_back({std::string(name.substr(slash + 1, name.size() - slash - 1 - 5)), &entry});
  }
  std::sort(models.begin(), models.end(), [](const ModelEntry& a, const ModelEntry& b) { return a.model < b.model; });
  return models;
}

const ModelEntry& choose(const std::vector<ModelEntry>& models, const std::string& wanted) {
  const std::string name = wanted.empty() && models.size() > 1 ? "model" : wanted;
  if (name.empty()) return models.front();
  const auto found = std::find_if(models.begin(), models.end(), [&](const ModelEntry& m) { return m.model == name; });
  if (found != models.end()) return *found;
  std::string names;
  for (const ModelEntry& m : models) names.append(names.empty() ? "" : ", ").append(m.model);
  if (wanted.empty()) throw InputError("archive", fmt::format("holds several models; name one of {}", names));
  throw InputError("archive", fmt::format("expected one of the models {}, found none named {}", names, wanted));
}

/// The first of several names that is an entry.
const Archive::Entry* first_of(const Archive& archive, std::initializer_list<std::string> names) {
  for (const std::string& name : names) {
    if (const Archive::Entry* entry = archive.find(name)) return entry;
  }
  return nullptr;
}

Program read_entry(const Archive& archive, const Archive::Entry& entry) {
  const std::string json = archive.read(entry, kLargestProgram);
  try {
    return read_json(json);
  } catch (const InputError& error) {
    throw InputError(entry.name, error.what());
  }
}

void require_content(const Archive& archive, const std::string& name, std::string_view content) {
  constexpr std::uint64_t kLongest = 64;
  const Archive::Entry* entry = archive.find(name);
  if (entry == nullptr) return;  // packed anew without it
  std::string found = archive.read(*entry, kLongest);
  while (!found.empty() && (found.back() == '\n' || found.back() == '\r')) found.pop_back();
  if (found != content) throw InputError(name, fmt::format("expected '{}', found '{}'", content, found));
}

/// torch >= 2.8: everything stands below one folder, whatever its name.
Program read_model(const Archive& archive, const ModelEntry& model) {
  const std::string& path = model.program->name;
  const std::string& name = model.model;
  const std::string top = path.substr(0, path.size() - fmt::format("models/{}.json", name).size());
  const std::string data = top + "data/";
  require_content(archive, top + "archive_format", "pt2");
  require_content(archive, top + "archive_version", "0");
  Program program = read_entry(archive, *model.program);
  const TensorEntries tensors{
      first_of(archive, {data + "weights/" + name + "_weights_config.json", data + "weights/" + name + ".pt"}),
      first_of(archive, {data + "constants/" + name + "_constants_config.json", data + "constants/" + name + ".pt"})};
  add_alias_groups(archive, tensors, program);
  return program;
}

/// torch <= 2.7: everything stands at the top (below a folder where somebody packed it anew). Up to 2.3 the tensors' files end in
/// `.json` and are archives all the same.
Program read_flat(const Archive& archive, const Archive::Entry& entry) {
  const std::string top = entry.name.substr(0, entry.name.size() - kFlatProgram.size());
  Program program = read_entry(archive, entry);
  const TensorEntries tensors{first_of(archive, {top + "serialized_state_dict.pt", top + "serialized_state_dict.json"}),
                              first_of(archive, {top + "serialized_constants.pt", top + "serialized_constants.json"})};
  add_alias_groups(archive, tensors, program);
  return program;
}

}  // namespace

Program read_archive(std::string_view bytes, const ImportOptions& options) {
  const Archive archive(bytes);
  const std::vector<ModelEntry> models = models_of(archive);
  if (!models.empty()) return read_model(archive, choose(models, options.model));
  for (const Archive::Entry& entry : archive.entries()) {
    if (entry.name == kFlatProgram || ends_with(entry.name, "/" + std::string(kFlatProgram))) return read_flat(archive, entry);
  }
  for (const Archive::Entry& entry : archive.entries()) {
    if (entry.name.find("data/aotinductor/") != std::string::npos) {
      throw InputError("archive", "expected a program under models/; this package holds code compiled by AOTInductor only");
    }
  }
  throw InputError("archive", "expected models/<name>.json or " + std::string(kFlatProgram) + " in it");
}

}  // namespace writeback::impl
