#include <gtest/gtest.h>

#include "fakes/fake_step.h"
#include "measure/host_marker.h"
#include "measure/step_loop.h"
#include "metrics/metrics.h"

namespace flopmark {
namespace {

LaunchSamples launch_of(std::vector<double> step_s) {
  LaunchSamples launch;
  launch.timed.steps = static_cast<int64_t>(step_s.size());
  launch.timed.step_s = std::move(step_s);
  return launch;
}

TEST(StepStatistics, QuantilesAndMeanAreOverAllSteps) {
  // 1..11 in two launches: type 7 quantiles at positions 1, 5, 9 and 9.9.
  const auto step_s =
      compute_metrics({{launch_of({11, 2, 3, 4}), launch_of({1, 5, 6, 7, 8, 9, 10})}, {}, 1}).step_s;
  ASSERT_TRUE(step_s);
  EXPECT_DOUBLE_EQ(step_s->median, 6);
  EXPECT_DOUBLE_EQ(step_s->mean, 6);
  EXPECT_DOUBLE_EQ(step_s->p10, 2);
  EXPECT_DOUBLE_EQ(step_s->p90, 10);
  EXPECT_DOUBLE_EQ(step_s->p99, 10.9);
}

TEST(StepStatistics, TheIntervalTakesALaunchAsOneObservation) {
  // Launch means 20, 21, 22: mean 21, standard error 1 / sqrt(3), t(2) = 4.302653: 2.484138 either way.
  const auto step_s =
      compute_metrics({{launch_of({19, 21}), launch_of({21, 21}), launch_of({24, 20})}, {}, 1}).step_s;
  ASSERT_TRUE(step_s && step_s->ci95_low && step_s->ci95_high);
  EXPECT_NEAR(*step_s->ci95_low, 21 - 2.484138, 1e-6);
  EXPECT_NEAR(*step_s->ci95_high, 21 + 2.484138, 1e-6);
}

TEST(StepStatistics, OneLaunchHasNoInterval) {
  const auto step_s = compute_metrics({{launch_of({1, 2, 3}), launch_of({})}, {}, 1}).step_s;
  ASSERT_TRUE(step_s);
  EXPECT_FALSE(step_s->ci95_low);
  EXPECT_FALSE(step_s->ci95_high);
}

TEST(StepStatistics, TheLowerLimitOfATimeIsNotNegative) {
  const auto step_s = compute_metrics({{launch_of({1}), launch_of({3})}, {}, 1}).step_s;  // 2 +- 12.7
  ASSERT_TRUE(step_s && step_s->ci95_low);
  EXPECT_EQ(*step_s->ci95_low, 0.0);
  EXPECT_NEAR(*step_s->ci95_high, 14.706205, 1e-6);
}

TEST(StepStatistics, WithoutAStepThereIsNone) {
  EXPECT_FALSE(compute_metrics({{}, {}, 1}).step_s);
  EXPECT_FALSE(compute_metrics({{launch_of({})}, {}, 1}).step_s);
}

TEST(Phases, AreMeansOverAllStepsOfAllLaunches) {
  LaunchSamples one = launch_of({6, 6}), other = launch_of({12});
  one.timed.phase_s = {{{1, 3}, {0, 0}, {1, 1}, {2, 1}, {0, 1}, {1, 0}, {1, 0}}};
  one.timed.data_wait_host_s = 5;
  other.timed.phase_s = {{{5}, {3}, {1}, {2}, {0}, {1}, {0}}};
  other.timed.data_wait_host_s = 1;
  const Phases phases = compute_phases({one, other});
  EXPECT_DOUBLE_EQ(phases.data_s, 3);  // (1 + 3 + 5) / 3
  EXPECT_DOUBLE_EQ(phases.transfer_s, 1);
  EXPECT_DOUBLE_EQ(phases.forward_s, 1);
  EXPECT_DOUBLE_EQ(phases.backward_s, 5.0 / 3);
  EXPECT_DOUBLE_EQ(phases.optimizer_s, 2.0 / 3);
  EXPECT_DOUBLE_EQ(phases.other_s, 1.0 / 3);
  EXPECT_DOUBLE_EQ(phases.communication_exposed_s, 1.0 / 3);
  EXPECT_DOUBLE_EQ(phases.data_wait_host_s, 2);
}

TEST(Phases, WithoutAStepAreZero) {
  EXPECT_EQ(compute_phases({}).forward_s, 0);
  EXPECT_EQ(compute_phases({LaunchSamples()}).data_wait_host_s, 0);
}

/// From the loop to the figures a user reads, with known times: 2 x (1 + 2 + 3 + 4) + 5 = 25 ms a step.
TEST(Metrics, OfAWholeFakeRunAreExact) {
  FakeClock clock;
  FakeStep step(clock, {.phase_s = {1e-3, 2e-3, 3e-3, 4e-3, 5e-3}, .samples = 5, .tokens = 160});
  HostMarker marker(clock);
  LoopState state;
  LaunchSamples launch;
  launch.warmup = run_warmup(step, marker, clock, {.micro_batches = 2}, state);
  launch.timed = run_block(step, marker, clock, {.steps = 1000, .micro_batches = 2}, state);
  const Metrics metrics = compute_metrics({{launch}, {}, 1});
  EXPECT_DOUBLE_EQ(metrics.step_s->median, 0.025);
  EXPECT_NEAR(metrics.step_s->mean, 0.025, 1e-15);
  EXPECT_DOUBLE_EQ(*metrics.values.at("samples_per_s"), 400);  // 10 samples in 25 ms
  EXPECT_DOUBLE_EQ(*metrics.values.at("tokens_per_s"), 12'800);
  EXPECT_NEAR(*metrics.values.at("data_wait_ratio"), 2.0 / 25, 1e-12);
  const Phases phases = compute_phases({launch});
  const double sum_s = phases.data_s + phases.transfer_s + phases.forward_s + phases.backward_s +
                       phases.optimizer_s + phases.other_s;
  EXPECT_NEAR(sum_s, metrics.step_s->mean, 1e-12);
  EXPECT_NEAR(sum_s * 1000, launch.timed.wall_s, 1e-9);
  EXPECT_NEAR(phases.data_wait_host_s, 0.002, 1e-12);
}

}  // namespace
}  // namespace flopmark
