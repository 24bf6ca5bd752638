#include "compare/trial_noise.h"

#include <algorithm>
#include <cmath>

#include "compare/decision.h"
#include "stats/detection.h"
#include "stats/quantile.h"
#include "stats/spread.h"

namespace flopmark {
namespace {

constexpr double kLeastVisible = 0.01;  // no tolerance is below it
constexpr double kTrialPower = 0.9;

std::vector<double> mean_logs(const std::vector<LaunchSamples>& launches) {
  std::vector<double> logs;
  for (const LaunchSamples& launch : launches) {
    if (launch.timed.step_s.empty() || !(mean(launch.timed.step_s) > 0)) continue;
    logs.push_back(std::log(mean(launch.timed.step_s)));
  }
  return logs;
}

}  // namespace

TrialNoise trial_noise(const std::vector<LaunchSamples>& launches) {
  const std::vector<double> logs = mean_logs(launches);
  if (logs.size() < 2) return {logs.size()};
  const JudgeRule rule;
  const double level = rule.level_per_look() / static_cast<double>(rule.gates.size());
  const double spread = standard_deviation(logs);
  const double visible = detection_factor(rule.looks.back(), level, kTrialPower) * std::sqrt(2.0) * spread;
  const auto [fastest, slowest] = std::minmax_element(logs.begin(), logs.end());
  return {logs.size(), std::expm1(spread), std::expm1(*slowest - *fastest),
          std::max(kLeastVisible, std::expm1(visible))};
}

}  // namespace flopmark
