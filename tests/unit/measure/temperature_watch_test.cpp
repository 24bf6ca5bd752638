#include "measure/temperature_watch.h"

#include <gtest/gtest.h>

#include <functional>

namespace flopmark {
namespace {

/// Readings each half second from 0 to `end_s`.
TemperatureWatch watch_of(double end_s, const std::function<double(double)>& temperature_c) {
  TemperatureWatch watch;
  for (double time_s = 0; time_s <= end_s; time_s += 0.5) watch.add(time_s, temperature_c(time_s));
  return watch;
}

TEST(TemperatureWatch, TenSecondsAreNeeded) {
  const auto constant = [](double) { return 60.0; };
  EXPECT_FALSE(watch_of(9.5, constant).settled());
  EXPECT_EQ(watch_of(9.5, constant).movement_c(), std::nullopt);
  EXPECT_TRUE(watch_of(10, constant).settled());
  EXPECT_FALSE(TemperatureWatch().settled());
}

TEST(TemperatureWatch, ASteadySlopeIsMeasuredAsItIs) {
  const auto slope = [](double per_10_s) {
    return [per_10_s](double time_s) { return 40 + per_10_s * time_s / 10; };
  };
  EXPECT_NEAR(watch_of(30, slope(2)).movement_c().value(), 2, 0.11);  // halves of 11 and 10 readings
  EXPECT_NEAR(watch_of(30, slope(-2)).movement_c().value(), -2, 0.11);
  EXPECT_FALSE(watch_of(30, slope(1.2)).settled());
  EXPECT_TRUE(watch_of(30, slope(0.9)).settled());
  EXPECT_FALSE(watch_of(30, slope(-1.2)).settled());
}

TEST(TemperatureWatch, ASensorThatFlickersBetweenTwoDegreesHasSettled) {
  EXPECT_TRUE(
      watch_of(20, [](double time_s) { return static_cast<int>(time_s * 2) % 3 == 0 ? 61 : 60; }).settled());
}

TEST(TemperatureWatch, OldReadingsAreForgotten) {
  const auto warming = [](double time_s) { return time_s < 20 ? 40 + time_s : 60; };
  EXPECT_FALSE(watch_of(25, warming).settled());
  EXPECT_TRUE(watch_of(30, warming).settled());
}

TEST(TemperatureWatch, ReadingsFarApartStillCount) {
  TemperatureWatch watch;
  watch.add(0, 40);
  watch.add(25, 60);
  EXPECT_EQ(watch.movement_c(), 40.0);
  watch.add(50, 60);
  EXPECT_TRUE(watch.settled());
}

}  // namespace
}  // namespace flopmark
