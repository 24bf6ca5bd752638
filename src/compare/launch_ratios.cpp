#include "compare/launch_ratios.h"

#include <algorithm>
#include <cmath>

#include "stats/quantile.h"

namespace flopmark {
namespace {

/// Mean step time of each turn, seconds.
std::vector<double> turn_means_s(const LaunchSamples& launch) {
  std::vector<double> means_s;
  auto step = launch.timed.step_s.begin();
  for (const TurnSamples& turn : launch.turns) {
    if (turn.steps <= 0 || turn.steps > launch.timed.step_s.end() - step) break;
    means_s.push_back(mean({step, step + turn.steps}));
    step += turn.steps;
  }
  return means_s;
}

double log_ratio(double a, double b) {
  return std::log(b / a);
}

}  // namespace

std::optional<std::array<double, kSummaries.size()>> launch_summaries_s(const LaunchSamples& launch) {
  const std::vector<double>& steps_s = launch.timed.step_s;
  const auto is_time = [](double s) { return std::isfinite(s) && s > 0; };
  if (steps_s.empty() || !std::all_of(steps_s.begin(), steps_s.end(), is_time)) return std::nullopt;
  std::array<double, kSummaries.size()> summaries_s{};
  for (const Summary summary : kSummaries) {
    summaries_s[static_cast<size_t>(summary)] = summarize_times(steps_s, summary);
  }
  return summaries_s;
}

PairRatios launch_ratios(const LaunchSamples& a, const LaunchSamples& b) {
  const auto of_a = launch_summaries_s(a).value(), of_b = launch_summaries_s(b).value();
  PairRatios ratios{log_ratio(of_a[0], of_b[0]), log_ratio(of_a[1], of_b[1]), log_ratio(of_a[2], of_b[2])};
  const std::vector<double> turns_a = turn_means_s(a), turns_b = turn_means_s(b);
  std::vector<double> turn_ratios;
  for (size_t i = 0; i < std::min(turns_a.size(), turns_b.size()); ++i) {
    turn_ratios.push_back(log_ratio(turns_a[i], turns_b[i]));
  }
  ratios.median_step = ratios.typical;
  if (!turn_ratios.empty()) ratios.typical = median(turn_ratios);
  return ratios;
}

}  // namespace flopmark
