// Reads a program from a `.pt2` archive, whatever its layout: at the top level up to torch 2.7, below one folder since.
#include <algorithm>
#include <optional>

#include "impl/import/archive.h"
#include "impl/import/import.h"
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
  for (const ModelEntry& m : models) names += (names.empty() ? "" : ", ") + m.model;
  throw InputError("archive", wanted.empty() ? "holds several models; name one of " + names
                                             : "expected one of the models " + names + ", found none named " + wanted);
}

Program read_named(const Archive& archive, const Archive::Entry& entry) {
  try {
    return read_json(archive.read(entry, kLargestProgram));
  } catch (const InputError& error) {
    if (error.place() == entry.name) throw;
    throw InputError(entry.name, error.what());
  }
}

}  // namespace

Program read_archive(std::string_view bytes, const ImportOptions& options) {
  const Archive archive(bytes);
  const std::vector<ModelEntry> models = models_of(archive);
  if (!models.empty()) return read_named(archive, *choose(models, options.model).program);
  for (const Archive::Entry& entry : archive.entries()) {
    if (entry.name == kFlatProgram || ends_with(entry.name, "/" + std::string(kFlatProgram))) return read_named(archive, entry);
  }
  for (const Archive::Entry& entry : archive.entries()) {
    if (entry.name.find("data/aotinductor/") != std::string::npos) {
      throw InputError("archive", "expected a program under models/; this package holds code compiled by AOTInductor only");
    }
  }
  throw InputError("archive", "expected models/<name>.json or " + std::string(kFlatProgram) + " in it");
}

}  // namespace writeback::impl
