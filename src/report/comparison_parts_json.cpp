#include "report/comparison_parts_json.h"

#include <cmath>

namespace flopmark {

using nlohmann::json;

json finite_or_null(const std::optional<double>& value) {
  return value && std::isfinite(*value) ? json(*value) : json(nullptr);
}

json text_or_null(const std::optional<std::string>& value) {
  return value ? json(*value) : json(nullptr);
}

json differences_json(const std::vector<EnvironmentDifference>& differences) {
  json list = json::array();
  for (const EnvironmentDifference& difference : differences) {
    list.push_back({{"key", difference.key},
                    {"a", difference.a},
                    {"b", difference.b},
                    {"class", to_text(difference.kind)},
                    {"allowed", difference.allowed}});
  }
  return list;
}

json metrics_json(const std::vector<MetricComparison>& metrics) {
  json entries = json::object();
  for (const MetricComparison& metric : metrics) {
    entries[metric.key] = {{"a", finite_or_null(metric.a)},
                           {"b", finite_or_null(metric.b)},
                           {"change_ratio", finite_or_null(metric.change_ratio)},
                           {"better", metric.better == Better::lower    ? "lower"
                                      : metric.better == Better::higher ? "higher"
                                                                        : "neither"},
                           {"change", to_text(metric.change)}};
  }
  return entries;
}

}  // namespace flopmark
