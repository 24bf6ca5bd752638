#include <algorithm>

#include "metrics/metrics.h"
#include "stats/quantile.h"

namespace flopmark {
namespace {

/// All steps weigh the same in quantiles and mean; the interval takes each launch as one observation, since
/// steps of one process are not independent.
std::optional<StepStatistics> step_statistics(const std::vector<LaunchSamples>& launches) {
  std::vector<double> steps_s, launch_means_s;
  for (const LaunchSamples& launch : launches) {
    const std::vector<double>& step_s = launch.timed.step_s;
    if (!step_s.empty()) {
      steps_s.insert(steps_s.end(), step_s.begin(), step_s.end());
      launch_means_s.push_back(mean(step_s));
    }
  }
  if (steps_s.empty()) {
    return std::nullopt;
  }
  StepStatistics statistics{median(steps_s),
                            mean(steps_s),
                            quantile(steps_s, 0.1),
                            quantile(steps_s, 0.9),
                            quantile(steps_s, 0.99),
                            {},
                            {}};
  if (const auto interval_s = mean_interval95(launch_means_s)) {
    statistics.ci95_low = std::max(0.0, interval_s->first);  // no time is negative, however few the launches
    statistics.ci95_high = interval_s->second;
  }
  return statistics;
}

double mean_phase_s(const std::vector<LaunchSamples>& launches, Phase phase, int64_t steps) {
  double sum_s = 0;
  for (const LaunchSamples& launch : launches) {
    for (const double value_s : launch.timed.phase_s[static_cast<size_t>(phase)]) {
      sum_s += value_s;
    }
  }
  return sum_s / static_cast<double>(steps);
}

}  // namespace

Metrics compute_metrics(const MetricInputs& inputs) {
  Metrics metrics;
  metrics.step_s = step_statistics(inputs.launches);
  for (const MetricRow& row : metric_rows()) {
    metrics.values[row.key] = row.compute(inputs);
  }
  return metrics;
}

Phases compute_phases(const std::vector<LaunchSamples>& launches) {
  int64_t steps = 0;
  double wait_s = 0;
  for (const LaunchSamples& launch : launches) {
    steps += launch.timed.steps;
    wait_s += launch.timed.data_wait_host_s;
  }
  Phases phases;
  if (steps == 0) {
    return phases;
  }
  phases.data_s = mean_phase_s(launches, Phase::data, steps);
  phases.transfer_s = mean_phase_s(launches, Phase::transfer, steps);
  phases.forward_s = mean_phase_s(launches, Phase::forward, steps);
  phases.backward_s = mean_phase_s(launches, Phase::backward, steps);
  phases.communication_exposed_s = mean_phase_s(launches, Phase::communication, steps);
  phases.optimizer_s = mean_phase_s(launches, Phase::optimizer, steps);
  phases.other_s = mean_phase_s(launches, Phase::other, steps);
  phases.data_wait_host_s = wait_s / static_cast<double>(steps);
  return phases;
}

}  // namespace flopmark
