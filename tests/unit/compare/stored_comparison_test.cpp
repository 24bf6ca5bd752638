#include "compare/stored_comparison.h"

#include <gmock/gmock.h>

#include <limits>

#include "compare/measured_record.h"
#include "compare/stored_tolerance.h"
#include "flopmark/error.h"
#include "results/record_file.h"
#include "stats/random.h"
#include "unit/compare/compared_records.h"

namespace flopmark {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

const MetricComparison& metric_of(const std::vector<MetricComparison>& metrics, const std::string& key) {
  for (const MetricComparison& metric : metrics) {
    if (metric.key == key) return metric;
  }
  static const MetricComparison kNone;
  ADD_FAILURE() << "no metric " << key;
  return kNone;
}

Verdict verdict_at(double factor) {
  return compare_records(steady_record(), steady_record(factor)).verdict;
}

/// What a comparison of `a` and `b` is refused with.
ExitCode refusal(const RunRecord& a, const RunRecord& b, const std::string& text) {
  try {
    compare_records(a, b, {{}, {}, "a.json", "b.json"});
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr(text));
    return error.code();
  }
  ADD_FAILURE() << "judged, expected: " << text;
  return ExitCode::ok;
}

TEST(StoredComparison, ARecordIsTheSameAsItselfAndAsItsBaseline) {
  const RunRecord noisy = record_of({0.2, 0.31, 0.25, 0.19});
  EXPECT_EQ(compare_records(noisy, noisy).verdict, Verdict::same);
  EXPECT_EQ(compare_records(noisy, noisy).throughput()->change_ratio, 0);
  const auto json = nlohmann::json::parse(format_record(to_json(noisy), true));  // six digits
  EXPECT_EQ(compare_records(noisy, record_from_json(json, "x")).verdict, Verdict::same);
}

/// A build ran beside the one that was measured: half as fast says nothing then.
TEST(StoredComparison, ASlowdownBesideOtherWorkIsNoVerdict) {
  RunRecord busy = steady_record(1.5);
  busy.conditions = Conditions{};
  busy.conditions->others_cpu_ratio = 0.67;
  const StoredComparison comparison = compare_records(steady_record(), busy);
  EXPECT_EQ(comparison.verdict, Verdict::unsure);
  EXPECT_EQ(exit_code(comparison), ExitCode::interference);
  EXPECT_THAT(comparison.reason,
              HasSubstr("is 50.0 % longer, but other processes used 67 % of the CPUs while it "
                        "was measured: measure again when the machine is quiet"));
  busy.conditions->others_cpu_ratio = 0.2;
  EXPECT_EQ(exit_code(compare_records(steady_record(), busy)), ExitCode::slower);
  RunRecord fast = steady_record(0.5);
  fast.conditions = Conditions{};
  fast.conditions->steal_ratio = 0.3;
  EXPECT_EQ(compare_records(steady_record(), fast).verdict, Verdict::faster);  // in spite of it
}

TEST(StoredComparison, UncalibratedTolerancesAreTenAndTwentyFivePercent) {
  EXPECT_EQ(verdict_at(1.26), Verdict::slower);
  EXPECT_EQ(verdict_at(1.25), Verdict::slower);
  EXPECT_EQ(verdict_at(1.24), Verdict::unsure);
  EXPECT_EQ(verdict_at(1.11), Verdict::unsure);
  EXPECT_EQ(verdict_at(1.09), Verdict::same);
  EXPECT_EQ(verdict_at(0.85), Verdict::same);  // not slower, and not sure to be faster
  EXPECT_EQ(verdict_at(0.8), Verdict::faster);
  const StoredComparison slower = compare_records(steady_record(), steady_record(1.3));
  EXPECT_TRUE(slower.unconfirmed);
  EXPECT_NEAR(slower.throughput()->change_ratio, 0.3, 1e-9);
  EXPECT_EQ(slower.reason,
            "mean step time is 30.0 % longer, beyond the 25.0 % that two sittings of one build can differ by "
            "(uncalibrated); unconfirmed");
  EXPECT_FALSE(compare_records(steady_record(), steady_record(0.7)).unconfirmed);
}

/// Direction: time x 0.8 with throughput x 1.25 is better everywhere, the reverse is worse.
TEST(StoredComparison, EveryMetricHasItsDirection) {
  for (const bool forth : {true, false}) {
    const RunRecord a = steady_record(forth ? 1 : 0.8), b = steady_record(forth ? 0.8 : 1);
    const StoredComparison comparison = compare_records(a, b);
    const Change expected = forth ? Change::better : Change::worse;
    EXPECT_EQ(comparison.verdict, forth ? Verdict::faster : Verdict::slower);
    for (const std::string key :
         {"step_s", "samples_per_s", "tokens_per_s", "model_flop_per_s", "mfu_ratio"}) {
      EXPECT_EQ(metric_of(comparison.metrics, key).change, expected) << key;
    }
    EXPECT_NEAR(*metric_of(comparison.metrics, "samples_per_s").change_ratio, forth ? 0.25 : -0.2, 1e-9);
    EXPECT_EQ(metric_of(comparison.metrics, "host_peak_bytes").change, Change::same);
  }
}

TEST(StoredComparison, MemoryAndSharesAreJudgedTightlyAndApart) {
  RunRecord b = steady_record();
  b.metrics.values["memory_peak_allocated_bytes"] = 1.02e8;
  b.metrics.values["host_peak_bytes"] = 5.3e8;
  b.metrics.values["data_wait_ratio"] = 0.08;
  const StoredComparison comparison = compare_records(steady_record(), b);
  EXPECT_EQ(comparison.verdict, Verdict::same);
  EXPECT_EQ(metric_of(comparison.metrics, "memory_peak_allocated_bytes").change, Change::worse);
  EXPECT_EQ(metric_of(comparison.metrics, "host_peak_bytes").change, Change::same);
  EXPECT_EQ(metric_of(comparison.metrics, "data_wait_ratio").change, Change::worse);
  EXPECT_EQ(metric_of(compare_records(b, steady_record()).metrics, "data_wait_ratio").change, Change::better);
}

TEST(StoredComparison, ZeroAndMissingMetricsHaveNoChange) {
  RunRecord a = steady_record(), b = steady_record();
  a.metrics.values["data_wait_ratio"] = 0.0;
  a.metrics.values["mfu_ratio"] = std::nullopt;
  b.metrics.values["host_peak_bytes"] = std::numeric_limits<double>::quiet_NaN();
  b.metrics.values["images_per_s"] = 3.0;
  const StoredComparison comparison = compare_records(a, b);
  EXPECT_FALSE(metric_of(comparison.metrics, "data_wait_ratio").change_ratio);
  EXPECT_EQ(metric_of(comparison.metrics, "data_wait_ratio").change, Change::same);
  for (const std::string key : {"mfu_ratio", "host_peak_bytes", "images_per_s"}) {
    EXPECT_EQ(metric_of(comparison.metrics, key).change, Change::not_measured) << key;
    EXPECT_FALSE(metric_of(comparison.metrics, key).change_ratio) << key;
  }
  EXPECT_EQ(comparison.verdict, Verdict::same);
}

TEST(StoredComparison, FasterWithOtherWorkIsNamedSo) {
  RunRecord loss = steady_record(0.7), flop = steady_record(0.7);
  for (Repeat& repeat : loss.repeats) repeat.loss_first = 7.1;
  flop.flops->forward_flop -= 1;
  const StoredComparison other_loss = compare_records(steady_record(), loss);
  EXPECT_EQ(other_loss.verdict, Verdict::faster);
  EXPECT_THAT(other_loss.reason, HasSubstr("; but it did other work: First timed loss not equal"));
  EXPECT_THAT(other_loss.notes, ElementsAre("not the same work: First timed loss is 5.5 in A, 7.1 in B"));
  const StoredComparison other_flop = compare_records(steady_record(), flop);
  EXPECT_EQ(metric_of(other_flop.deterministic, "model_flop").change, Change::differs);
  EXPECT_EQ(metric_of(other_flop.deterministic, "parameters").change, Change::same);
  EXPECT_EQ(metric_of(other_flop.deterministic, "loss_first").change, Change::same);
}

TEST(StoredComparison, LossesThatDependOnTheWarmUpAreNotCalledDifferent) {
  RunRecord a = steady_record(), b = steady_record();
  a.warmup = WarmupSummary{40, 0.5, true, ""};
  b.warmup = WarmupSummary{60, 0.5, true, ""};
  for (Repeat& repeat : b.repeats) repeat.loss_first = 4.9;
  EXPECT_EQ(metric_of(compare_records(a, b).deterministic, "loss_first").change, Change::unsure);
  b.repeats[2].loss_first = 5.5002;  // rounding in another order
  EXPECT_EQ(metric_of(compare_records(a, b).deterministic, "loss_first").change, Change::same);
}

TEST(StoredComparison, NotComparableHasNoNumbers) {
  RunRecord b = steady_record(2);
  b.environment.device_name = "Other CPU";
  const StoredComparison refused = compare_records(steady_record(), b);
  EXPECT_EQ(refused.verdict, Verdict::not_comparable);
  EXPECT_THAT(refused.summaries, IsEmpty());
  EXPECT_EQ(refused.reason,
            "not the same on both sides: environment.device_name; --allow KEY compares all the same");
  CompareOptions options;
  options.differences.allow = {"environment.device_name"};
  const StoredComparison allowed = compare_records(steady_record(), b, options);
  EXPECT_EQ(allowed.verdict, Verdict::slower);
  EXPECT_THAT(allowed.notes, ElementsAre("environment.device_name differs and was allowed"));
}

// Tolerances by hand.

TEST(StoredTolerance, WithoutSittingsIsTheSpreadOfLaunchesOrTwentyFivePercent) {
  // Deviations from each median: -0.1 0 0.1, twice: MAD 0.1; 3 x 1.4826 x 0.1.
  EXPECT_NEAR(stored_tolerance({{0, 0.1, 0.2}, {5, 5.1, 5.2}, {}, false, {}}).slower, 0.44478, 1e-9);
  EXPECT_NEAR(stored_tolerance({{0, 0.01}, {5, 5.01}, {}, false, {}}).slower, std::log(1.25), 1e-12);
  EXPECT_NEAR(stored_tolerance({{0}, {0}, {}, false, {}}).same, std::log(1.1), 1e-12);
}

TEST(StoredTolerance, SittingsCalibrateIt) {
  ToleranceInputs inputs{{0, 0}, {0, 0}, {}, false, {}};
  EXPECT_FALSE(stored_tolerance(inputs).calibrated);
  inputs.sittings = {0.01, -0.01, 0.02, -0.02, 0.01, -0.01, 0.05, -0.01};
  const StoredTolerance tolerance = stored_tolerance(inputs);
  EXPECT_TRUE(tolerance.calibrated);
  // Median 0, MAD 0.01: 3 x 1.4826 % = 4.4 %; the largest seen is 5 %.
  EXPECT_NEAR(tolerance.slower, 0.05, 1e-12);
  EXPECT_NEAR(tolerance.same, 0.05, 1e-12);
  inputs.environment_differs = true;
  EXPECT_NEAR(stored_tolerance(inputs).slower, std::log(1.25), 1e-12);
  inputs.ruler_ratio = -0.1;  // the machine itself is 10 % faster than it was
  EXPECT_NEAR(stored_tolerance(inputs).slower, std::log(1.25) - std::log(0.9), 1e-12);
  EXPECT_NEAR(stored_tolerance(inputs).same, std::log(1.1) + std::log(0.9), 1e-12);
  inputs.ruler_ratio = 0.1;  // slower: equal times are the same program at worst
  EXPECT_NEAR(stored_tolerance(inputs).same, std::log(1.1), 1e-12);
}

/// Sittings of one build on a machine where launches spread by 10 % and sittings by 5 %: no false alarm in
/// 100.
TEST(StoredComparison, SittingsOfOneBuildAreNotCalledSlower) {
  Random random(31);
  const auto sitting = [&] {
    const double offset = 0.05 * random.normal();
    std::vector<double> means_s;
    for (int i = 0; i < 10; ++i) means_s.push_back(0.2 * std::exp(offset + 0.1 * random.normal()));
    return record_of(means_s);
  };
  int slower = 0;
  for (int i = 0; i < 100; ++i) slower += compare_records(sitting(), sitting()).verdict == Verdict::slower;
  EXPECT_LE(slower, 1);
}

// Records that measured nothing, or say two things.

TEST(MeasuredRecord, RefusesWhatWasNotMeasured) {
  const RunRecord good = steady_record();
  RunRecord none = good, no_steps = good, no_times = good, zero = good, negative = good, not_a_number = good;
  none.repeats.clear();
  no_steps.repeats[1].steps = 0;
  no_times.repeats[1].block_means_s.clear();
  zero.repeats[0].block_means_s[2] = 0;
  negative.repeats[0].block_means_s[2] = -0.2;
  not_a_number.repeats[0].block_means_s[2] = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(refusal(none, good, "a.json: nothing to judge by: it has no launch"), ExitCode::baseline);
  EXPECT_EQ(refusal(good, none, "b.json: nothing to judge by: it has no launch"), ExitCode::baseline);
  EXPECT_EQ(refusal(good, no_steps, "launch 2 has no timed step"), ExitCode::baseline);
  EXPECT_EQ(refusal(good, no_times, "launch 2 has no step times"), ExitCode::baseline);
  for (const RunRecord& bad : {zero, negative, not_a_number}) {
    EXPECT_EQ(refusal(good, bad, "launch 1 has a step time of "), ExitCode::baseline);
  }
}

TEST(MeasuredRecord, ABadRunIsToldFromABadBaseline) {
  const RunRecord good = steady_record();
  RunRecord failed = good;
  failed.status = "failed";
  failed.failure = Failure{"nan_loss", "timed", 4, "the loss is NaN"};
  EXPECT_EQ(refusal(good, failed, "b.json: not measured: its run failed: nan_loss in phase timed"),
            ExitCode::cannot_judge);
  EXPECT_EQ(refusal(failed, good, "a.json: not measured: its run failed"), ExitCode::baseline);
  for (const std::string status : {"incomplete", "invalid"}) {
    RunRecord other = good;
    other.status = status;
    EXPECT_EQ(refusal(good, other, "b.json: not measured: it"), ExitCode::cannot_judge);
  }
}

TEST(MeasuredRecord, RefusesRecordsThatContradictThemselves) {
  const RunRecord good = steady_record();
  RunRecord edited = good, milliseconds = good, rate = good, wall = good;
  edited.metrics.step_s->mean = 0.1;  // by hand
  for (Repeat& repeat : milliseconds.repeats) {
    for (double& mean_s : repeat.block_means_s) mean_s *= 1000;
  }
  rate.metrics.values["samples_per_s"] = 1e4;
  for (Repeat& repeat : wall.repeats) repeat.wall_s = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(refusal(good, edited, "contradicts itself: metrics.step_s.mean is 0.1 s"), ExitCode::baseline);
  EXPECT_EQ(refusal(good, milliseconds, "contradicts itself"), ExitCode::baseline);
  EXPECT_EQ(refusal(good, rate, "contradicts itself: samples_per_s is 10000"), ExitCode::baseline);
  EXPECT_EQ(refusal(good, wall, "contradicts itself: wall_s"), ExitCode::baseline);
}

TEST(MeasuredRecord, RefusesFiguresThatNoRunCanHave) {
  const RunRecord good = steady_record();
  RunRecord negative = good, above = good, parameters = good, ruler = good;
  negative.metrics.values["mfu_ratio"] = -1;
  above.metrics.values["hfu_ratio"] = 5;
  parameters.parameters = -1;
  ruler.ruler = Ruler{1000, 64, {0.004, 0.0}, {0.008, 0.008}};
  EXPECT_EQ(refusal(good, negative, "metrics.mfu_ratio is -1"), ExitCode::baseline);
  EXPECT_EQ(refusal(above, good, "metrics.hfu_ratio is 5"), ExitCode::baseline);
  EXPECT_EQ(refusal(good, parameters, "parameters is -1"), ExitCode::baseline);
  EXPECT_EQ(refusal(good, ruler, "its ruler has a reading of 0 s"), ExitCode::baseline);
}

TEST(MeasuredRecord, OneStepAndConstantTimesAreJudgedAsFarAsTheyGo) {
  RunRecord one = record_of({0.2});
  one.repeats[0].steps = 1;
  one.repeats[0].samples = 2;
  one.repeats[0].wall_s = 0.2;
  one.repeats[0].block_means_s = {0.2};
  const StoredComparison comparison = compare_records(one, one);
  EXPECT_EQ(comparison.verdict, Verdict::same);
  EXPECT_FALSE(comparison.throughput()->ci95_low_ratio);
  EXPECT_THAT(comparison.notes, ElementsAre("one launch only: how much launches differ is not known"));
  EXPECT_EQ(compare_records(record_of({0.2, 0.2}), record_of({0.2, 0.2})).verdict, Verdict::same);
  EXPECT_EQ(compare_records(record_of({0.2, 0.2}), record_of({0.26, 0.26})).verdict, Verdict::slower);
}

/// The blocks of a launch are not all of one length: 22 steps in 4 blocks are 5, 6, 5 and 6.
TEST(MeasuredRecord, BlocksWeighByTheirSteps) {
  RunRecord record = record_of({0.2, 0.2});
  for (Repeat& repeat : record.repeats) {
    repeat.steps = 22;
    repeat.samples = 44;
    repeat.block_means_s = {0.1, 0.5, 0.1, 0.5};
    repeat.wall_s = 7;
  }
  record.metrics.step_s->mean = 7.0 / 22;
  record.metrics.values["samples_per_s"] = 44 / 7.0;
  EXPECT_NO_THROW(require_measured(record, "x", Side::reference));
  EXPECT_NEAR(launch_logs(record, Summary::throughput)[0], std::log(0.3), 1e-12);
  EXPECT_NEAR(launch_logs(record, Summary::floor)[1], std::log(0.1), 1e-12);
}

}  // namespace
}  // namespace flopmark
