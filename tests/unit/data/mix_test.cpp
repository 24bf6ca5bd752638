#include "data/mix.h"

#include <gtest/gtest.h>

namespace flopmark {
namespace {

// The first outputs of SplitMix64 for seed 1234567, as published with the generator and checked by many ports
// of it.
static_assert(splitmix64(1234567, 0) == 6457827717110365317u);
static_assert(splitmix64(1234567, 1) == 3203168211198807973u);
static_assert(splitmix64(1234567, 4) == 16408922859458223821u);

TEST(Mix, ScalesToTheWholeRangeAndNoFurther) {
  EXPECT_EQ(scale_to(0, 10), 0u);
  EXPECT_EQ(scale_to(UINT64_MAX, 10), 9u);
  EXPECT_EQ(scale_to(UINT64_MAX, 1), 0u);
  EXPECT_EQ(scale_to(uint64_t{1} << 63, 10), 5u);
  EXPECT_EQ(scale_to(UINT64_MAX, UINT64_MAX), UINT64_MAX - 1);
}

}  // namespace
}  // namespace flopmark
