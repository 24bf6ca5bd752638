#include "train/device_marker.h"

#include <gtest/gtest.h>

#include "measure/host_marker.h"

namespace flopmark {
namespace {

TEST(DeviceMarker, ReadsTheHostClockOnACpu) {
  struct StepClock : Clock {
    int64_t ns = 0;
    int64_t now_ns() override { return ns += 5'000'000; }
  } clock;
  const auto marker = make_marker(torch::kCPU, clock);
  marker->reserve(2);
  marker->mark(0);
  marker->mark(1);
  marker->synchronize();
  EXPECT_DOUBLE_EQ(marker->elapsed_s(0, 1), 0.005);
}

}  // namespace
}  // namespace flopmark
