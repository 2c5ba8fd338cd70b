// The table of schemas: the compiled-in text is cut into lines and indexed by name once; a line is parsed when it is first asked
// for, by one thread. Lines added by the user are parsed at once, so that their faults are told where they were given.
#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <mutex>
#include <unordered_map>

#include "ref/graph/data/schemas.h"
#include "ref/graph/error.h"
#include "ref/graph/schema.h"

namespace writeback {
namespace {

struct Entry {
  explicit Entry(std::string_view text) : line(text) {}
  std::string_view line;
  std::once_flag once;
  Schema schema;
};

std::vector<std::string> words_of(std::string_view text) {
  std::vector<std::string> words;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(' '), text.size());
    if (end > 0) words.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return words;
}

/// A line of the data: a schema, and its tags behind "  # ".
Schema parse_line(std::string_view line) {
  const std::size_t tags = line.find("  # ");
  Schema schema = Schema::parse(line.substr(0, tags));
  if (tags != std::string_view::npos) schema.tags = words_of(line.substr(tags + 4));
  return schema;
}

/// "aten::add.Tensor" to "aten_add_Tensor": how torch.fx spells an operator as a name.
std::string underscored(std::string_view name) {
  const std::size_t colons = name.find("::"), dot = std::min(name.find('.'), name.size());
  const std::string_view overload = dot == name.size() ? "default" : name.substr(dot + 1);
  return fmt::format("{}_{}_{}", name.substr(0, colons), name.substr(colons + 2, dot - colons - 2), overload);
}

}  // namespace

struct SchemaTable::Impl {
  std::shared_ptr<const Impl> base;  ///< asked where this table knows nothing
  mutable std::deque<Entry> entries;
  std::unordered_map<std::string, Entry*> by_name, by_underscores;

  Entry& add(const std::string& name, std::string_view line) {
    Entry& entry = entries.emplace_back(line);
    by_name[name] = by_underscores[underscored(name)] = &entry;
    return entry;
  }

  const Schema* find(const std::string& name, const std::unordered_map<std::string, Entry*> Impl::* index) const {
    const auto found = (this->*index).find(name);
    if (found == (this->*index).end()) return base == nullptr ? nullptr : base->find(name, index);
    Entry& entry = *found->second;
    std::call_once(entry.once, [&] { entry.schema = parse_line(entry.line); });
    return &entry.schema;
  }
};

const SchemaTable& SchemaTable::builtin() {
  static const SchemaTable table = [] {
    const auto impl = std::make_shared<Impl>();
    for (std::string_view text = kBuiltinSchemas; !text.empty();) {
      const std::string_view line = text.substr(0, text.find('\n'));
      if (!line.empty() && line.front() != '#') impl->add(std::string(line.substr(0, line.find('('))), line);
      text.remove_prefix(std::min(line.size() + 1, text.size()));
    }
    return SchemaTable(impl);
  }();
  return table;
}

SchemaTable SchemaTable::with(const std::vector<std::string>& more) {
  if (more.empty()) return builtin();
  const auto impl = std::make_shared<Impl>();
  impl->base = builtin().impl_;
  for (const std::string& line : more) {
    Schema schema = Schema::parse(line);
    if (schema.ns.empty()) throw InputError("column 1", "expected a namespace ('my::op(...)') in schema '" + line + "'");
    const Target target{Target::Kind::op, schema.ns, schema.name, schema.overload};
    Entry& entry = impl->add(target.qualified_name(), "");
    std::call_once(entry.once, [&] { entry.schema = std::move(schema); });
  }
  return SchemaTable(impl);
}

const Schema* SchemaTable::find(const Target& target) const {
  return target.is_op() ? impl_->find(target.qualified_name(), &Impl::by_name) : nullptr;
}

std::optional<Target> SchemaTable::split_edge_name(std::string_view name) const {
  const Schema* schema = impl_->find(std::string(name), &Impl::by_underscores);
  if (schema == nullptr) return std::nullopt;
  return Target{Target::Kind::edge_op, schema->ns, schema->name, schema->overload};
}

std::vector<std::string> SchemaTable::names() const {
  std::vector<std::string> names = impl_->base == nullptr ? std::vector<std::string>{} : builtin().names();
  for (const auto& [name, entry] : impl_->by_name) names.push_back(name);
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return names;
}

std::size_t SchemaTable::size() const { return names().size(); }

}  // namespace writeback
