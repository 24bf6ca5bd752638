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

}  // namespace
}  // namespace flopmark
