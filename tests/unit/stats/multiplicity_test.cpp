#include "stats/multiplicity.h"

#include <gmock/gmock.h>

namespace flopmark {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;

TEST(Holm, StepsDownByHand) {
  // 0.01 <= 0.06/4, 0.015 <= 0.06/3, 0.031 > 0.06/2: what is left stays, whatever it is.
  EXPECT_THAT(holm_levels({0.031, 0.01, 0.04, 0.015}, 0.06), ElementsAre(0.03, 0.015, 0.03, 0.02));
  EXPECT_THAT(holm_levels({0.0151, 0.0151, 0.0151, 0.0151}, 0.06), Each(0.015));
  EXPECT_THAT(holm_levels({0.001, 0.0015}, 0.002), ElementsAre(0.001, 0.002));
  EXPECT_THAT(holm_levels({0.0019, 0.0011}, 0.002), ElementsAre(0.001, 0.001));
  EXPECT_THAT(holm_levels({}, 0.05), ElementsAre());
}

TEST(Binomial, LowerTailByHand) {
  EXPECT_NEAR(binomial_lower_tail(0, 3, 0.5), 0.125, 1e-12);
  EXPECT_NEAR(binomial_lower_tail(1, 3, 0.5), 0.5, 1e-12);
  EXPECT_NEAR(binomial_lower_tail(2, 5, 0.2), 0.94208, 1e-12);
  EXPECT_EQ(binomial_lower_tail(0, 5, 0), 1);
  EXPECT_EQ(binomial_lower_tail(4, 5, 1), 0);
  EXPECT_EQ(binomial_lower_tail(5, 5, 1), 1);
}

TEST(Binomial, BoundsAreThePublishedOnes) {
  // None of n: 1 - 0.05^(1/n); "0 of 60 bounds the rate only to 4.9 %".
  EXPECT_NEAR(binomial_upper_bound(0, 60, 0.05), 0.0487, 5e-5);
  EXPECT_NEAR(binomial_upper_bound(0, 10, 0.05), 0.25887, 1e-5);
  // Clopper-Pearson 95 % two-sided of 3 in 10, as every table has it: 0.0667 to 0.6525.
  EXPECT_NEAR(binomial_lower_bound(3, 10, 0.025), 0.06674, 1e-5);
  EXPECT_NEAR(binomial_upper_bound(3, 10, 0.025), 0.65245, 1e-5);
  EXPECT_EQ(binomial_upper_bound(10, 10, 0.025), 1);
  EXPECT_EQ(binomial_lower_bound(0, 10, 0.025), 0);
  // 30 of 2000 is what a true 1 % gives within its 98.7 % range.
  EXPECT_GT(binomial_lower_tail(30, 2000, 0.01), 0.985);
}

}  // namespace
}  // namespace flopmark
