#include "flops/checked_math.h"

#include <gtest/gtest.h>

#include <limits>
#include <stdexcept>

namespace flopmark {
namespace {

constexpr int64_t kMax = std::numeric_limits<int64_t>::max();

TEST(CheckedMath, RefusesWhatDoesNotFit) {
  EXPECT_EQ(checked_add(kMax - 1, 1), kMax);
  EXPECT_THROW(checked_add(kMax, 1), std::overflow_error);
  EXPECT_EQ(checked_multiply(int64_t{1} << 31, int64_t{1} << 31), int64_t{1} << 62);
  EXPECT_THROW(checked_multiply(int64_t{1} << 32, int64_t{1} << 31), std::overflow_error);
}

TEST(CheckedMath, ProductOfNoneIsOneAndZeroWins) {
  EXPECT_EQ(checked_product({}), 1);
  EXPECT_EQ(checked_product({2, 3, 7}), 42);
  EXPECT_EQ(checked_product({kMax, kMax, 0}), 0);
  EXPECT_THROW(checked_product({kMax, 1, 2}), std::overflow_error);
}

}  // namespace
}  // namespace flopmark
