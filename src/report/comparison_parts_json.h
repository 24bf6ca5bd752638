#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "compare/stored_comparison.h"

namespace flopmark {

/// null for what is unknown or not finite.
nlohmann::json finite_or_null(const std::optional<double>& value);
nlohmann::json text_or_null(const std::optional<std::string>& value);

/// The `environment_differences` of every comparison: key, a, b, class, allowed.
nlohmann::json differences_json(const std::vector<EnvironmentDifference>& differences);
/// By key: a, b, change_ratio, better, change.
nlohmann::json metrics_json(const std::vector<MetricComparison>& metrics);

}  // namespace flopmark
