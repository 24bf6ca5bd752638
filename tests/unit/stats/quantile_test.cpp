#include "stats/quantile.h"

#include <gtest/gtest.h>

namespace flopmark {
namespace {

TEST(Quantile, InterpolatesLinearly) {
  EXPECT_DOUBLE_EQ(quantile({4, 1, 3, 2}, 0.5), 2.5);
  EXPECT_DOUBLE_EQ(quantile({10, 20, 30, 40, 50}, 0.1), 14.0);
  EXPECT_DOUBLE_EQ(quantile({7}, 0.9), 7.0);
  EXPECT_DOUBLE_EQ(mean({1, 2, 6}), 3.0);
}

TEST(Quantile, EndsAreTheExtremes) {
  EXPECT_DOUBLE_EQ(quantile({3, 1, 2}, 0.0), 1.0);
  EXPECT_DOUBLE_EQ(quantile({3, 1, 2}, 1.0), 3.0);
  EXPECT_DOUBLE_EQ(median({3, 1, 2}), 2.0);
}

TEST(MeanInterval, IsTheMeanAndTStandardErrors) {
  // Mean 2, standard deviation 1, standard error 1 / sqrt(3) = 0.577350; t(2) = 4.302653: half
  // width 2.484138.
  const auto interval = mean_interval95({1, 2, 3});
  ASSERT_TRUE(interval);
  EXPECT_NEAR(interval->first, -0.484138, 1e-6);
  EXPECT_NEAR(interval->second, 4.484138, 1e-6);
}

TEST(MeanInterval, OfTwoValues) {
  // Mean 11, standard deviation sqrt(2), standard error 1; t(1) = 12.706205.
  const auto interval = mean_interval95({10, 12});
  ASSERT_TRUE(interval);
  EXPECT_NEAR(interval->first, 11 - 12.706205, 1e-6);
  EXPECT_NEAR(interval->second, 11 + 12.706205, 1e-6);
}

TEST(MeanInterval, NeedsTwoValuesAndIsAPointWhenTheyAgree) {
  EXPECT_FALSE(mean_interval95({}));
  EXPECT_FALSE(mean_interval95({5}));
  const auto point = mean_interval95({5, 5, 5});
  ASSERT_TRUE(point);
  EXPECT_DOUBLE_EQ(point->first, 5);
  EXPECT_DOUBLE_EQ(point->second, 5);
}

}  // namespace
}  // namespace flopmark
