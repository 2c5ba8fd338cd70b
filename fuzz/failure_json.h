// A failure as JSON: how a worker tells its parent, what summary.json lists, and what a campaign that goes on reads.
#pragma once

#include <nlohmann/json.hpp>

#include "fuzz/campaign.h"

namespace writeback::fuzz {

inline nlohmann::ordered_json failure_json(const Failure& f) {
  return {
      {"signature", f.signature.text},          {"rule", f.signature.rule}, {"reason", f.reason}, {"nodes", f.nodes},
      {"first_seconds", f.first_seconds},       {"cases", f.cases},         {"index", f.index},   {"one_minimal", f.one_minimal},
      {"minimize_seconds", f.minimize_seconds}, {"program", f.file},        {"text", f.program}};
}

inline Failure failure_of(const nlohmann::ordered_json& json) {
  Failure f;
  f.signature = {json.at("signature"), json.at("rule")};
  f.reason = json.at("reason");
  f.nodes = json.at("nodes");
  f.first_seconds = json.at("first_seconds");
  f.cases = json.at("cases");
  f.index = json.at("index");
  f.one_minimal = json.at("one_minimal");
  f.minimize_seconds = json.at("minimize_seconds");
  f.file = json.at("program");
  f.program = json.at("text");
  return f;
}

}  // namespace writeback::fuzz
