#pragma once

#include <cstddef>
#include <optional>
#include <vector>

namespace flopmark {

/// Where the variance of a launch's mean comes from: sigma_b^2 + sigma_w^2 tau / S, over log step times.
struct VarianceSplit {
  double between_ratio = 0;          ///< sigma_b: launch offsets; 0 where steps alone explain the spread
  double within_ratio = 0;           ///< sigma_w: one step within its launch
  double correlation_steps = 1;      ///< tau: steps that say as much as one independent step
  std::optional<double> best_steps;  ///< S*; absent where sigma_b is 0: then more steps always help
};

/// `launches_s`: step times of each launch of one binary, at least two launches of at least two steps. S* =
/// sqrt((c_launch / c_step) (sigma_w^2 tau / sigma_b^2)) minimises variance x cost, the costs in seconds of a
/// launch before its timed steps and of one step (same idea: Kalibera and Jones, 2013).
/// @throws Error 125 if there is less, or a time is not above 0.
VarianceSplit split_variance(const std::vector<std::vector<double>>& launches_s, double launch_cost_s,
                             double step_cost_s);

}  // namespace flopmark
