#include "measure/warmup_detector.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <random>
#include <string>
#include <vector>

namespace flopmark {
namespace {

constexpr int kTrials = 1000;

/// How many of kTrials series of 40 that `next` makes are called a shift.
int false_alarms(const std::function<double()>& next) {
  int alarms = 0;
  for (int trial = 0; trial < kTrials; ++trial) {
    std::vector<double> values(40);
    for (double& value : values) {
      value = next();
    }
    alarms += largest_level_shift(values, 8).beyond() ? 1 : 0;
  }
  return alarms;
}

TEST(LevelShift, IndependentNoiseIsNoShift) {
  for (const double deviation : {0.01, 0.03, 0.14}) {
    std::mt19937_64 generator(1);
    std::normal_distribution<double> normal(1.0, deviation);
    EXPECT_LE(false_alarms([&] { return normal(generator); }), kTrials / 100) << deviation;
  }
}

TEST(LevelShift, CorrelatedNoiseIsRarelyAShift) {
  for (const double deviation : {0.015, 0.03}) {
    std::mt19937_64 generator(2);
    std::normal_distribution<double> normal(0.0, 1.0);
    double state = normal(generator);
    const auto next = [&] {
      state = 0.6 * state + 0.8 * normal(generator);  // keeps unit variance
      return 1 + deviation * state;
    };
    const int alarms = false_alarms(next);
    EXPECT_LE(alarms, kTrials * 4 / 100) << deviation;
  }
}

TEST(LevelShift, TwoModesAreRarelyAShift) {
  std::mt19937_64 generator(3);
  std::bernoulli_distribution slow(0.3);
  std::normal_distribution<double> normal(1.0, 0.005);
  EXPECT_LE(false_alarms([&] { return (slow(generator) ? 1.2 : 1.0) * normal(generator); }),
            kTrials * 5 / 100);
}

TEST(LevelShift, AShiftOfFifteenPercentShowsThroughThreePercentNoise) {
  std::mt19937_64 generator(4);
  std::normal_distribution<double> normal(1.0, 0.03);
  int found = 0;
  for (int trial = 0; trial < 200; ++trial) {
    std::vector<double> values(40);
    for (size_t i = 0; i < values.size(); ++i) {
      values[i] = normal(generator) * (i < 24 ? 1.0 : 1.15);
    }
    found += largest_level_shift(values, 8).beyond() ? 1 : 0;
  }
  EXPECT_GE(found, 190);
}

TEST(LevelShift, NamesTheSplitItsSizeAndTheTolerance) {
  std::vector<double> values(40, 1.0);
  std::fill(values.begin() + 24, values.end(), 1.25);
  const LevelShift up = largest_level_shift(values, 8);
  EXPECT_EQ(up.split, 24u);
  EXPECT_DOUBLE_EQ(up.shift_ratio, 0.25);
  EXPECT_DOUBLE_EQ(up.tolerance_ratio, 0.02);
  EXPECT_TRUE(up.beyond());
  std::fill(values.begin() + 24, values.end(), 0.75);
  EXPECT_DOUBLE_EQ(largest_level_shift(values, 8).shift_ratio, -0.25);
}

TEST(LevelShift, OnlyBeyondTheToleranceCounts) {
  std::vector<double> values(40, 100.0);
  std::fill(values.begin() + 20, values.end(), 101.9);
  EXPECT_FALSE(largest_level_shift(values, 8).beyond());
  std::fill(values.begin() + 20, values.end(), 102.1);
  EXPECT_TRUE(largest_level_shift(values, 8).beyond());
}

TEST(LevelShift, ToleranceIsFiveStandardErrorsOfTheMedians) {
  // 0.99 and 1.01 in turn: neighbours differ by -0.02 or +0.02, so the middle 60 % of the differences span
  // 0.04: noise = 0.04 / (2 x 0.8416) / sqrt(2) = 0.016804.
  std::vector<double> values;
  for (int i = 0; i < 20; ++i) {
    values.insert(values.end(), {0.99, 1.01});
  }
  const LevelShift shift = largest_level_shift(values, 20);  // one split only, 20 and 20
  EXPECT_EQ(shift.split, 20u);
  EXPECT_DOUBLE_EQ(shift.shift_ratio, 0.0);
  EXPECT_NEAR(shift.tolerance_ratio, 5 * 1.2533 * 0.016804 * std::sqrt(0.1), 1e-5);
}

TEST(LevelShift, ATwofoldChangeIsNeverNoise) {
  const std::vector<double> up = {1, 9, 1, 9, 1, 30, 10, 30, 10, 30};
  EXPECT_LE(largest_level_shift(up, 5).tolerance_ratio, 1.0);
  EXPECT_TRUE(largest_level_shift(up, 5).beyond());
  const std::vector<double> down = {82.4, 186.4, 10.9, 1.8, 1.7, 1.6};
  EXPECT_TRUE(largest_level_shift(down, 3).beyond());
}

TEST(LevelShift, TooFewValuesCompareNothing) {
  const LevelShift none = largest_level_shift({1, 2, 3, 4, 5, 6, 7, 8, 9}, 5);
  EXPECT_EQ(none.split, 0u);
  EXPECT_FALSE(none.beyond());
  EXPECT_FALSE(largest_level_shift({}, 0).beyond());
}

TEST(LevelShift, TimesOfZeroStayFinite) {
  std::vector<double> values(40, 0.0);
  EXPECT_FALSE(largest_level_shift(values, 8).beyond());
  std::fill(values.begin() + 20, values.end(), 1.0);
  const LevelShift shift = largest_level_shift(values, 8);
  EXPECT_TRUE(std::isfinite(shift.shift_ratio));
  EXPECT_TRUE(shift.beyond());
}

TEST(LevelShift, ALongSeriesIsSearchedToItsEnd) {
  std::vector<double> values(5000, 1.0);
  std::fill(values.begin() + 4500, values.end(), 1.1);
  const LevelShift shift = largest_level_shift(values, 400);
  EXPECT_NEAR(static_cast<double>(shift.split), 4500, 100);
  EXPECT_TRUE(shift.beyond());
}

TEST(QuarterShift, IsBetweenTheFirstAndTheLastQuarter) {
  std::vector<double> values;
  for (int i = 0; i < 40; ++i) values.push_back(1.0 + 0.001 * i);
  const LevelShift slow = quarter_shift(values, 8);
  EXPECT_EQ(slow.split, 10u);
  EXPECT_NEAR(slow.shift_ratio, 1.0345 / 1.0045 - 1, 1e-12);
  EXPECT_TRUE(slow.beyond());
  for (int i = 10; i < 30; ++i) values[static_cast<size_t>(i)] = 9.0;
  EXPECT_EQ(quarter_shift(values, 8).shift_ratio, slow.shift_ratio) << "the middle does not count";
}

TEST(QuarterShift, NeedsQuartersOfTheLeastLength) {
  EXPECT_EQ(quarter_shift(std::vector<double>(31, 1.0), 8).split, 0u);
  EXPECT_EQ(quarter_shift(std::vector<double>(32, 1.0), 8).split, 8u);
  EXPECT_FALSE(quarter_shift({}, 0).beyond());
}

TEST(WarmupDetector, NeedsAFullWindowAndTheMinimum) {
  WarmupDetector detector(10, 200);
  for (int i = 0; i < 39; ++i) {
    detector.add(1.0);
  }
  EXPECT_FALSE(detector.steady());
  EXPECT_TRUE(detector.steady_so_far());
  detector.add(1.0);
  EXPECT_TRUE(detector.steady());
}

TEST(WarmupDetector, FifteenStepsOfManyAreTooFew) {
  WarmupDetector detector(10, 200);
  for (int i = 0; i < 15; ++i) {
    detector.add(1.0);
  }
  EXPECT_FALSE(detector.steady_so_far());
  EXPECT_EQ(detector.reason(), "not steady: 15 steps are too few to judge, 40 are wanted");
  detector.add(1.0);
  EXPECT_TRUE(detector.steady_so_far());
}

TEST(WarmupDetector, AShortWindowIsSplitInHalves) {
  WarmupDetector detector(4, 8);
  for (const double step_s : {2.0, 2.0, 2.0, 2.0, 1.0, 1.0, 1.0, 1.0}) {
    detector.add(step_s);
  }
  EXPECT_FALSE(detector.steady());
  EXPECT_EQ(detector.reason(),
            "not steady after 8 steps: the last 4 are 50.0 % faster than the 4 before; 8 steps are few to "
            "judge by, 40 are wanted");
}

TEST(WarmupDetector, SaysWhatNoiseExplains) {
  WarmupDetector detector(10, 200);
  for (int i = 0; i < 40; ++i) {
    detector.add(i % 2 == 0 ? 1.0 : 1.1);
  }
  EXPECT_TRUE(detector.steady());
  EXPECT_TRUE(detector.reason().find("(noise explains up to ") != std::string::npos) << detector.reason();
}

}  // namespace
}  // namespace flopmark
