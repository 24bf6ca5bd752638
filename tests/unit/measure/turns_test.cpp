#include "measure/turns.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "fakes/fake_step.h"
#include "measure/host_marker.h"

namespace flopmark {
namespace {

using testing::DoubleEq;
using testing::ElementsAre;

struct TurnBench {
  explicit TurnBench(FakeScript script) : step(clock, std::move(script)), marker(clock) {}
  BlockSamples run(const TurnOptions& options) { return run_turn(step, marker, clock, options, state); }

  FakeClock clock;
  FakeStep step;
  HostMarker marker;
  LoopState state;
};

TEST(Turns, AddsUpSkippedUpdates) {
  TurnBench bench({.skips = [](int64_t step) { return step == 2 || step == 5; }});
  BlockSamples all = bench.run({.steps = 3});
  EXPECT_EQ(all.skipped_steps, 1);
  append(all, bench.run({.steps = 3}));
  EXPECT_EQ(all.skipped_steps, 2);
  TurnBench plain({});
  all = plain.run({.steps = 3});
  append(all, plain.run({.steps = 3}));
  EXPECT_EQ(all.skipped_steps, std::nullopt);
}

TEST(Turns, TimesItsStepsAndCountsOn) {
  TurnBench bench({.phase_s = {0, 0, 0.01, 0, 0}});
  const BlockSamples turn = bench.run({.steps = 3, .steps_before = 6});
  EXPECT_EQ(turn.steps, 3);
  EXPECT_DOUBLE_EQ(turn.wall_s, 0.03);
  EXPECT_EQ(bench.step.calls(), "BntfbuntfbuntfbuE");
  EXPECT_EQ(bench.state.step, 9);
  EXPECT_EQ(bench.state.steps, 9);
}

TEST(Turns, ADiscardedFirstStepIsInNoFigure) {
  TurnBench bench(
      {.phase_s = {0, 0, 0.01, 0, 0}, .scale = [](int64_t step) { return step == 1 ? 100.0 : 1.0; }});
  const BlockSamples turn = bench.run({.steps = 2, .discard_first = true});
  EXPECT_EQ(bench.step.finished(), 3);
  EXPECT_THAT(turn.step_s, ElementsAre(DoubleEq(0.01), DoubleEq(0.01)));
  EXPECT_DOUBLE_EQ(turn.wall_s, 0.02);
  EXPECT_EQ(turn.samples, 4);
  EXPECT_THAT(turn.losses, ElementsAre(1.0 / 2, 1.0 / 3));
}

TEST(Turns, StoppedInTheDiscardedStepTimesNothing) {
  TurnBench* self = nullptr;
  TurnBench bench({.on_update = [&](int64_t) { self->state.stop = true; }});
  self = &bench;
  const BlockSamples turn = bench.run({.steps = 2, .discard_first = true});
  EXPECT_EQ(turn.steps, 0);
  EXPECT_EQ(bench.step.finished(), 1);
}

TEST(Turns, ALossThatIsNotFiniteIsOfItsStepInTheLaunch) {
  TurnBench bench(
      {.loss = [](int64_t step) { return step == 2 ? std::numeric_limits<double>::quiet_NaN() : 1.0; }});
  try {
    bench.run({.steps = 3, .steps_before = 10});
    ADD_FAILURE() << "no error";
  } catch (const NanLoss& nan) {
    EXPECT_EQ(nan.step, 12);
    EXPECT_EQ(nan.stage, LoopState::Stage::timed);
  }
}

TEST(Turns, AppendedBlocksAreOne) {
  TurnBench one({.phase_s = {1e-3, 2e-3, 3e-3, 4e-3, 5e-3}, .images = 3});
  TurnBench parts({.phase_s = {1e-3, 2e-3, 3e-3, 4e-3, 5e-3}, .images = 3});
  const BlockSamples whole = one.run({.steps = 6, .micro_batches = 2});
  BlockSamples all;
  for (int turn = 0; turn < 3; ++turn)
    append(all, parts.run({.steps = 2, .micro_batches = 2, .steps_before = 2 * turn}));
  EXPECT_EQ(all.steps, whole.steps);
  EXPECT_THAT(all.step_s, testing::Pointwise(testing::DoubleEq(), whole.step_s));
  for (size_t i = 0; i < kPhaseCount; ++i) {
    EXPECT_THAT(all.phase_s[i], testing::Pointwise(testing::DoubleEq(), whole.phase_s[i])) << i;
  }
  EXPECT_DOUBLE_EQ(all.wall_s, whole.wall_s);
  EXPECT_DOUBLE_EQ(all.data_wait_host_s, whole.data_wait_host_s);
  EXPECT_GT(all.data_wait_host_s, 0);
  EXPECT_EQ(all.samples, whole.samples);
  EXPECT_EQ(all.tokens, whole.tokens);
  EXPECT_EQ(all.images, whole.images);
  EXPECT_EQ(all.losses, whole.losses);
}

}  // namespace
}  // namespace flopmark
