#include "compare/launch_ratios.h"

#include <gtest/gtest.h>

#include <cmath>

#include "fakes/fake_pairs.h"

namespace flopmark {
namespace {

LaunchSamples launch(const std::vector<double>& steps_s, const std::vector<int64_t>& turns) {
  LaunchSamples samples;
  samples.timed.step_s = steps_s;
  for (const int64_t steps : turns) samples.turns.push_back({steps, 1, {}});
  return samples;
}

TEST(LaunchRatios, TypicalIsTheMedianOverTheTurns) {
  // Turn means 1, 2, 4 and 2, 2, 12: ratios 2, 1, 3; the medians alone would say 2 of 2.
  const LaunchSamples a = launch({1, 1, 2, 2, 4, 4}, {2, 2, 2}), b = launch({1, 3, 2, 2, 4, 20}, {2, 2, 2});
  const PairRatios ratios = launch_ratios(a, b);
  EXPECT_DOUBLE_EQ(ratios.typical, std::log(2));
  EXPECT_DOUBLE_EQ(ratios.throughput, std::log(32.0 / 14));
  EXPECT_DOUBLE_EQ(ratios.floor, std::log(1.5));  // 10 % quantiles: 1 and 1.5
}

TEST(LaunchRatios, WithoutTurnsTypicalIsThatOfTheMedians) {
  const PairRatios ratios = launch_ratios(launch({1, 2, 3}, {}), launch({2, 6, 6}, {}));
  EXPECT_DOUBLE_EQ(ratios.typical, std::log(3));
}

TEST(LaunchRatios, AStallInEveryTurnLeavesTheMedianStep) {
  const LaunchSamples a = launch({2, 2, 2, 2, 2, 2}, {3, 3}), b = launch({2, 2, 8, 2, 8, 2}, {3, 3});
  const PairRatios ratios = launch_ratios(a, b);
  EXPECT_DOUBLE_EQ(ratios.typical, std::log(2));  // both turns: a mean of 4
  EXPECT_DOUBLE_EQ(ratios.median_step.value(), 0);
}

TEST(LaunchRatios, TurnsOfAStoppedLaunchCountAsFarAsTheyGo) {
  const PairRatios ratios =
      launch_ratios(launch({1, 1, 1, 1}, {2, 2, 2}), launch({2, 2, 5, 5, 9, 9}, {2, 2, 2}));
  EXPECT_DOUBLE_EQ(ratios.typical, (std::log(2) + std::log(5)) / 2);
}

TEST(LaunchRatios, SideASlowerIsBelowZero) {
  EXPECT_LT(launch_ratios(*turned_launch(0.3).samples, *turned_launch(0.2).samples).throughput, 0);
  EXPECT_EQ(launch_ratios(*turned_launch(0.2).samples, *turned_launch(0.2).samples).typical, 0);
}

TEST(LaunchRatios, UnusableTimesHaveNoSummaries) {
  for (const std::vector<double>& steps_s :
       {std::vector<double>{}, {0.0}, {0.1, -0.1}, {std::nan("")}, {INFINITY}}) {
    EXPECT_FALSE(launch_summaries_s(launch(steps_s, {})));
  }
  EXPECT_TRUE(launch_summaries_s(launch({0.1}, {})));
}

}  // namespace
}  // namespace flopmark
