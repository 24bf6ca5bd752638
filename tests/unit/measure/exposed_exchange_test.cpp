#include "measure/exposed_exchange.h"

#include <gtest/gtest.h>

#include "fakes/fake_step.h"
#include "measure/host_marker.h"

namespace flopmark {
namespace {

TEST(ExposedExchange, ItsKnownPartIsMeasuredBack) {
  FakeClock clock;
  bool on = true;
  FakeStep step(clock,
                {.phase_s = {0, 0, 0.006, 0.004, 0.002}, .scale = [&](int64_t) { return on ? 1.5 : 1.0; }});
  HostMarker marker(clock);
  LoopState state;
  std::string runs;
  const ExposedTimes times = time_exposed_exchange(step, marker, clock,
                                                   {.steps = 3,
                                                    .steps_before = 50,
                                                    .set_exchange =
                                                        [&](bool now) {
                                                          on = now;
                                                          runs += now ? '+' : '-';
                                                        }},
                                                   state);
  EXPECT_DOUBLE_EQ(times.with_s, 0.018);
  EXPECT_DOUBLE_EQ(times.without_s, 0.012);
  EXPECT_EQ(runs, "+--++--+");
  EXPECT_TRUE(on);
  EXPECT_EQ(step.finished(), 24);
  EXPECT_EQ(state.step, 53);
}

// A machine that gets slower all the time slows both alike.
TEST(ExposedExchange, ADriftIsNoExchange) {
  FakeClock clock;
  FakeStep step(clock, {.phase_s = {0, 0, 0.010, 0, 0},
                        .scale = [](int64_t number) { return 1 + 0.01 * static_cast<double>(number); }});
  HostMarker marker(clock);
  LoopState state;
  const ExposedTimes times =
      time_exposed_exchange(step, marker, clock, {.steps = 5, .set_exchange = [](bool) {}}, state);
  EXPECT_NEAR(times.without_s / times.with_s, 1, 0.02);
}

}  // namespace
}  // namespace flopmark
