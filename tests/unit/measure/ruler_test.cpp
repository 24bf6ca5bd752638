#include "measure/ruler.h"

#include <gmock/gmock.h>

#include "fakes/fake_ruler.h"

namespace flopmark {
namespace {

using testing::DoubleNear;
using testing::ElementsAre;

TEST(ReadRuler, WarmsUpAndTakesTheMedianOfTheRest) {
  ToldClock clock;
  FakeRuler kernel(clock);
  // Five calls of 10 ms warm it up; of the seven timed ones three are slow.
  kernel.matmul_s = [](int call) { return call > 5 && call <= 8 ? 0.5 : 0.01; };
  Ruler ruler;
  read_ruler(kernel, clock, ruler);
  EXPECT_EQ(kernel.matmuls, 5 + kRulerRepetitions);
  EXPECT_EQ(kernel.copies, 1 + kRulerRepetitions);
  EXPECT_EQ(ruler.matmul_flop, 1000);
  EXPECT_EQ(ruler.copy_bytes, 64);
  EXPECT_THAT(ruler.matmul_s, ElementsAre(DoubleNear(0.01, 1e-9)));
  EXPECT_THAT(ruler.copy_s, ElementsAre(DoubleNear(0.002, 1e-9)));
}

TEST(ReadRuler, AddsToWhatThereIs) {
  ToldClock clock;
  FakeRuler kernel(clock);
  Ruler ruler;
  read_ruler(kernel, clock, ruler);
  kernel.matmul_s = [](int) { return 0.02; };
  kernel.copy_s = 0.003;
  read_ruler(kernel, clock, ruler);
  EXPECT_THAT(ruler.matmul_s, ElementsAre(DoubleNear(0.01, 1e-9), DoubleNear(0.02, 1e-9)));
  EXPECT_THAT(ruler.copy_s, ElementsAre(DoubleNear(0.002, 1e-9), DoubleNear(0.003, 1e-9)));
}

TEST(ReadRuler, ASlowMachineIsWarmedUpByOneCall) {
  ToldClock clock;
  FakeRuler kernel(clock);
  kernel.matmul_s = [](int) { return 1.0; };
  Ruler ruler;
  read_ruler(kernel, clock, ruler);
  EXPECT_EQ(kernel.matmuls, 1 + kRulerRepetitions);
}

TEST(MergeRulers, KeepsTheOrderOfTimeAndLeavesOutOtherWork) {
  std::vector<LaunchSamples> launches(4);
  EXPECT_FALSE(merge_rulers(launches));
  launches[1].ruler = Ruler{1000, 64, {1.0, 1.1}, {0.1, 0.2}};
  launches[2].ruler = Ruler{2000, 64, {5.0, 5.0}, {0.5, 0.5}};
  launches[3].ruler = Ruler{1000, 64, {1.2}, {0.3}};
  const auto merged = merge_rulers(launches);
  ASSERT_TRUE(merged);
  EXPECT_EQ(merged->matmul_flop, 1000);
  EXPECT_THAT(merged->matmul_s, ElementsAre(1.0, 1.1, 1.2));
  EXPECT_THAT(merged->copy_s, ElementsAre(0.1, 0.2, 0.3));
}

TEST(RulerMoved, FromTenPercentBetweenAnyTwoReadings) {
  EXPECT_EQ(reading_spread({}), 0);
  EXPECT_EQ(reading_spread({1.0}), 0);
  EXPECT_DOUBLE_EQ(reading_spread({1.0, 1.5, 1.2}), 0.5);
  EXPECT_EQ(reading_spread({0.0, 1.0}), 0) << "no reading";
  EXPECT_FALSE(ruler_moved({1000, 64, {1.0, 1.09, 1.0}, {1.0, 1.09}}));
  EXPECT_TRUE(ruler_moved({1000, 64, {1.0, 1.0, 1.11}, {1.0, 1.0}}));
  EXPECT_TRUE(ruler_moved({1000, 64, {1.0, 1.0}, {1.11, 1.0}}));
}

}  // namespace
}  // namespace flopmark
