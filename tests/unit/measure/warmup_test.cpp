#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

#include "fakes/fake_device.h"
#include "fakes/fake_step.h"
#include "measure/host_marker.h"
#include "measure/step_loop.h"

namespace flopmark {
namespace {

using Profile = std::function<double(int64_t)>;  // relative time of step 1, 2, ...

WarmupSamples warm_up(const Profile& profile, const WarmupOptions& options = {}) {
  FakeClock clock;
  FakeStep step(clock, {.phase_s = {0, 0, 10e-3, 0, 0}, .scale = profile});
  HostMarker marker(clock);
  LoopState state;
  return run_warmup(step, marker, clock, options, state);
}

TEST(RunWarmup, AConstantTimeIsSteadyAsSoonAsTheWindowIsFull) {
  const WarmupSamples samples = warm_up([](int64_t) { return 1.0; });
  EXPECT_EQ(samples.step_s.size(), 40u);
  EXPECT_TRUE(samples.steady);
  EXPECT_EQ(samples.reason, "steady: last 40 steps within 0.0 %");
  EXPECT_THAT(samples.step_s, testing::Each(testing::DoubleEq(0.010)));
}

TEST(RunWarmup, MinimumAndMaximumStepsSetTheEarliestEnd) {
  const Profile constant = [](int64_t) { return 1.0; };
  EXPECT_EQ(warm_up(constant, {.min_steps = 60}).step_s.size(), 60u);
  EXPECT_EQ(warm_up(constant, {.max_steps = 25}).step_s.size(), 25u);
  EXPECT_TRUE(warm_up(constant, {.max_steps = 25}).steady);
  EXPECT_EQ(warm_up(constant, {.min_steps = 30, .max_steps = 20}).step_s.size(), 30u);
}

struct ProfileCase {
  const char* name;
  Profile profile;
  size_t at_least, at_most;  // steps discarded
  bool steady;
};

void PrintTo(const ProfileCase& profile, std::ostream* out) {
  *out << profile.name;
}

class WarmupProfile : public testing::TestWithParam<ProfileCase> {};

TEST_P(WarmupProfile, EndsWhereItShould) {
  const WarmupSamples samples = warm_up(GetParam().profile);
  EXPECT_EQ(samples.steady, GetParam().steady) << samples.reason;
  EXPECT_GE(samples.step_s.size(), GetParam().at_least) << samples.reason;
  EXPECT_LE(samples.step_s.size(), GetParam().at_most) << samples.reason;
}

double torchscript_ms(int64_t step) {
  constexpr double kFirst[] = {10.9, 82.4, 186.4, 1.8, 1.7};
  return step <= 5 ? kFirst[step - 1] : 1.6;
}

// After a shift the window forgets it once fewer than half of its first eight steps are from before: with n
// steps of another level, at 40 + n - 3.
INSTANTIATE_TEST_SUITE_P(
    Shapes, WarmupProfile,
    testing::Values(
        ProfileCase{"thirty_at_twice_the_time", [](int64_t i) { return i <= 30 ? 2.0 : 1.0; }, 67, 67, true},
        ProfileCase{"twenty_at_seven_tenths", [](int64_t i) { return i <= 20 ? 0.7 : 1.0; }, 57, 57, true},
        ProfileCase{"growth_without_end", [](int64_t i) { return std::pow(1.005, i); }, 200, 200, false},
        ProfileCase{"shrinking_without_end", [](int64_t i) { return std::pow(0.995, i); }, 200, 200, false},
        ProfileCase{"linear_growth", [](int64_t i) { return 1 + 0.005 * static_cast<double>(i); }, 200, 200,
                    false},
        ProfileCase{"torchscript", torchscript_ms, 40, 60, true},
        ProfileCase{"one_slow_first_step", [](int64_t i) { return i == 1 ? 100.0 : 1.0; }, 40, 40, true},
        ProfileCase{"clock_ramp_up",
                    [](int64_t i) { return 1 + 0.5 * std::exp(-static_cast<double>(i) / 20); }, 80, 120,
                    true},
        ProfileCase{"thermal_decay",
                    [](int64_t i) { return 1.2 - 0.2 * std::exp(-static_cast<double>(i) / 30); }, 79, 79,
                    true},
        ProfileCase{"stall_each_tenth", [](int64_t i) { return i % 10 == 0 ? 2.0 : 1.0; }, 40, 40, true},
        ProfileCase{"stall_each_fifth", [](int64_t i) { return i % 5 == 0 ? 3.0 : 1.0; }, 40, 40, true},
        ProfileCase{"alternating", [](int64_t i) { return i % 2 == 0 ? 1.5 : 1.0; }, 40, 40, true},
        ProfileCase{"cycle_of_three", [](int64_t i) { return i % 3 == 0 ? 1.5 : 1.0; }, 40, 40, true},
        ProfileCase{"two_long_two_short", [](int64_t i) { return i % 4 < 2 ? 1.2 : 1.0; }, 40, 40, true},
        ProfileCase{"single_outlier", [](int64_t i) { return i == 25 ? 50.0 : 1.0; }, 40, 40, true},
        ProfileCase{"step_up_of_one_percent", [](int64_t i) { return i <= 20 ? 1.0 : 1.01; }, 40, 40, true},
        ProfileCase{"step_up_of_three_percent", [](int64_t i) { return i <= 20 ? 1.0 : 1.03; }, 56, 56, true},
        ProfileCase{"two_levels", [](int64_t i) { return i <= 30   ? 3.0
                                                         : i <= 60 ? 2.0
                                                                   : 1.0; }, 97, 97,
                    true},
        ProfileCase{"late_shift", [](int64_t i) { return i <= 30 ? 1.0 : 1.1; }, 67, 67, true}),
    [](const auto& shape) { return shape.param.name; });

TEST(RunWarmup, FindsALevelShiftUnderNoise) {
  for (unsigned seed = 1; seed <= 20; ++seed) {
    std::mt19937_64 generator(seed);
    std::normal_distribution<double> noise(0, 0.03);
    const Profile profile = [&](int64_t i) { return (i <= 30 ? 1.3 : 1.0) * (1 + noise(generator)); };
    const WarmupSamples samples = warm_up(profile);
    EXPECT_TRUE(samples.steady) << "seed " << seed;
    EXPECT_GE(samples.step_s.size(), 60u) << "seed " << seed;
  }
}

TEST(RunWarmup, GrowthUnderNoiseIsStillUnsteady) {
  int steady = 0;
  for (unsigned seed = 1; seed <= 20; ++seed) {
    std::mt19937_64 generator(seed);
    std::normal_distribution<double> noise(0, 0.005);
    steady += warm_up([&](int64_t i) { return std::pow(1.005, i) * (1 + noise(generator)); }).steady ? 1 : 0;
  }
  EXPECT_EQ(steady, 0);
}

TEST(RunWarmup, SaysByHowMuchItIsNotSteady) {
  const WarmupSamples samples = warm_up([](int64_t i) { return i <= 184 ? 1.0 : 1.082; }, {.min_steps = 200});
  EXPECT_FALSE(samples.steady);
  EXPECT_EQ(samples.reason, "not steady after 200 steps: the last 16 are 8.2 % slower than the 24 before");
}

TEST(RunWarmup, ShortWarmUpsSaySo) {
  const Profile constant = [](int64_t) { return 1.0; };
  const WarmupSamples ten = warm_up(constant, {.max_steps = 10});
  EXPECT_EQ(ten.step_s.size(), 10u);
  EXPECT_TRUE(ten.steady);
  EXPECT_EQ(ten.reason, "steady: last 10 steps within 0.0 %; 10 steps are few to judge by, 40 are wanted");
  const WarmupSamples six = warm_up(torchscript_ms, {.min_steps = 4, .max_steps = 6});
  EXPECT_FALSE(six.steady) << six.reason;  // 10.9, 82.4, 186.4, then 1.8, 1.7, 1.6
  const WarmupSamples one = warm_up(constant, {.min_steps = 1, .max_steps = 1});
  EXPECT_FALSE(one.steady);
  EXPECT_EQ(one.reason, "not steady: 1 step is too few to judge, 40 are wanted");
}

TEST(RunWarmup, NoStepAtAllIsNotSteady) {
  const WarmupSamples samples = warm_up([](int64_t) { return 1.0; }, {.min_steps = 0, .max_steps = 0});
  EXPECT_TRUE(samples.step_s.empty());
  EXPECT_FALSE(samples.steady);
  EXPECT_EQ(samples.reason, "not steady: 0 steps are too few to judge, 40 are wanted");
}

TEST(RunWarmup, LastsTheLeastTimeEvenBeyondTheMostSteps) {
  const WarmupSamples samples = warm_up([](int64_t) { return 1.0; }, {.max_steps = 50, .min_s = 3.0});
  EXPECT_EQ(samples.step_s.size(), 300u);  // of 10 ms
  EXPECT_TRUE(samples.steady);
}

TEST(RunWarmup, TheTimeLimitJudgesWhatThereIs) {
  const WarmupSamples enough = warm_up([](int64_t) { return 500.0; });  // steps of 5 s
  EXPECT_EQ(enough.step_s.size(), 24u);
  EXPECT_TRUE(enough.steady);
  EXPECT_EQ(enough.reason, "steady: last 24 steps within 0.0 %; ended by the time limit of 120 s");
  const WarmupSamples few =
      warm_up([](int64_t) { return 2000.0; });  // 20 s: the minimum of 10 steps counts more
  EXPECT_EQ(few.step_s.size(), 10u);
  EXPECT_FALSE(few.steady);
  EXPECT_EQ(few.reason,
            "not steady: 10 steps are too few to judge, 40 are wanted; ended by the time limit of 120 s");
}

TEST(RunWarmup, WaitsForTheDeviceAroundEachStep) {
  FakeClock clock;
  FakeDevice device(clock);
  device.submit_s(1.0);
  FakeDeviceStep step(clock, device,
                      {.loader_s = 1e-3, .forward_s = 2e-3, .backward_s = 4e-3, .update_s = 1e-3});
  LoopState state;
  const WarmupSamples samples = run_warmup(step, device, clock, {.micro_batches = 2}, state);
  // Both loader waits and both passes; the second wait hides behind the first pass.
  EXPECT_THAT(samples.step_s, testing::Each(testing::DoubleEq(0.001 + 2 * 0.006 + 0.001)));
  EXPECT_TRUE(samples.steady);
}

/// Follows a FakeClock; what it shows at a time is the test's choice. Counts how often it was read.
class FakeThermometer : public Thermometer {
 public:
  FakeThermometer(FakeClock& clock, std::function<std::optional<double>(double)> temperature_c)
      : clock_(clock), start_ns_(clock.peek_ns()), temperature_c_(std::move(temperature_c)) {}
  std::optional<double> temperature_c() override {
    ++reads;
    return temperature_c_(static_cast<double>(clock_.peek_ns() - start_ns_) * 1e-9);
  }
  int reads = 0;

 private:
  FakeClock& clock_;
  int64_t start_ns_;
  std::function<std::optional<double>(double)> temperature_c_;
};

/// Steps of 100 ms; the device shows `temperature_c` of the seconds since the start.
WarmupSamples warm_up_device(const std::function<std::optional<double>(double)>& temperature_c,
                             WarmupOptions options = {}) {
  FakeClock clock;
  FakeThermometer thermometer(clock, temperature_c);
  FakeStep step(clock, {.phase_s = {0, 0, 0.1, 0, 0}});
  HostMarker marker(clock);
  LoopState state;
  options.thermometer = &thermometer;
  const WarmupSamples samples = run_warmup(step, marker, clock, options, state);
  EXPECT_LE(thermometer.reads, static_cast<int>(samples.step_s.size()) / 5 + 1) << "twice a second at most";
  return samples;
}

TEST(RunWarmup, WaitsUntilTheTemperatureHasSettled) {
  // One degree a second for 50 s, then still: settled when the half of the window before the middle rose by
  // less than half a degree on average.
  const WarmupSamples samples =
      warm_up_device([](double time_s) { return 30 + std::min(time_s, 50.0); }, {.min_s = 30});
  EXPECT_TRUE(samples.steady) << samples.reason;
  EXPECT_GT(samples.step_s.size(), 560u);
  EXPECT_LT(samples.step_s.size(), 601u);
}

TEST(RunWarmup, AConstantTemperatureTakesTenSeconds) {
  const size_t steps = warm_up_device([](double) { return 60; }).step_s.size();
  EXPECT_GE(steps, 101u);  // first read after step 1
  EXPECT_LE(steps, 106u);
}

TEST(RunWarmup, ATemperatureThatMovesToTheEndIsNotSteady) {
  const WarmupSamples samples = warm_up_device([](double time_s) { return 30 + time_s / 2; }, {.max_s = 60});
  EXPECT_EQ(samples.step_s.size(), 600u);
  EXPECT_FALSE(samples.steady);
  EXPECT_THAT(samples.reason, testing::StartsWith("not steady: the temperature moved by +5."));
  EXPECT_THAT(samples.reason, testing::EndsWith("C in the last 10 s; step time steady: last 40 steps within "
                                                "0.0 %; ended by the time limit of 60 s"));
}

TEST(RunWarmup, WithoutAReadingThereIsNothingToWaitFor) {
  EXPECT_EQ(warm_up_device([](double) { return std::nullopt; }, {.max_s = 5}).step_s.size(), 40u);
}

TEST(RunWarmup, StopsAfterThePresentStep) {
  FakeClock clock;
  LoopState state;
  FakeStep step(clock, {.on_update = [&state](int64_t number) { state.stop = number == 7; }});
  HostMarker marker(clock);
  const WarmupSamples samples = run_warmup(step, marker, clock, {}, state);
  EXPECT_EQ(samples.step_s.size(), 7u);
  EXPECT_FALSE(samples.steady);
  EXPECT_EQ(samples.reason, "not steady: stopped from outside after 7 steps");
  EXPECT_EQ(state.stage, LoopState::Stage::warmup);
  EXPECT_EQ(state.step, 7);
}

TEST(RunWarmup, ThrowsAtTheFirstLossThatIsNotFinite) {
  FakeClock clock;
  LoopState state;
  FakeStep step(clock,
                {.loss = [](int64_t i) { return i < 3 ? 1.0 : std::numeric_limits<double>::quiet_NaN(); }});
  HostMarker marker(clock);
  try {
    run_warmup(step, marker, clock, {}, state);
    FAIL() << "nothing thrown";
  } catch (const NanLoss& nan) {
    EXPECT_EQ(nan.stage, LoopState::Stage::warmup);
    EXPECT_EQ(nan.step, 3);
  }
  EXPECT_EQ(step.finished(), 3);
}

TEST(RunWarmup, AnExceptionLeavesStageAndStepInTheState) {
  FakeClock clock;
  LoopState state;
  FakeStep step(clock, {.throw_at_step = 5, .throw_in = Phase::optimizer});
  HostMarker marker(clock);
  EXPECT_THROW(run_warmup(step, marker, clock, {}, state), std::runtime_error);
  EXPECT_EQ(state.stage, LoopState::Stage::warmup);
  EXPECT_EQ(state.step, 5);
}

// Of several ranks, the one that is steady last decides, and each is asked after every step.
TEST(RunWarmup, ItGoesOnUntilAllRanksWouldEnd) {
  int64_t asked = 0, would = 0;
  const auto all_agree = [&](bool own) {
    ++asked;
    would += own ? 1 : 0;
    return own && asked >= 70;
  };
  const WarmupSamples samples = warm_up([](int64_t) { return 1.0; }, {.all_agree = all_agree});
  EXPECT_EQ(samples.step_s.size(), 70u);
  EXPECT_EQ(asked, 70);
  EXPECT_EQ(would, 31) << "from the 40th step on";
  EXPECT_TRUE(samples.steady);
}

}  // namespace
}  // namespace flopmark
