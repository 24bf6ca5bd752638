#pragma once

#include <optional>
#include <string>
#include <vector>

#include "flopmark/record.h"
#include "measure/samples.h"

namespace flopmark {

/// What metrics are computed from: finished launches of one config, the counted FLOPs and the peak.
struct MetricInputs {
  std::vector<LaunchSamples> launches;
  Peak peak;
  int64_t devices = 1;
};

enum class Better { lower, higher, neither };
enum class Unit { seconds, per_second, flop_per_second, ratio, bytes };

/// One metric, described once: key in the record, unit, direction, title in the table, how it is computed.
struct MetricRow {
  const char* key;
  const char* title;
  Unit unit;
  Better better;
  std::optional<double> (*compute)(const MetricInputs&);
};

/// Every metric but step_s, in the order of the table.
const std::vector<MetricRow>& metric_rows();

Metrics compute_metrics(const MetricInputs& inputs);
Phases compute_phases(const std::vector<LaunchSamples>& launches);

}  // namespace flopmark
