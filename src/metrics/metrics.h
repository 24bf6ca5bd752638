#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "flopmark/record.h"
#include "measure/samples.h"

namespace flopmark {

/// What metrics are computed from: finished launches of one config, the counted FLOPs and the peak.
/// Samples, tokens and images of a launch are those of all devices; FlopTotals and the peak are of one
/// device.
struct MetricInputs {
  std::vector<LaunchSamples> launches;
  Peak peak;
  int64_t devices = 1;
};

enum class Better { lower, higher, neither };
enum class Unit { seconds, per_second, flop_per_second, ratio, bytes, joules };

/// One metric, described once: key in the record, unit, direction, title in the table, how it is computed.
/// `compute` returns nothing where the value is unknown, and never NaN, infinity or a negative number.
struct MetricRow {
  const char* key;
  const char* title;
  Unit unit;
  Better better;
  std::optional<double> (*compute)(const MetricInputs&);
};

/// Every metric but step_s, in the order of the table.
const std::vector<MetricRow>& metric_rows();

/// Every row's value by key, and the step-time statistics (absent without a timed step).
Metrics compute_metrics(const MetricInputs& inputs);

/// Mean seconds per step over all steps of all launches; zeros without a timed step.
Phases compute_phases(const std::vector<LaunchSamples>& launches);

}  // namespace flopmark
