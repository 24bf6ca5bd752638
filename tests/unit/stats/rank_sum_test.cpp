#include "stats/rank_sum.h"

#include <gtest/gtest.h>

namespace flopmark {
namespace {

size_t critical(size_t m, size_t n, double level) {
  const std::vector<double> cumulative = rank_sum_cumulative(m, n);
  size_t u = 0;
  while (cumulative[u + 1] <= level) ++u;
  return u;
}

// Critical values of U, two-sided 5 %, as published (Mann and Whitney's table and every textbook's).
TEST(RankSum, CriticalValuesAreThePublishedOnes) {
  EXPECT_EQ(critical(4, 4, 0.025), 0u);
  EXPECT_EQ(critical(5, 5, 0.025), 2u);
  EXPECT_EQ(critical(4, 6, 0.025), 2u);
  EXPECT_EQ(critical(8, 8, 0.025), 13u);
  EXPECT_EQ(critical(10, 10, 0.025), 23u);
  EXPECT_EQ(critical(5, 10, 0.025), 8u);
  EXPECT_EQ(critical(20, 20, 0.025), 127u);
  EXPECT_EQ(critical(7, 12, 0.025), 18u);
}

TEST(RankSum, OfTwoAndTwoByHand) {
  // Six orders; U = 0, 1, 2, 2, 3, 4.
  const std::vector<double> cumulative = rank_sum_cumulative(2, 2);
  ASSERT_EQ(cumulative.size(), 5u);
  EXPECT_NEAR(cumulative[0], 1.0 / 6, 1e-15);
  EXPECT_NEAR(cumulative[2], 4.0 / 6, 1e-15);
  EXPECT_NEAR(cumulative[4], 1.0, 1e-15);
}

TEST(RankSum, ShiftAndItsInterval) {
  // b - a: 3 to 6 with 1,2,3 against 6,7: differences 5 6 4 5 3 4, median 4.5.
  EXPECT_DOUBLE_EQ(shift_estimate({1, 2, 3}, {6, 7}), 4.5);
  const auto interval = shift_interval({1, 2, 3}, {6, 7}, 0.1);  // P(U <= 0) = 1/10
  ASSERT_TRUE(interval);
  EXPECT_DOUBLE_EQ(interval->first, 3);
  EXPECT_DOUBLE_EQ(interval->second, 6);
  EXPECT_FALSE(shift_interval({1, 2, 3}, {6, 7}, 0.05));
  EXPECT_FALSE(shift_interval({1}, {2}, 0.025));
}

TEST(RankSum, ASampleAgainstItselfDoesNotShift) {
  const std::vector<double> values{0.1, 0.7, 0.30000000000000004, 0.2};
  EXPECT_EQ(shift_estimate(values, values), 0.0);
}

}  // namespace
}  // namespace flopmark
