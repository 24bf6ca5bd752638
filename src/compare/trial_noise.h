#pragma once

#include <cstddef>
#include <vector>

#include "measure/samples.h"

namespace flopmark {

inline constexpr size_t kLeastTrialLaunches = 4;

/// How launches of one and the same job differ (A/A).
struct TrialNoise {
  size_t launches = 0;
  double spread_ratio = 0;   ///< standard deviation of a launch's mean step
  double range_ratio = 0;    ///< slowest launch over the fastest, minus 1
  double visible_ratio = 0;  ///< the slowdown that 64 pairs of launches find with 90 %; at least 1 %
};

/// Of launches with timed steps; zero for fewer than two.
TrialNoise trial_noise(const std::vector<LaunchSamples>& launches);

}  // namespace flopmark
