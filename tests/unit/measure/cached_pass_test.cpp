#include "measure/cached_pass.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "fakes/fake_step.h"
#include "measure/host_marker.h"
#include "metrics/metrics.h"

namespace flopmark {
namespace {

using testing::DoubleEq;
using testing::Each;

struct PassBench {
  explicit PassBench(FakeScript script) : step(clock, std::move(script)), marker(clock) {}

  FakeClock clock;
  FakeStep step;
  HostMarker marker;
  LoopState state;
};

// The loader takes 5 ms of a step of 15 ms: known before, so it must be measured back exactly.
TEST(CachedPass, TheLoadersKnownCostIsMeasuredBack) {
  PassBench bench({.phase_s = {0.005, 0, 0.006, 0.003, 0.001}});
  LaunchSamples launch;
  launch.timed = run_block(bench.step, bench.marker, bench.clock, {.steps = 10}, bench.state);
  launch.cached = run_cached_pass(bench.step, bench.marker, bench.clock, {.steps = 10}, bench.state);
  EXPECT_THAT(launch.timed.step_s, Each(DoubleEq(0.015)));
  EXPECT_THAT(launch.cached->step_s, Each(DoubleEq(0.010)));
  EXPECT_DOUBLE_EQ(launch.cached->data_wait_host_s, 0);
  EXPECT_EQ(launch.cached->steps, 10);
  EXPECT_EQ(bench.state.stage, LoopState::Stage::cached);
  EXPECT_EQ(bench.state.step, 10);

  const Metrics metrics = compute_metrics({.launches = {launch, launch}, .peak = {}, .devices = 1});
  EXPECT_NEAR(*metrics.values.at("step_cached_s"), 0.010, 1e-12);
  EXPECT_NEAR(*metrics.values.at("step_to_cached_ratio"), 1.5, 1e-9);
  EXPECT_NEAR(metrics.step_s->mean, 0.015, 1e-12) << "the cached pass is in no other figure";
}

TEST(CachedPass, OneStepBeforeIsInNoFigure) {
  PassBench bench({.phase_s = {1, 0, 0.01, 0, 0}, .scale = [](int64_t s) { return s == 1 ? 50.0 : 1.0; }});
  const BlockSamples cached =
      run_cached_pass(bench.step, bench.marker, bench.clock, {.steps = 3}, bench.state);
  EXPECT_EQ(bench.step.calls(), "KBntfbuEBntfbuntfbuntfbuE");
  EXPECT_DOUBLE_EQ(cached.wall_s, 0.03);
}

// One step before, then step 1, 2 and 3 of the pass, which is no timed step.
TEST(CachedPass, ALossThatIsNoNumberIsOfItsOwnStep) {
  PassBench bench({.loss = [](int64_t step) { return step == 4 ? NAN : 1.0; }});
  try {
    run_cached_pass(bench.step, bench.marker, bench.clock, {.steps = 5}, bench.state);
    FAIL();
  } catch (const NanLoss& nan) {
    EXPECT_EQ(nan.stage, LoopState::Stage::cached);
    EXPECT_EQ(nan.step, 3);
    EXPECT_THAT(nan.what(), testing::StartsWith("the loss of cached step 3 is nan"));
  }
}

// One launch has a short batch at the end: 3 whole ones of 4 samples and one of 2, all 10 ms a sample.
TEST(CachedPass, ShortBatchesAreComparedBySample) {
  LaunchSamples launch;
  launch.timed.steps = 4;
  launch.timed.samples = 14;
  launch.timed.wall_s = 0.14;
  launch.timed.step_s = {0.04, 0.04, 0.04, 0.02};
  launch.cached = launch.timed;
  launch.cached->samples = 16;
  launch.cached->wall_s = 0.08;
  const Metrics metrics = compute_metrics({.launches = {launch}, .peak = {}, .devices = 1});
  EXPECT_NEAR(*metrics.values.at("step_to_cached_ratio"), 2.0, 1e-12);
}

TEST(CachedPass, WithoutOneInEveryLaunchThereIsNoFigure) {
  LaunchSamples with, without;
  with.timed.steps = without.timed.steps = 1;
  with.timed.samples = without.timed.samples = 1;
  with.timed.wall_s = without.timed.wall_s = 1;
  with.timed.step_s = without.timed.step_s = {1};
  with.cached = with.timed;
  const Metrics metrics = compute_metrics({.launches = {with, without}, .peak = {}, .devices = 1});
  EXPECT_EQ(metrics.values.at("step_cached_s"), std::nullopt);
  EXPECT_EQ(metrics.values.at("step_to_cached_ratio"), std::nullopt);
}

// FLOPs were counted in a step of 4 samples: 14 samples are 3.5 such steps, not 4.
TEST(CachedPass, FlopsFollowTheSamplesReallyProcessed) {
  LaunchSamples launch;
  launch.timed.steps = 4;
  launch.timed.samples = 14;
  launch.timed.wall_s = 2;
  launch.timed.step_s = {0.5, 0.5, 0.5, 0.5};
  launch.flops = FlopTotals{};
  launch.flops->forward_flop = 1000;
  launch.counted_samples = 4;
  const Metrics metrics = compute_metrics({.launches = {launch}, .peak = {}, .devices = 1});
  EXPECT_DOUBLE_EQ(*metrics.values.at("model_flop_per_s"), 1750);
  EXPECT_DOUBLE_EQ(*metrics.values.at("samples_per_s"), 7);
}

}  // namespace
}  // namespace flopmark
