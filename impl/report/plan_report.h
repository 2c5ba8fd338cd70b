// Memory for people and programs: the table of placements by planner, JSON, and the arena over time as a picture.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "impl/plan/measure.h"

namespace writeback::impl {

/// One placement's memory, under the name that the reports show ("end", "earliest", ...).
struct NamedMeasurement {
  std::string name;
  plan::Measurement measurement;
};

/// Keys as in the README's table of JSON outputs: {"placements": {...}, "tensors": [...]}; tensors are those of the last placement.
nlohmann::ordered_json plan_json(const std::vector<NamedMeasurement>&);

/// The planners that are shown where nobody asks for others.
const std::vector<plan::Planner> kShownPlanners{plan::Planner::executorch, plan::Planner::executorch_fixed, plan::Planner::best};

/// The table, the savings against the first placement, the largest tensors at the peak, and what is odd (a planner that needs more
/// although lives are shorter, a plan that is wrong).
std::string plan_table(const std::vector<NamedMeasurement>&, const std::vector<plan::Planner>& = kShownPlanners);

/// One arena as an SVG document: steps from left to right, offsets upwards, write-back copies as red lines, live bytes below.
std::string plan_svg(const NamedMeasurement&);

/// All of it on one page.
std::string plan_html(const std::string& title, const std::vector<NamedMeasurement>&);

}  // namespace writeback::impl
