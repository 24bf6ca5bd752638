// The ruler's own calibration: work of a known duration, measured back. What sleeps reads the clock around
// itself, so that a machine that oversleeps is no fault of the measurement.
#include <gmock/gmock.h>

#include <chrono>
#include <mutex>
#include <thread>

#include "compare/launch_ratios.h"
#include "compare/paired_changes.h"
#include "compare/paired_judge.h"
#include "measure/cached_pass.h"
#include "measure/host_marker.h"
#include "measure/turns.h"
#include "results/run_warnings.h"
#include "stats/quantile.h"
#include "stats/random.h"
#include "train/device_marker.h"
#include "worker/job.h"

namespace flopmark {
namespace {

using namespace std::chrono_literals;
using ::testing::Contains;
using ::testing::Field;
using ::testing::Not;

constexpr double kWithin = 0.02;
constexpr int64_t kSteps = 40, kCachedSteps = 10;

/// Sleeps: when each began, and what it really took.
class Naps {
 public:
  void take(std::chrono::milliseconds time) const {
    const auto start = std::chrono::steady_clock::now();
    std::this_thread::sleep_for(time);
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
    const std::lock_guard lock(mutex_);
    took_s_.push_back(took.count());
    starts_.push_back(start);
  }
  /// The last `count`.
  std::vector<double> last(int64_t count) const {
    const std::lock_guard lock(mutex_);
    return {took_s_.end() - count, took_s_.end()};
  }
  /// From the begin of sleep `from` to that of sleep `to`: whole steps lie between them.
  double between_s(int64_t from, int64_t to) const {
    const std::lock_guard lock(mutex_);
    const std::chrono::duration<double> between =
        starts_.at(static_cast<size_t>(to)) - starts_.at(static_cast<size_t>(from));
    return between.count();
  }

 private:
  mutable std::mutex mutex_;
  mutable std::vector<double> took_s_;
  mutable std::vector<std::chrono::steady_clock::time_point> starts_;
};

/// One number per sample.
class NumberDataset : public Dataset {
 public:
  NumberDataset(const Naps& naps, std::chrono::milliseconds sleep) : naps_(naps), sleep_(sleep) {}
  int64_t size() const override { return 1000; }
  Batch collate(const std::vector<size_t>& indices) const override {
    if (sleep_ > 0ms) naps_.take(sleep_);
    Batch batch;
    const auto count = static_cast<int64_t>(indices.size());
    batch.inputs = {torch::full({count, 1}, value), torch::zeros({count}, torch::kLong)};
    batch.samples = count;
    return batch;
  }

  float value = 1;

 private:
  const Naps& naps_;
  std::chrono::milliseconds sleep_;
};

/// Sleeps `before` milliseconds in every forward, `after` from the `from`-th on.
struct SleepPlan {
  std::chrono::milliseconds before{0}, after{0};
  int64_t from = 0;
};

class SleepingModel : public TrainableModel {
 public:
  SleepingModel(const Naps& naps, const SleepPlan& plan) : naps_(naps), plan_(plan) {}
  torch::Tensor loss(const Batch& batch) override {
    const auto sleep = calls_++ < plan_.from ? plan_.before : plan_.after;
    if (sleep > 0ms) naps_.take(sleep);
    return (batch.inputs[0] * weight_).mean();
  }
  std::vector<torch::Tensor> parameters() override { return {weight_}; }

 private:
  const Naps& naps_;
  SleepPlan plan_;
  int64_t calls_ = 0;
  torch::Tensor weight_ = torch::ones({1}, torch::requires_grad());
};

/// Timed steps of the model on the dataset, through the loader and step of the worker.
LaunchSamples measure(std::unique_ptr<TrainableModel> model, std::shared_ptr<const Dataset> dataset,
                      int64_t loader_threads, int64_t cached_steps = 0) {
  TrainConfig train;
  train.precision = "fp32";
  auto loader = std::make_unique<Loader>(
      std::move(dataset), LoaderOptions{.batch_size = 2, .workers = loader_threads, .prefetch = 1});
  TorchStep step(std::move(model), std::move(loader), StepOptions{.device = torch::kCPU, .train = train});
  SteadyClock clock;
  const auto marker = make_marker(torch::kCPU, clock);
  LoopState state;
  LaunchSamples samples;
  samples.warmup.steady = true;
  samples.timed = run_block(step, *marker, clock, BlockOptions{.steps = kSteps}, state);
  samples.zero_inputs = step.read_only_zeros();
  if (cached_steps > 0) {
    samples.cached = run_cached_pass(step, *marker, clock, BlockOptions{.steps = cached_steps}, state);
  }
  return samples;
}

/// Median of measured / slept: one step in which the system took the CPU away between two clock reads says
/// nothing.
double typical_ratio(const std::vector<double>& measured_s, const std::vector<double>& slept_s) {
  std::vector<double> ratios;
  for (size_t i = 0; i < measured_s.size(); ++i) ratios.push_back(measured_s[i] / slept_s.at(i));
  return median(ratios);
}

/// Median of step / time from one sleep's begin to the next one's.
double typical_step_ratio(const LaunchSamples& samples, const Naps& naps) {
  std::vector<double> ratios;
  for (int64_t step = 1; step + 1 < kSteps; ++step) {
    ratios.push_back(samples.timed.step_s.at(static_cast<size_t>(step)) / naps.between_s(step, step + 1));
  }
  return median(ratios);
}

const std::vector<double>& phase(const LaunchSamples& samples, Phase which) {
  return samples.timed.phase_s[static_cast<size_t>(which)];
}

std::vector<Warning> warnings_of(const LaunchSamples& samples) {
  std::vector<Warning> warnings = launch_warnings({samples});
  for (const Warning& warning : data_warnings({samples})) warnings.push_back(warning);
  return warnings;
}

auto has_code(const char* code) {
  return Contains(Field(&Warning::code, code));
}

TEST(KnownDurations, AForwardThatSleepsIsMeasuredBack) {
  const Naps naps;
  const LaunchSamples samples = measure(std::make_unique<SleepingModel>(naps, SleepPlan{20ms, 20ms, 0}),
                                        std::make_shared<NumberDataset>(naps, 0ms), 1);
  const auto slept_s = naps.last(kSteps);
  EXPECT_NEAR(typical_ratio(phase(samples, Phase::forward), slept_s), 1, kWithin);
  EXPECT_NEAR(typical_step_ratio(samples, naps), 1, kWithin);
  for (size_t i = 0; i < slept_s.size(); ++i) EXPECT_GE(phase(samples, Phase::forward)[i], slept_s[i]);
  EXPECT_THAT(warnings_of(samples), Not(has_code("data_wait_dominates")));
  EXPECT_THAT(warnings_of(samples), Not(has_code("loader_slow")));
  EXPECT_THAT(warnings_of(samples), Not(has_code("wall_disagrees")));
}

TEST(KnownDurations, ALoaderThatSleepsIsMeasuredBack) {
  for (const int64_t loader_threads : {0, 1}) {
    const Naps naps;
    const LaunchSamples samples = measure(std::make_unique<SleepingModel>(naps, SleepPlan{}),
                                          std::make_shared<NumberDataset>(naps, 20ms), loader_threads);
    // A thread begins the next batch when the last is taken, which is in the middle of a step.
    EXPECT_NEAR(typical_step_ratio(samples, naps), 1, kWithin) << loader_threads;
    if (loader_threads == 0) {
      EXPECT_NEAR(typical_ratio(phase(samples, Phase::data), naps.last(kSteps)), 1, kWithin);
    }
    EXPECT_THAT(warnings_of(samples), has_code("data_wait_dominates")) << loader_threads;
  }
}

// A loader of 20 ms before a forward of 10 ms: of 30 ms it costs 20, and the cached pass does not wait for
// it.
TEST(KnownDurations, WhatTheLoaderCostsIsMeasuredBack) {
  for (const int64_t loader_threads : {0, 1}) {
    const Naps naps;
    const LaunchSamples samples =
        measure(std::make_unique<SleepingModel>(naps, SleepPlan{10ms, 10ms, 0}),
                std::make_shared<NumberDataset>(naps, 20ms), loader_threads, kCachedSteps);
    const double step_s = median(samples.timed.step_s), cached_s = median(samples.cached->step_s);
    // One thread makes the next batch while the step runs, so that 20 of the 30 ms remain.
    // A sleep can only take longer than it should, and on a busy machine does.
    EXPECT_GE(step_s, loader_threads == 0 ? 0.030 : 0.020) << loader_threads;
    EXPECT_GE(cached_s, 0.010) << loader_threads;
    EXPECT_LT(cached_s, step_s) << loader_threads;
    EXPECT_LT(samples.cached->data_wait_host_s, 0.005) << loader_threads;
    EXPECT_EQ(samples.cached->steps, kCachedSteps);
  }
}

TEST(KnownDurations, ALoaderSlowerThanTheStepIsToldOf) {
  const Naps naps;
  const LaunchSamples samples = measure(std::make_unique<SleepingModel>(naps, SleepPlan{20ms, 20ms, 0}),
                                        std::make_shared<NumberDataset>(naps, 30ms), 1);
  EXPECT_THAT(warnings_of(samples), has_code("loader_slow"));
}

TEST(KnownDurations, AModelThatSlowsDownHalfWayIsToldOf) {
  const Naps naps;
  const LaunchSamples samples =
      measure(std::make_unique<SleepingModel>(naps, SleepPlan{20ms, 50ms, kSteps / 2}),
              std::make_shared<NumberDataset>(naps, 0ms), 1);
  EXPECT_NEAR(typical_step_ratio(samples, naps), 1, kWithin);
  EXPECT_NEAR(typical_ratio(phase(samples, Phase::forward), naps.last(kSteps)), 1, kWithin);
  EXPECT_THAT(warnings_of(samples), has_code("drift"));
}

TEST(KnownDurations, BatchesOfZerosAreSeen) {
  const Naps naps;
  const auto zeros = std::make_shared<NumberDataset>(naps, 0ms);
  zeros->value = 0;
  EXPECT_THAT(warnings_of(measure(std::make_unique<SleepingModel>(naps, SleepPlan{}), zeros, 0)),
              has_code("zero_inputs"));
  const auto numbers = std::make_shared<NumberDataset>(naps, 0ms);
  EXPECT_THAT(warnings_of(measure(std::make_unique<SleepingModel>(naps, SleepPlan{}), numbers, 0)),
              Not(has_code("zero_inputs")))
      << "targets of zero are no doubt";
}

/// A launch that takes turns, with a loader thread that sleeps for each batch.
class DataBoundSide {
 public:
  explicit DataBoundSide(std::chrono::milliseconds loading)
      : step_(std::make_unique<SleepingModel>(naps_, SleepPlan{2ms, 2ms, 0}),
              std::make_unique<Loader>(std::make_shared<NumberDataset>(naps_, loading),
                                       LoaderOptions{.batch_size = 2, .workers = 1, .prefetch = 4}),
              StepOptions{.device = torch::kCPU, .train = fp32()}),
        marker_(make_marker(torch::kCPU, clock_)) {
    step_.pause_between_blocks();
  }
  void take_turn(int64_t steps) {
    const auto queue_depth = step_.queue_depth();
    const BlockSamples block =
        run_turn(step_, *marker_, clock_, {.steps = steps, .steps_before = samples.timed.steps}, state_);
    append(samples.timed, block);
    samples.turns.push_back({block.steps, block.wall_s, queue_depth});
  }

  LaunchSamples samples;

 private:
  static TrainConfig fp32() {
    TrainConfig train;
    train.precision = "fp32";
    return train;
  }

  Naps naps_;
  TorchStep step_;
  SteadyClock clock_;
  std::unique_ptr<Marker> marker_;
  LoopState state_;
};

/// 12 ms for a batch instead of 10: a loader that went on while the other side has its turn would hide it.
TEST(KnownDurations, ALoaderTwentyPercentSlowerIsFoundByTurns) {
  Random random(5);
  std::vector<PairRatios> pairs;
  std::vector<LaunchSamples> launches_a, launches_b;
  for (int pair = 0; pair < 8; ++pair) {
    DataBoundSide a(10ms), b(12ms);
    for (int turn = 0; turn < 8; ++turn) {
      const bool a_first = random.index(2) == 0;
      for (const bool is_a : {a_first, !a_first}) (is_a ? a : b).take_turn(5);
    }
    pairs.push_back(launch_ratios(a.samples, b.samples));
    launches_a.push_back(a.samples);
    launches_b.push_back(b.samples);
  }
  JudgeRule rule;
  rule.looks = {8};
  const PairedJudgement judgement = judge_pairs(pairs, rule);
  EXPECT_EQ(judgement.verdict, Verdict::slower) << judgement.reason;
  EXPECT_GT(judgement.summaries.front().change_ratio, 0.1);
  EXPECT_LT(judgement.summaries.front().change_ratio, 0.3);
  const auto queue = loader_queue(launches_a, launches_b);
  ASSERT_TRUE(queue);
  EXPECT_GT(queue->wait_ratio_b, 0.5);
  EXPECT_LE(queue->depth_b, 1);
}

}  // namespace
}  // namespace flopmark
