#include "report/metric_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <regex>

#include "fakes/example_record.h"

namespace flopmark {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

/// The table as one line with single blanks: what it says, however it is wrapped.
std::string flat_table(const RunRecord& record) {
  return std::regex_replace(metric_table(record), std::regex("\\s+"), " ");
}

std::string with_mfu(double mfu_ratio) {
  RunRecord record = example_cpu_record();
  record.metrics.values["mfu_ratio"] = mfu_ratio;
  return flat_table(record);
}

TEST(MetricTable, EmptyWithoutNumbers) {
  EXPECT_EQ(metric_table(RunRecord()), "");
}

TEST(MetricTable, StepTimeWithItsInterval) {
  const std::string table = flat_table(example_cpu_record());
  EXPECT_THAT(table, HasSubstr("Step time, median 200.0 ms p10 190.0 ms, p90 210.0 ms, p99 250.0 ms"));
  EXPECT_THAT(table, HasSubstr("95 % interval 199.0 ms to 201.0 ms; 100 steps in 2 launches"));
}

TEST(MetricTable, OneLaunchHasNoInterval) {
  RunRecord record = example_cpu_record();
  record.repeats.resize(1);
  record.metrics.step_s->ci95_low.reset();
  record.metrics.step_s->ci95_high.reset();
  EXPECT_THAT(flat_table(record), HasSubstr("no interval from 50 steps in 1 launch"));
}

TEST(MetricTable, MfuSaysItsPeakAndHintsAtTheExtremes) {
  EXPECT_THAT(with_mfu(0.2241), HasSubstr("22.41 % of 1.000 GFLOP/s dense fp32, given by hand; below 30 %"));
  EXPECT_THAT(with_mfu(0.50), HasSubstr("50.00 % of 1.000 GFLOP/s dense fp32, given by hand HFU"));
  EXPECT_THAT(with_mfu(0.71), HasSubstr("given by hand; above 70 % is usually too good to"));
  EXPECT_THAT(with_mfu(1.01), HasSubstr("given by hand; above 100 % is impossible"));
}

TEST(MetricTable, AMeasuredPeakSaysHowItWasMeasured) {
  RunRecord record = example_record();
  record.peak.source = "measured";
  record.peak.derivation = "matmul 512 x 512 x 512 (m x n x k), 2 threads";
  record.metrics.values["mfu_ratio"] = 0.97;
  EXPECT_THAT(
      flat_table(record),
      HasSubstr(
          "dense bf16 of each of 8 devices, measured (matmul 512 x 512 x 512 (m x n x k), 2 threads) HFU"));
  record.metrics.values["mfu_ratio"] = 1.03;
  EXPECT_THAT(flat_table(record), HasSubstr("measure it again with flopmark peak --measure"));
}

TEST(MetricTable, FlopsPerStepStandBesideTheirRates) {
  const std::string table = flat_table(example_cpu_record());
  EXPECT_THAT(table,
              HasSubstr("224.1 MFLOP/s 44.83 MFLOP a step: forward 14.94 MFLOP, backward 29.88 MFLOP"));
  EXPECT_THAT(
      table, HasSubstr("226.8 MFLOP/s 45.35 MFLOP a step, as executed; 524.3 kFLOP recomputed inside fused"));
}

TEST(MetricTable, PerDeviceFiguresOnlyWithSeveralDevices) {
  RunRecord record = example_cpu_record();
  EXPECT_THAT(flat_table(record), Not(HasSubstr("device")));
  record.environment.device_count = 2;
  EXPECT_THAT(flat_table(record), HasSubstr("device"));
}

TEST(MetricTable, PhasesAreSharesOfTheStepAndZeroOnesAreLeftOut) {
  EXPECT_THAT(flat_table(example_cpu_record()),
              HasSubstr("data 1.2 %, forward 30.0 %, backward 60.0 %, optimizer 8.5 %, other 0.3 %"));
}

TEST(MetricTable, WarmupThatDidNotEndSteadySaysSo) {
  RunRecord record = example_cpu_record();
  EXPECT_THAT(flat_table(record), HasSubstr("40 steps discarded, steady; first step 500.0 ms; the medians"));
  record.warmup->steady = false;
  EXPECT_THAT(flat_table(record), HasSubstr("discarded, NOT STEADY; "));
}

TEST(MetricTable, LossFirstAndLast) {
  EXPECT_THAT(flat_table(example_cpu_record()),
              HasSubstr("4.2500 last timed step of launch 1; first 5.5452"));
}

}  // namespace
}  // namespace flopmark
