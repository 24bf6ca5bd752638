#include "stats/student_t.h"

#include <gtest/gtest.h>

namespace flopmark {
namespace {

// Two-sided 5 % points as published (three decimals in every table; more digits from NIST and R's qt).
TEST(StudentT, EqualsThePublishedTable) {
  EXPECT_NEAR(student_t95(1), 12.7062047364, 1e-9);
  EXPECT_NEAR(student_t95(2), 4.3026527297, 1e-9);
  EXPECT_NEAR(student_t95(3), 3.1824463053, 1e-9);
  EXPECT_NEAR(student_t95(4), 2.7764451052, 1e-9);
  EXPECT_NEAR(student_t95(5), 2.5705818356, 1e-9);
  EXPECT_NEAR(student_t95(9), 2.2621571628, 1e-9);
  EXPECT_NEAR(student_t95(30), 2.0422724563, 1e-9);
  EXPECT_NEAR(student_t95(100), 1.9839715185, 1e-9);
}

TEST(StudentT, FallsTowardsTheNormalQuantile) {
  EXPECT_GT(student_t95(1000), 1.959963984540);
  EXPECT_NEAR(student_t95(100'000), 1.959963984540, 1e-4);
}

}  // namespace
}  // namespace flopmark
