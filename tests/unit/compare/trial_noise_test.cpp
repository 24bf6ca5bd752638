#include "compare/trial_noise.h"

#include <gtest/gtest.h>

#include <cmath>

namespace flopmark {
namespace {

std::vector<LaunchSamples> launches_of(const std::vector<double>& means_s) {
  std::vector<LaunchSamples> launches;
  for (const double mean_s : means_s) {
    launches.emplace_back();
    launches.back().timed.step_s = {0.5 * mean_s, 1.5 * mean_s};
  }
  return launches;
}

/// Logs -0.1, 0, 0.1: standard deviation 0.1.
TEST(TrialNoise, IsTheSpreadOfLaunchMeans) {
  const TrialNoise noise = trial_noise(launches_of({std::exp(-0.1), 1.0, std::exp(0.1)}));
  EXPECT_EQ(noise.launches, 3u);
  EXPECT_NEAR(noise.spread_ratio, std::expm1(0.1), 1e-12);
  EXPECT_NEAR(noise.range_ratio, std::expm1(0.2), 1e-12);
  // c(64) at one in a thousand is 0.576 standard deviations of a pair, and a pair spreads by sqrt(2) x 0.1.
  EXPECT_NEAR(std::log1p(noise.visible_ratio), 0.576 * std::sqrt(2.0) * 0.1, 1e-3);
}

TEST(TrialNoise, NothingBelowOnePercentIsCalledVisible) {
  const TrialNoise noise = trial_noise(launches_of({1.0, 1.0, 1.0, 1.0}));
  EXPECT_EQ(noise.spread_ratio, 0);
  EXPECT_EQ(noise.visible_ratio, 0.01);
}

TEST(TrialNoise, TooFewLaunchesSayNothing) {
  EXPECT_EQ(trial_noise({}).launches, 0u);
  EXPECT_EQ(trial_noise(launches_of({1.0})).launches, 1u);
  EXPECT_EQ(trial_noise(launches_of({1.0})).visible_ratio, 0);
  auto launches = launches_of({1.0, 1.1});
  launches.emplace_back();
  EXPECT_EQ(trial_noise(launches).launches, 2u) << "one without timed steps";
}

}  // namespace
}  // namespace flopmark
