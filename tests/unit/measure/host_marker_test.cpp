#include "measure/host_marker.h"

#include <gtest/gtest.h>

#include "fakes/fake_step.h"

namespace flopmark {
namespace {

TEST(HostMarker, SaysTheTimeBetweenMarks) {
  FakeClock clock;
  HostMarker marker(clock);
  marker.reserve(3);
  marker.mark(0);
  clock.advance_ns(1'500);
  marker.mark(1);
  clock.advance_ns(500);
  marker.mark(2);
  EXPECT_DOUBLE_EQ(marker.elapsed_s(0, 1), 1.5e-6);
  EXPECT_DOUBLE_EQ(marker.elapsed_s(0, 2), 2e-6);
  EXPECT_EQ(clock.reads(), 3);
}

TEST(SteadyClock, NeverRunsBackwards) {
  SteadyClock clock;
  const int64_t first_ns = clock.now_ns();
  EXPECT_GT(first_ns, 0);
  EXPECT_GE(clock.now_ns(), first_ns);
}

}  // namespace
}  // namespace flopmark
