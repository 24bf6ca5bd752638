#include "stats/spread.h"

#include <gtest/gtest.h>

#include <cmath>

#include "stats/normal.h"
#include "stats/random.h"

namespace flopmark {
namespace {

TEST(Spread, MadAndDeviationByHand) {
  // Median 3, deviations 2 1 0 1 97: median 1.
  EXPECT_DOUBLE_EQ(mad_sigma({1, 2, 3, 4, 100}), 1.4826);
  EXPECT_DOUBLE_EQ(standard_deviation({1, 2, 3}), 1.0);  // n - 1: with n it were 0.816
  EXPECT_DOUBLE_EQ(standard_deviation({5}), 0.0);
  EXPECT_DOUBLE_EQ(mad_sigma({5}), 0.0);
}

TEST(Spread, AutocorrelationByHand) {
  // 1 2 3 4, mean 2.5: squares 5; lag 1 products 0.75 - 0.25 + 0.75 = 1.25; lag 2: -0.75 - 0.75.
  EXPECT_DOUBLE_EQ(autocorrelation({1, 2, 3, 4}, 1), 0.25);
  EXPECT_DOUBLE_EQ(autocorrelation({1, 2, 3, 4}, 2), -0.3);
  EXPECT_DOUBLE_EQ(autocorrelation({1, 2, 3, 4}, 0), 1.0);
  EXPECT_DOUBLE_EQ(autocorrelation({7, 7, 7}, 1), 0.0);
  EXPECT_DOUBLE_EQ(autocorrelation({1, 2}, 5), 0.0);
}

TEST(Spread, CorrelationTimeOfAnAutoregression) {
  // AR(1) with phi = 0.5: (1 + phi) / (1 - phi) = 3; white noise: 1.
  Random random(3);
  std::vector<double> correlated, white;
  double state = 0;
  for (int i = 0; i < 20000; ++i) {
    state = 0.5 * state + random.normal();
    correlated.push_back(state);
    white.push_back(random.normal());
  }
  EXPECT_NEAR(correlation_time(correlated), 3.0, 0.3);
  EXPECT_NEAR(correlation_time(white), 1.0, 0.1);
  EXPECT_EQ(correlation_time({1, 1, 1, 1}), 1.0);
}

TEST(Normal, QuantilesAreThePublishedOnes) {
  EXPECT_NEAR(normal_quantile(0.5), 0, 1e-12);
  EXPECT_NEAR(normal_quantile(0.975), 1.959963984540, 1e-9);
  EXPECT_NEAR(normal_quantile(0.999), 3.090232306168, 1e-9);
  EXPECT_NEAR(normal_cdf(1), 0.841344746068, 1e-11);
}

TEST(Normal, ChiSquareIsCloseToTheTable) {
  EXPECT_NEAR(chi_square_quantile(0.10, 19) / 11.651, 1, 0.002);
  EXPECT_NEAR(chi_square_quantile(0.10, 39) / 28.196, 1, 0.002);
  EXPECT_NEAR(chi_square_quantile(0.95, 10) / 18.307, 1, 0.002);
}

/// First values of SplitMix64 with seed 1234567, as its authors' reference program prints them.
TEST(RandomNumbers, AreTheReferenceOnes) {
  Random random(1234567);
  EXPECT_EQ(random.bits(), 6457827717110365317U);
  EXPECT_EQ(random.bits(), 3203168211198807973U);
}

TEST(RandomNumbers, HaveTheirMoments) {
  Random random(5);
  double sum = 0, squares = 0, signs = 0, exponential = 0;
  constexpr int kCount = 100000;
  for (int i = 0; i < kCount; ++i) {
    const double z = random.normal();
    sum += z;
    squares += z * z;
    signs += random.sign();
    exponential += random.exponential();
    EXPECT_LT(random.index(3), 3u);
  }
  EXPECT_NEAR(sum / kCount, 0, 0.015);
  EXPECT_NEAR(squares / kCount, 1, 0.02);
  EXPECT_NEAR(signs / kCount, 0, 0.015);
  EXPECT_NEAR(exponential / kCount, 1, 0.015);
}

}  // namespace
}  // namespace flopmark
