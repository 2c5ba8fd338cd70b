// `--batch`: many programs in one process, a JSON object a line on standard input, its answer a line on standard output in the same
// order. A line is {"program": TEXT or export-schema JSON} plus what the command takes; what is wrong with a line is its answer,
// {"error": ...}, and does not end the batch.
#pragma once

#include <functional>
#include <nlohmann/json.hpp>
#include <string>

#include "impl/cli/command.h"

namespace writeback::cli {

/// bad_input where a line was answered by an error, else holds. Throws InputError unless `path` is "-".
Status answer_batch(const std::string& path, const std::function<Json(const Program&, const nlohmann::json& request)>& answer);

/// Throws InputError that names the text where it is no JSON.
nlohmann::json parsed(const std::string& text, const std::string& name);

}  // namespace writeback::cli
