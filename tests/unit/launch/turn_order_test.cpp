#include "launch/turn_order.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "launch/control_line.h"

namespace flopmark {
namespace {

TEST(TurnOrder, IsTheSeedsOwn) {
  const TurnOrder order = draw_turn_order(7, 50);
  EXPECT_EQ(order.a_first.size(), 50U);
  EXPECT_EQ(draw_turn_order(7, 50).a_first, order.a_first);
  EXPECT_NE(draw_turn_order(8, 50).a_first, order.a_first);
  EXPECT_EQ(draw_turn_order(7, 0).a_starts_up_first, order.a_starts_up_first);
  EXPECT_TRUE(draw_turn_order(7, 0).a_first.empty());
}

TEST(TurnOrder, IsBalancedInBlocksOfFour) {
  for (uint64_t seed = 0; seed < 100; ++seed) {
    const auto a_first = draw_turn_order(seed, 20).a_first;
    for (auto block = a_first.begin(); block != a_first.end(); block += 4) {
      EXPECT_EQ(std::count(block, block + 4, true), 2) << seed;
    }
  }
}

/// Each of the six orders of a block, and each side's first start, come as often as chance has it: of 6000
/// draws 1000 +- 150 is beyond five standard deviations, 3000 +- 200 as well.
TEST(TurnOrder, EveryOrderIsEquallyLikely) {
  std::map<std::vector<bool>, int> counts;
  int a_starts_up_first = 0;
  for (uint64_t seed = 0; seed < 6000; ++seed) {
    const TurnOrder order = draw_turn_order(seed, 4);
    ++counts[order.a_first];
    a_starts_up_first += order.a_starts_up_first ? 1 : 0;
  }
  EXPECT_EQ(counts.size(), 6U);
  for (const auto& [order, count] : counts) EXPECT_NEAR(count, 1000, 150);
  EXPECT_NEAR(a_starts_up_first, 3000, 200);
}

TEST(TurnOrder, ShortStepsAreGroupedByTheFasterSide) {
  EXPECT_EQ(steps_per_turn(0.05, 0.06, 0.05), 1);
  EXPECT_EQ(steps_per_turn(0.2, 0.3, 0.05), 1);
  EXPECT_EQ(steps_per_turn(0.02, 0.01, 0.05), 5);
  EXPECT_EQ(steps_per_turn(0.01, 0.02, 0.05), 5);
  EXPECT_EQ(steps_per_turn(0.012, 0.012, 0.05), 5);
  EXPECT_EQ(steps_per_turn(1e-300, 1, 0.05), kMostTurnSteps);
}

}  // namespace
}  // namespace flopmark
