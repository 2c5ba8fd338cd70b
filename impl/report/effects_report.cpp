#include "impl/report/effects_report.h"

#include <algorithm>
#include <utility>

#include "ref/graph/effect_names.h"
#include "ref/graph/effects_operation.h"

namespace writeback {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::pair<Trait, const char*> kTraits[] = {
    {Trait::opaque, "opaque"},     {Trait::random, "random"},   {Trait::uninitialized, "uninitialized"},
    {Trait::observed, "observed"}, {Trait::rebinds, "rebinds"}, {Trait::refused, "refused"},
};

Json rule_json(const Schema& schema, const EffectRule& rule) {
  Json reads = Json::array(), writes = Json::array(), results = Json::array(), traits = Json::array();
  for (std::size_t i = 0; i < rule.arguments.size(); ++i) {
    if (rule.arguments[i].reads) reads.push_back(schema.arguments[i].name);
    if (rule.arguments[i].writes) writes.push_back(schema.arguments[i].name);
  }
  for (const ResultRule& r : rule.results) {
    Json of = Json::array();
    for (const std::uint32_t i : r.sources) of.push_back(schema.arguments[i].name);
    results.push_back({{"kind", name_of(r.kind)}, {"list", r.list}, {"of", of}});
  }
  for (const auto& [trait, name] : kTraits) {
    if (rule.has(trait)) traits.push_back(name);
  }
  return {{"reads", reads}, {"writes", writes}, {"results", results}, {"traits", traits}};
}

Json operation_json(const std::string& name, const Operation& operation) {
  Json conditions = Json::array(), rules = Json::array();
  for (const auto& alternatives : operation.conditions) {
    Json all = Json::array();
    for (const Operation::Condition& c : alternatives) {
      all.push_back(
          {{"argument", operation.schema->arguments[c.argument].name}, {"value", c.value}, {"must_be_known", c.must_be_known}});
    }
    conditions.push_back(std::move(all));
  }
  for (const EffectRule& rule : operation.rules) rules.push_back(rule_json(*operation.schema, rule));
  return {{"op", name},
          {"schema", operation.schema->text()},
          {"source", operation.source},
          {"conditions", conditions},
          {"rules", rules}};
}

/// "aten::add.Tensor" as a target.
Target target_of(const std::string& name) {
  const std::size_t colons = name.find("::"), dot = std::min(name.find('.'), name.size());
  return {Target::Kind::op, name.substr(0, colons), name.substr(colons + 2, dot - colons - 2),
          dot == name.size() ? "default" : name.substr(dot + 1)};
}

}  // namespace

Json effects_json() {
  Json all = Json::array();
  const SchemaTable& table = SchemaTable::builtin();
  for (const std::string& name : table.names()) {
    all.push_back(operation_json(name, operation_of(*table.find(target_of(name)), true, true)));
  }
  return all;
}

}  // namespace writeback
