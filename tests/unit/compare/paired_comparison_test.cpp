#include "compare/paired_comparison.h"

#include <gmock/gmock.h>

#include <csignal>

#include "fakes/paired_example.h"

namespace flopmark {
namespace {

using ::testing::Contains;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;

const MetricComparison& metric(const std::vector<MetricComparison>& metrics, const std::string& key) {
  return *std::find_if(metrics.begin(), metrics.end(),
                       [&](const MetricComparison& metric) { return metric.key == key; });
}

/// Samples of every launch of b, changed by `edit`.
FakePairs edited(double change, std::function<void(LaunchSamples&)> edit) {
  return FakePairs([=](const PairRequest& request, size_t index) {
    LaunchPair pair = changed_by(change)(request, index);
    edit(*pair.b.samples);
    return pair;
  });
}

TEST(PairedComparison, SaysWhatGotSlowerAndHowSure) {
  const PairedComparison comparison = example_comparison(slower_backward());
  EXPECT_EQ(comparison.verdict, Verdict::slower);
  EXPECT_EQ(comparison.reason,
            "mean step time is 5.0 % longer (at least 4.9 %) after 12 pairs; compute path; the smallest "
            "change that so many pairs find is 1.1 %");
  EXPECT_EQ(metric(comparison.metrics, "samples_per_s").change, Change::worse);
  EXPECT_EQ(metric(comparison.metrics, "step_s").change, Change::worse);
  EXPECT_EQ(metric(comparison.metrics, "host_peak_bytes").change, Change::same);
  EXPECT_EQ(metric(comparison.deterministic, "model_flop").change, Change::same);
  ASSERT_EQ(comparison.operators.size(), 1u);
  EXPECT_EQ(comparison.operators[0].name, "aten::bmm");
  ASSERT_EQ(comparison.environment_differences.size(), 1u);
  EXPECT_EQ(comparison.environment_differences[0].key, "environment.threads");
  EXPECT_FALSE(comparison.environment_differences[0].allowed);
  EXPECT_THAT(comparison.notes, IsEmpty());
}

TEST(PairedComparison, RatesFollowTheVerdictAndTheirDirection) {
  const auto change_of = [](double change) {
    const PairedComparison comparison = example_comparison(FakePairs(changed_by(change)));
    EXPECT_EQ(metric(comparison.metrics, "tokens_per_s").change, metric(comparison.metrics, "step_s").change);
    return metric(comparison.metrics, "tokens_per_s").change;
  };
  EXPECT_EQ(change_of(0.05), Change::worse);
  EXPECT_EQ(change_of(-0.05), Change::better);
  EXPECT_EQ(change_of(0.002), Change::same);
}

TEST(PairedComparison, FasterByOtherWorkIsSaidSo) {
  const PairedComparison comparison = example_comparison(edited(-0.2, [](LaunchSamples& samples) {
    samples.flops->forward_flop /= 2;
    samples.parameters += 1;
    for (double& loss : samples.timed.losses) loss += 1;
  }));
  EXPECT_EQ(comparison.verdict, Verdict::faster);
  EXPECT_THAT(
      comparison.reason,
      HasSubstr("; but it did other work: Model FLOPs of a step, Hardware FLOPs of a step, Parameters, "
                "First timed loss not equal"));
  EXPECT_THAT(comparison.notes, Contains("not the same work: Parameters is 125248 in A, 125249 in B"));
}

TEST(PairedComparison, WhatTheUserSetApartIsStatedNotRefused) {
  PairedComparison sides = example_sides();
  sides.b.inputs.config.model.ffn_size = 352;
  sides.b.sets = {"model.ffn_size=352"};
  sides.b.environment = {{"OMP_NUM_THREADS", "1"}};
  const PairedComparison comparison = example_comparison(FakePairs(changed_by(0.3)), sides);
  EXPECT_EQ(comparison.verdict, Verdict::slower);
  ASSERT_EQ(comparison.environment_differences.size(), 2u);
  EXPECT_EQ(comparison.environment_differences[0].key, "config.model.ffn_size");
  EXPECT_TRUE(comparison.environment_differences[0].allowed);
  EXPECT_EQ(comparison.environment_differences[1].key, "environment.variables.OMP_NUM_THREADS");
}

TEST(PairedComparison, AnotherDeviceIsNotComparable) {
  const auto other = [] {
    return edited(0, [](LaunchSamples& samples) { samples.environment.device_name = "Other"; });
  };
  const PairedComparison refused = example_comparison(other());
  EXPECT_EQ(refused.verdict, Verdict::not_comparable);
  EXPECT_EQ(refused.reason,
            "not the same on both sides: environment.device_name; --allow KEY compares all the same");
  DifferenceOptions allowed;
  allowed.allow = {"environment.device_name"};
  EXPECT_EQ(example_comparison(other(), example_sides(), allowed).verdict, Verdict::same);
  // Another LibTorch is what a build may bring along.
  EXPECT_EQ(
      example_comparison(edited(0, [](LaunchSamples& samples) { samples.environment.libtorch = "1.13.0"; }))
          .verdict,
      Verdict::same);
}

TEST(PairedComparison, StallsAreToldFromComputing) {
  FakePairs source([](const PairRequest&, size_t index) {
    const double noise_s = index % 2 == 0 ? 1e-4 : -1e-4;
    return LaunchPair{turned_launch(0.2 + noise_s), turned_launch(0.2, 0.2), {}};
  });
  const PairedComparison comparison = example_comparison(std::move(source));
  EXPECT_EQ(comparison.verdict, Verdict::slower);
  EXPECT_THAT(comparison.reason, HasSubstr("stall or data path"));
}

TEST(PairedComparison, FailureAndInterruptionAreNamed) {
  const PairedComparison failed = example_comparison(FakePairs([](const PairRequest&, size_t) {
    return LaunchPair{stopped_launch(), failed_launch("nan_loss", "loss is nan in phase timed, step 7"), {}};
  }));
  EXPECT_EQ(failed.verdict, Verdict::unsure);
  EXPECT_EQ(failed.reason, "side b failed in pair 1: nan_loss: loss is nan in phase timed, step 7");
  const PairedComparison stopped = example_comparison(FakePairs([](const PairRequest& request, size_t index) {
    if (index < 3) return changed_by(0.05)(request, index);
    return LaunchPair{stopped_launch(SIGINT), stopped_launch(SIGINT), {}};
  }));
  EXPECT_THAT(stopped.reason, StartsWith("interrupted; so far: 3 pairs are too few"));
}

TEST(PairedComparison, NotesSayWhatElseHappened) {
  PairedComparison sides = example_sides();
  sides.b.worker = sides.a.worker;
  sides.b.commit = sides.a.commit;
  const PairedComparison comparison = example_comparison(
      FakePairs([](const PairRequest& request, size_t index) {
        if (!request.whole_launches) {
          return LaunchPair{stopped_launch(), failed_launch("out_of_memory", "1 GiB asked for"), {}};
        }
        LaunchPair pair = changed_by(0)(request, index);
        if (index < 4) pair.conditions.steal_ratio = 0.5;
        pair.a.samples->warmup.steady = false;
        return pair;
      }),
      sides);
  EXPECT_THAT(comparison.notes, Contains(HasSubstr("A and B are the same")));
  EXPECT_THAT(comparison.notes,
              Contains(HasSubstr("side by side (1 GiB asked for): whole launches in turn")));
  EXPECT_THAT(comparison.notes, Contains("1 pair was measured again: the hypervisor took 50 % of the CPUs"));
  EXPECT_THAT(comparison.notes, Contains(StartsWith("2 of 12 pairs were disturbed")));
  EXPECT_THAT(comparison.notes, Contains(StartsWith("12 of 24 launches had not become steady")));
}

TEST(PairedComparison, StepsOfDifferentWorkAreComparedPerToken) {
  const PairedComparison comparison = example_comparison(FakePairs([](const PairRequest&, size_t) {
    LaunchPair pair{turned_launch(0.2), turned_launch(0.4), {}};
    pair.b.samples->timed.tokens *= 2;
    return pair;
  }));
  EXPECT_EQ(comparison.verdict, Verdict::same);
  EXPECT_THAT(comparison.notes, Contains(HasSubstr("the changes are those of the time per token")));
}

/// Every step waits a tenth longer for its data: all quantiles move, but it is not the computing.
TEST(PairedComparison, ASlowerLoaderIsTheDataPathThoughEveryStepIsLonger) {
  const PairedComparison comparison = example_comparison(edited(0.1, [](LaunchSamples& launch) {
    for (size_t phase = 0; phase < launch.timed.phase_s.size(); ++phase) {
      const bool is_data = phase == static_cast<size_t>(Phase::data);
      for (double& s : launch.timed.phase_s[phase]) s = is_data ? 0.04 : s / 1.1;
    }
  }));
  EXPECT_EQ(comparison.verdict, Verdict::slower);
  EXPECT_EQ(comparison.result.judgement.cause, Cause::data_path);
  EXPECT_THAT(comparison.reason, HasSubstr("; data path; "));
}

TEST(PairedComparison, ADataBoundSideIsToldWithItsQueue) {
  const auto slow_loader = [](LaunchSamples& launch) {
    for (double& s : launch.timed.phase_s[static_cast<size_t>(Phase::data)]) s = 0.1;
    for (TurnSamples& turn : launch.turns) turn.queue_depth = 0;
  };
  const PairedComparison comparison = example_comparison(edited(0, slow_loader));
  EXPECT_THAT(comparison.notes,
              Contains("data-bound: of a step, 10 % (A) and 50 % (B) is waiting for its data; batches ready "
                       "when a turn began: 4 (A), 0 (B)"));
  EXPECT_FALSE(example_comparison(FakePairs(changed_by(0))).loader);
}

}  // namespace
}  // namespace flopmark
