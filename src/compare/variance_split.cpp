#include "compare/variance_split.h"

#include <algorithm>
#include <cmath>

#include "flopmark/error.h"
#include "stats/quantile.h"
#include "stats/spread.h"

namespace flopmark {
namespace {

std::vector<double> logs_of(const std::vector<double>& times_s) {
  std::vector<double> logs;
  for (const double time_s : times_s) {
    if (!(time_s > 0) || !std::isfinite(time_s)) {
      throw judge_error("a step time is not above 0: no spread can be worked out");
    }
    logs.push_back(std::log(time_s));
  }
  return logs;
}

}  // namespace

VarianceSplit split_variance(const std::vector<std::vector<double>>& launches_s, double launch_cost_s,
                             double step_cost_s) {
  std::vector<double> means, variances, taus, steps;
  for (const std::vector<double>& launch_s : launches_s) {
    if (launch_s.size() < 2)
      throw judge_error("a launch has fewer than 2 steps: no spread can be worked out");
    const std::vector<double> logs = logs_of(launch_s);
    means.push_back(mean(logs));
    variances.push_back(std::pow(standard_deviation(logs), 2));
    taus.push_back(correlation_time(logs));
    steps.push_back(static_cast<double>(logs.size()));
  }
  if (means.size() < 2) throw judge_error("the variance between launches needs at least 2 launches");

  VarianceSplit split;
  split.within_ratio = std::sqrt(mean(variances));
  split.correlation_steps = mean(taus);
  const double of_steps = mean(variances) * split.correlation_steps;
  const double between = std::pow(standard_deviation(means), 2) - of_steps / mean(steps);
  split.between_ratio = std::sqrt(std::max(between, 0.0));
  if (between > 0) split.best_steps = std::sqrt(launch_cost_s / step_cost_s * of_steps / between);
  return split;
}

}  // namespace flopmark
