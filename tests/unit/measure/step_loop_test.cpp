#include "measure/step_loop.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <new>
#include <numeric>

#include "fakes/allocation_count.h"
#include "fakes/fake_device.h"
#include "fakes/fake_step.h"
#include "measure/host_marker.h"

namespace flopmark {
namespace {

constexpr std::array<double, 5> kOneToFiveMs = {1e-3, 2e-3, 3e-3, 4e-3, 5e-3};

const std::vector<double>& phase(const BlockSamples& samples, Phase which) {
  return samples.phase_s[static_cast<size_t>(which)];
}

double sum(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0);
}

/// A fake step, its clock, host marks and state: one block per call.
struct Bench {
  explicit Bench(FakeScript script) : step(clock, std::move(script)), marker(clock) {}
  BlockSamples run(const BlockOptions& options) { return run_block(step, marker, clock, options, state); }

  FakeClock clock;
  FakeStep step;
  HostMarker marker;
  LoopState state;
};

TEST(RunBlock, CallsThePhasesInOrder) {
  Bench bench({});
  bench.run({.steps = 2, .micro_batches = 2});
  EXPECT_EQ(bench.step.calls(), "BntfbntfbuntfbntfbuE");
}

TEST(RunBlock, KnownTimesGiveExactNumbers) {
  Bench bench({.phase_s = kOneToFiveMs});
  const BlockSamples samples = bench.run({.steps = 3});
  EXPECT_EQ(samples.steps, 3);
  EXPECT_THAT(samples.step_s, testing::Each(testing::DoubleEq(0.015)));
  EXPECT_THAT(phase(samples, Phase::data), testing::ElementsAre(0.001, 0.001, 0.001));
  EXPECT_THAT(phase(samples, Phase::transfer), testing::ElementsAre(0.002, 0.002, 0.002));
  EXPECT_THAT(phase(samples, Phase::forward), testing::ElementsAre(0.003, 0.003, 0.003));
  EXPECT_THAT(phase(samples, Phase::backward), testing::ElementsAre(0.004, 0.004, 0.004));
  EXPECT_THAT(phase(samples, Phase::optimizer), testing::ElementsAre(0.005, 0.005, 0.005));
  EXPECT_THAT(phase(samples, Phase::other), testing::ElementsAre(0.0, 0.0, 0.0));
  EXPECT_DOUBLE_EQ(samples.wall_s, 0.045);
  EXPECT_EQ(samples.samples, 6);
  EXPECT_EQ(samples.tokens, 192);
  EXPECT_DOUBLE_EQ(samples.data_wait_host_s, 0.003);
  EXPECT_THAT(samples.losses, testing::ElementsAre(1.0, 0.5, 1.0 / 3));
}

TEST(RunBlock, GradientAccumulationAddsUpItsMicroBatches) {
  Bench bench({.phase_s = kOneToFiveMs});
  const BlockSamples samples = bench.run({.steps = 4, .micro_batches = 3});
  EXPECT_THAT(samples.step_s, testing::Each(testing::DoubleEq(0.035)));  // 3 x (1 + 2 + 3 + 4) + 5
  EXPECT_THAT(phase(samples, Phase::data), testing::Each(testing::DoubleEq(0.003)));
  EXPECT_THAT(phase(samples, Phase::backward), testing::Each(testing::DoubleEq(0.012)));
  EXPECT_THAT(phase(samples, Phase::optimizer), testing::Each(testing::DoubleEq(0.005)));
  EXPECT_DOUBLE_EQ(samples.wall_s, 0.140);
  EXPECT_EQ(samples.samples, 24);
}

TEST(RunBlock, StepsKeepTheirOwnTimes) {
  Bench bench({.phase_s = kOneToFiveMs, .scale = [](int64_t step) { return static_cast<double>(step); }});
  const BlockSamples samples = bench.run({.steps = 3});
  EXPECT_THAT(samples.step_s, testing::ElementsAre(testing::DoubleEq(0.015), testing::DoubleEq(0.030),
                                                   testing::DoubleEq(0.045)));
}

/// Time that passes outside the step's phases: each store of a mark costs 1 ms here.
class SlowMarker : public HostMarker {
 public:
  explicit SlowMarker(FakeClock& clock) : HostMarker(clock), clock_(clock) {}
  void mark(size_t index) override {
    HostMarker::mark(index);
    clock_.advance_ns(1'000'000);
  }

 private:
  FakeClock& clock_;
};

TEST(RunBlock, TimeBetweenStepsIsOtherAndPhasesAddUpToTheStep) {
  FakeClock clock;
  FakeStep step(clock, {.phase_s = kOneToFiveMs});
  SlowMarker marker(clock);
  LoopState state;
  const BlockSamples samples = run_block(step, marker, clock, {.steps = 3, .micro_batches = 2}, state);
  EXPECT_THAT(phase(samples, Phase::other), testing::ElementsAre(0.001, 0.001, 0.0));
  double steps_s = 0;
  for (size_t i = 0; i < samples.step_s.size(); ++i) {
    double phases_s = 0;
    for (const auto& values : samples.phase_s) {
      if (!values.empty()) phases_s += values[i];  // one rank exchanges nothing
    }
    EXPECT_DOUBLE_EQ(phases_s, samples.step_s[i]) << "step " << i;
    steps_s += samples.step_s[i];
  }
  // 2 x (1 + 2 + 3 + 4) + 5 ms of work and 10 ms of marks a step; the very last mark lies after the last
  // step.
  EXPECT_DOUBLE_EQ(steps_s, 3 * 0.035 - 0.001);
  EXPECT_DOUBLE_EQ(samples.wall_s, 3 * 0.035);
}

TEST(RunBlock, AddsNoAllocationAndTwoClockReadsPerPhaseAtMost) {
  /// Notes the allocations at its first and its latest read: those are the fences.
  struct FenceClock : Clock {
    int64_t now_ns() override {
      const int64_t count = allocation_count();
      (reads++ == 0 ? first : last) = count;
      return ++ns;
    }
    int64_t ns = 0, reads = 0, first = 0, last = 0;
  } clock;
  FakeClock inner;
  FakeStep step(inner, {});
  HostMarker marker(clock);
  LoopState state;
  constexpr int64_t kSteps = 100, kMicroBatches = 3, kPhases = 4 * kMicroBatches + 1;
  const BlockSamples samples =
      run_block(step, marker, clock, {.steps = kSteps, .micro_batches = kMicroBatches}, state);
  EXPECT_EQ(samples.steps, kSteps);
  EXPECT_GT(clock.first, 0);
  EXPECT_EQ(clock.last - clock.first, 0) << "allocations between the fences";
  EXPECT_EQ(clock.reads, kSteps * (kPhases + 1) + 2);
  EXPECT_LE(clock.reads, kSteps * kPhases * 2);
}

TEST(AllocationCount, SeesAnAllocation) {
  const int64_t before = allocation_count();
  const std::vector<int> values(100, 1);
  EXPECT_EQ(allocation_count() - before, 1);
  EXPECT_EQ(values.size(), 100u);
}

TEST(AllocationCount, SeesEveryForm) {
  constexpr std::align_val_t kPage{4096};
  const int64_t before = allocation_count();
  ::operator delete(::operator new(8));
  ::operator delete[](::operator new[](8));
  ::operator delete(::operator new(8, std::nothrow), std::nothrow);
  ::operator delete[](::operator new[](8, std::nothrow), std::nothrow);
  void* const page = ::operator new(8, kPage);
  const bool on_boundary = reinterpret_cast<uintptr_t>(page) % 4096 == 0;
  ::operator delete(page, kPage);
  ::operator delete[](::operator new[](8, kPage), kPage);
  ::operator delete(::operator new(8, kPage, std::nothrow), kPage, std::nothrow);
  ::operator delete[](::operator new[](8, kPage, std::nothrow), kPage, std::nothrow);
  EXPECT_EQ(allocation_count() - before, 8);
  EXPECT_TRUE(on_boundary);
}

TEST(RunBlock, OfAnAsynchronousDeviceTimesTheDevice) {
  FakeClock clock;
  FakeDevice device(clock);
  device.submit_s(1.0);  // left over from before: must be waited for, not timed
  FakeDeviceStep step(clock, device,
                      {.loader_s = 1e-3, .forward_s = 2e-3, .backward_s = 4e-3, .update_s = 1e-3});
  LoopState state;
  const BlockSamples samples = run_block(step, device, clock, {.steps = 5}, state);
  EXPECT_EQ(device.synchronized(), 2);
  // The loader is hidden behind the device's queue from the second step on.
  EXPECT_THAT(phase(samples, Phase::data),
              testing::ElementsAre(testing::DoubleEq(0.001), 0.0, 0.0, 0.0, 0.0));
  EXPECT_THAT(phase(samples, Phase::forward), testing::Each(testing::DoubleEq(0.002)));
  EXPECT_THAT(phase(samples, Phase::backward), testing::Each(testing::DoubleEq(0.004)));
  EXPECT_DOUBLE_EQ(sum(samples.step_s), 0.036);
  EXPECT_DOUBLE_EQ(samples.wall_s, 0.036);
  EXPECT_DOUBLE_EQ(samples.data_wait_host_s, 0.005);
}

TEST(RunBlock, OfAStarvedDeviceTheIdleGapIsTheDataPhase) {
  FakeClock clock;
  FakeDevice device(clock);
  FakeDeviceStep step(clock, device,
                      {.loader_s = 10e-3, .forward_s = 2e-3, .backward_s = 4e-3, .update_s = 1e-3});
  LoopState state;
  const BlockSamples samples = run_block(step, device, clock, {.steps = 3}, state);
  EXPECT_THAT(
      phase(samples, Phase::data),
      testing::ElementsAre(testing::DoubleEq(0.010), testing::DoubleEq(0.003), testing::DoubleEq(0.003)));
  EXPECT_DOUBLE_EQ(samples.wall_s, 0.037);
}

TEST(RunBlock, StopsAfterThePresentStep) {
  LoopState* state = nullptr;
  Bench bench({.on_update = [&state](int64_t step) { state->stop = step == 3; }});
  state = &bench.state;
  const BlockSamples samples = bench.run({.steps = 10, .micro_batches = 2});
  EXPECT_EQ(samples.steps, 3);
  EXPECT_EQ(samples.step_s.size(), 3u);
  EXPECT_EQ(phase(samples, Phase::other).size(), 3u);
  EXPECT_EQ(samples.losses.size(), 3u);
  EXPECT_EQ(samples.samples, 12);
  EXPECT_DOUBLE_EQ(samples.wall_s, 0.006);
}

TEST(RunBlock, StoppedBeforeItsFirstStepIsEmpty) {
  Bench bench({});
  bench.state.stop = true;
  const BlockSamples samples = bench.run({.steps = 10});
  EXPECT_EQ(samples.steps, 0);
  EXPECT_TRUE(samples.step_s.empty());
  EXPECT_EQ(samples.wall_s, 0);
}

TEST(RunBlock, StateTellsStageStepAndPlan) {
  LoopState* state = nullptr;
  std::vector<int64_t> seen;
  seen.reserve(3);
  Bench bench({.on_update = [&](int64_t) { seen.push_back(state->step); }});
  state = &bench.state;
  bench.state.stage = LoopState::Stage::warmup;
  bench.state.step = 17;
  bench.run({.steps = 3});
  EXPECT_THAT(seen, testing::ElementsAre(1, 2, 3));
  EXPECT_EQ(bench.state.stage, LoopState::Stage::timed);
  EXPECT_EQ(bench.state.steps, 3);
}

TEST(RunBlock, AnExceptionLeavesTheStepInTheState) {
  Bench bench({.throw_at_step = 7, .throw_in = Phase::backward, .throw_text = "out of memory"});
  try {
    bench.run({.steps = 10});
    FAIL() << "nothing thrown";
  } catch (const std::runtime_error& error) {
    EXPECT_STREQ(error.what(), "out of memory");
  }
  EXPECT_EQ(bench.state.stage, LoopState::Stage::timed);
  EXPECT_EQ(bench.state.step, 7);
}

TEST(RunBlock, TheFirstLossThatIsNotFiniteIsThrownAfterTheBlock) {
  Bench bench({.loss = [](int64_t step) {
    return step == 5  ? std::numeric_limits<double>::infinity()
           : step > 5 ? std::numeric_limits<double>::quiet_NaN()
                      : 1.0;
  }});
  try {
    bench.run({.steps = 8});
    FAIL() << "nothing thrown";
  } catch (const NanLoss& nan) {
    EXPECT_EQ(nan.stage, LoopState::Stage::timed);
    EXPECT_EQ(nan.step, 5);
    EXPECT_STREQ(
        nan.what(),
        "the loss of timed step 5 is inf, not a finite number: lower the learning rate, or check the data "
        "and the precision");
  }
  EXPECT_EQ(bench.step.finished(), 8);
}

TEST(NanLoss, IsNanWhateverItsSign) {
  const double negative = -std::numeric_limits<double>::quiet_NaN();
  EXPECT_THAT(NanLoss(LoopState::Stage::warmup, 3, negative).what(),
              testing::HasSubstr("the loss of warmup step 3 is nan, "));
}

TEST(RunBlock, RefusesEmptyOptions) {
  Bench bench({});
  EXPECT_THROW(bench.run({.steps = 0}), std::invalid_argument);
  EXPECT_THROW(bench.run({.steps = 1, .micro_batches = 0}), std::invalid_argument);
}

TEST(RunBlock, AStepThatLosesLossesIsAFault) {
  struct Forgetful : FakeStep {
    using FakeStep::FakeStep;
    BlockFacts end_block() override {
      BlockFacts facts = FakeStep::end_block();
      facts.losses.pop_back();
      return facts;
    }
  };
  FakeClock clock;
  Forgetful step(clock, {});
  HostMarker marker(clock);
  LoopState state;
  EXPECT_THROW(run_block(step, marker, clock, {.steps = 2}, state), std::logic_error);
}

TEST(StageName, NamesEveryStage) {
  EXPECT_STREQ(stage_name(LoopState::Stage::load), "load");
  EXPECT_STREQ(stage_name(LoopState::Stage::warmup), "warmup");
  EXPECT_STREQ(stage_name(LoopState::Stage::timed), "timed");
  EXPECT_STREQ(stage_name(LoopState::Stage::cached), "cached");
  EXPECT_STREQ(stage_name(LoopState::Stage::count), "count");
  EXPECT_STREQ(stage_name(LoopState::Stage::save), "save");
}

}  // namespace
}  // namespace flopmark
