#include "bisect/regression.h"

#include <gtest/gtest.h>

#include <cmath>

#include "unit/compare/pairs.h"

namespace flopmark {
namespace {

constexpr double kLevel = 0.001, kLeast = 0.01;

JudgeRule against(double mid_ratio) {
  JudgeRule rule;
  rule.mid_ratio = mid_ratio;
  return rule;
}

std::optional<Regression> found_in(const std::vector<PairRatios>& pairs) {
  return regression_of(pairs, judge_pairs(pairs, against(kLeast)), kLeast, kLevel);
}

/// Throughput and floor move alike, with each its own scatter.
std::vector<PairRatios> pairs_with(double percent, double throughput_spread, double floor_spread) {
  std::vector<PairRatios> pairs;
  for (int i = 0; i < 12; ++i) {
    const double side = i % 2 == 0 ? 1 : -1, value = std::log1p(percent / 100);
    pairs.push_back({value + side * throughput_spread / 100, value, value + side * floor_spread / 100});
  }
  return pairs;
}

TEST(ChangeRangeOf, IsEstimateAndLimits) {
  // 12 pairs: P(W <= 2) = 3 / 4096 < 0.001 <= P(W <= 3) = 5 / 4096, so the limits are the third Walsh
  // averages from each end, here all equal to the extreme value.
  const ChangeRange range = change_range(pairs_about(5, 1, 12), Summary::floor, kLevel);
  EXPECT_NEAR(range.change_ratio, 0.05, 1e-12);
  EXPECT_NEAR(range.low_ratio.value(), 1.05 * std::exp(-0.01) - 1, 1e-12);
  EXPECT_NEAR(range.high_ratio.value(), 1.05 * std::exp(0.01) - 1, 1e-12);
  EXPECT_FALSE(change_range(pairs_about(5, 1, 9), Summary::floor, kLevel).low_ratio);  // 2^-9 > 0.001
}

TEST(RegressionOf, TakesTheSummaryThatShowsItBest) {
  EXPECT_EQ(found_in(pairs_with(5, 1, 2)).value().gate, Summary::throughput);
  EXPECT_EQ(found_in(pairs_with(5, 2, 1)).value().gate, Summary::floor);
  EXPECT_EQ(found_in(pairs_with(5, 1, 0)).value().gate, Summary::floor);
  EXPECT_EQ(found_in(pairs_with(5, 0, 0)).value().gate, Summary::throughput);  // the first of equals
}

TEST(RegressionOf, IsAbsentWhereNoSummaryIsSurelyBeyondTheLeast) {
  EXPECT_TRUE(found_in(pairs_with(5, 3.5, 3.5)));    // from 1.4 %
  EXPECT_FALSE(found_in(pairs_with(5, 4.5, 4.5)));   // from 0.4 %
  EXPECT_FALSE(found_in(pairs_with(-5, 0.1, 0.1)));  // faster
}

TEST(Regression, MidIsHalfOfItInLogarithms) {
  const Regression regression{Summary::floor, {0.21, 0.2, 0.22}};
  EXPECT_NEAR(regression.mid_ratio(), 0.1, 1e-12);  // 1.1 x 1.1 = 1.21
}

TEST(Regression, IsClearWhereItsLowerLimitIsBeyondMid) {
  EXPECT_TRUE((Regression{Summary::floor, {0.21, 0.101, 0.3}}.is_clear()));
  EXPECT_FALSE((Regression{Summary::floor, {0.21, 0.099, 0.3}}.is_clear()));
  EXPECT_FALSE((Regression{Summary::floor, {0.21, std::nullopt, std::nullopt}}.is_clear()));
}

TEST(IsIntermediate, NeedsBothLimitsInsideAndMoreThanTheLeastOnEachSide) {
  const Regression regression{Summary::floor, {0.06, 0.05, 0.07}};
  EXPECT_TRUE(is_intermediate({0.03, 0.01, 0.045}, regression, kLeast));
  EXPECT_FALSE(is_intermediate({0.03, -0.01, 0.045}, regression, kLeast));
  EXPECT_FALSE(is_intermediate({0.03, 0.01, 0.055}, regression, kLeast));  // bad may be no higher
  EXPECT_FALSE(is_intermediate({0.005, 0.001, 0.009}, regression, kLeast));
  EXPECT_FALSE(is_intermediate({0.055, 0.052, 0.058}, {Summary::floor, {0.06, 0.059, 0.061}}, kLeast));
  EXPECT_FALSE(is_intermediate({0.03, std::nullopt, std::nullopt}, regression, kLeast));
}

TEST(SmallestTraceable, NeedsHalfOfItToBeVisible) {
  PairedJudgement judgement;
  judgement.smallest_effect_ratio = 0.02;
  EXPECT_NEAR(smallest_traceable(judgement, kLeast), 1.02 * 1.02 - 1, 1e-12);
  judgement.smallest_effect_ratio = 0.004;
  EXPECT_NEAR(smallest_traceable(judgement, kLeast), 1.004 * 1.01 - 1, 1e-12);
}

TEST(SharpestGate, IsTheOneThatSeesTheSmallestChange) {
  EXPECT_EQ(sharpest_gate(judge_pairs(pairs_with(0, 1, 2), against(kLeast))), Summary::throughput);
  EXPECT_EQ(sharpest_gate(judge_pairs(pairs_with(0, 2, 1), against(kLeast))), Summary::floor);
}

}  // namespace
}  // namespace flopmark
