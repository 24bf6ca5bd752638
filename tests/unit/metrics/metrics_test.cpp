#include "metrics/metrics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <set>

namespace flopmark {
namespace {

std::optional<double> value(const MetricInputs& inputs, const std::string& key) {
  const Metrics metrics = compute_metrics(inputs);
  EXPECT_TRUE(metrics.values.contains(key)) << key;
  return metrics.values.at(key);
}

/// 1000 steps of 64 samples of 32 tokens in 200 s.
LaunchSamples thousand_steps() {
  LaunchSamples launch;
  launch.timed.steps = 1000;
  launch.timed.wall_s = 200;
  launch.timed.step_s.assign(1000, 0.2);
  launch.timed.samples = 64'000;
  launch.timed.tokens = 2'048'000;
  return launch;
}

/// One step a second: 30 forward, 70 backward (100 executed) TFLOP; 312 TFLOP/s peak.
MetricInputs hundred_of_312() {
  LaunchSamples launch;
  launch.timed.steps = 10;
  launch.timed.wall_s = 10;
  launch.timed.step_s.assign(10, 1.0);
  launch.flops = FlopTotals{};
  launch.flops->forward_flop = 30'000'000'000'000;
  launch.flops->backward_flop = 70'000'000'000'000;
  launch.flops->backward_hardware_flop = 80'000'000'000'000;
  launch.flops->recompute_flop = 20'000'000'000'000;
  MetricInputs inputs{{launch}, {}, 1};
  inputs.peak.flop_per_s = 312e12;
  return inputs;
}

TEST(Metrics, ThroughputIsWhatWasProcessedOverWallTime) {
  const MetricInputs inputs{{thousand_steps()}, {}, 1};
  EXPECT_EQ(value(inputs, "samples_per_s"), 320.0);
  EXPECT_EQ(value(inputs, "tokens_per_s"), 10'240.0);
  EXPECT_EQ(value(inputs, "images_per_s"), std::nullopt);
  EXPECT_EQ(value(inputs, "images_per_s_per_device"), std::nullopt);
}

TEST(Metrics, LaunchesAreTotalledNotAveraged) {
  LaunchSamples slow = thousand_steps();
  slow.timed.wall_s = 600;  // 64 000 in 200 s and in 600 s: 128 000 / 800
  EXPECT_EQ(value({{thousand_steps(), slow}, {}, 1}, "samples_per_s"), 160.0);
}

TEST(Metrics, ImagesAreCountedWhereThereAreSome) {
  LaunchSamples launch = thousand_steps();
  launch.timed.tokens = 0;
  launch.timed.images = 64'000;
  EXPECT_EQ(value({{launch}, {}, 1}, "images_per_s"), 320.0);
  EXPECT_EQ(value({{launch}, {}, 1}, "tokens_per_s"), std::nullopt);
}

TEST(Metrics, PerDeviceIsTheGlobalThroughputShared) {
  const MetricInputs inputs{{thousand_steps()}, {}, 4};
  EXPECT_EQ(value(inputs, "samples_per_s"), 320.0);
  EXPECT_EQ(value(inputs, "samples_per_s_per_device"), 80.0);
  EXPECT_EQ(value(inputs, "tokens_per_s_per_device"), 2560.0);
}

TEST(Metrics, MfuAndHfuOfAnExample) {
  const MetricInputs inputs = hundred_of_312();
  EXPECT_EQ(value(inputs, "model_flop_per_s"), 100e12);
  EXPECT_EQ(value(inputs, "hardware_flop_per_s"), 130e12);
  EXPECT_NEAR(*value(inputs, "mfu_ratio"), 0.3205, 5e-5);
  EXPECT_NEAR(*value(inputs, "hfu_ratio"), 0.4167, 5e-5);
  EXPECT_NEAR(*value(inputs, "hfu_recompute_only_ratio"), 120.0 / 312, 1e-12);
}

TEST(Metrics, MoreDevicesMultiplyFlopsButNotUtilization) {
  MetricInputs inputs = hundred_of_312();
  inputs.devices = 8;
  EXPECT_EQ(value(inputs, "model_flop_per_s"), 800e12);
  EXPECT_EQ(value(inputs, "hardware_flop_per_s"), 1040e12);
  EXPECT_NEAR(*value(inputs, "mfu_ratio"), 100.0 / 312, 1e-12);
}

TEST(Metrics, FlopsOfALaunchCountItsOwnSteps) {
  MetricInputs inputs = hundred_of_312();
  inputs.launches.push_back(inputs.launches[0]);
  inputs.launches[1].timed.steps = 5;  // 15 steps of 100 TFLOP in 20 s
  EXPECT_EQ(value(inputs, "model_flop_per_s"), 75e12);
}

TEST(Metrics, UnknownIsAbsent) {
  MetricInputs inputs = hundred_of_312();
  inputs.peak.flop_per_s = std::nullopt;
  EXPECT_EQ(value(inputs, "mfu_ratio"), std::nullopt);
  EXPECT_EQ(value(inputs, "hfu_ratio"), std::nullopt);
  EXPECT_EQ(value(inputs, "hfu_recompute_only_ratio"), std::nullopt);
  EXPECT_EQ(value(inputs, "model_flop_per_s"), 100e12);
  inputs = hundred_of_312();
  inputs.launches.push_back(thousand_steps());  // not counted
  EXPECT_EQ(value(inputs, "model_flop_per_s"), std::nullopt);
  EXPECT_EQ(value(inputs, "mfu_ratio"), std::nullopt);
}

TEST(Metrics, MemoryIsTheLargestOfTheLaunches) {
  MetricInputs inputs{{thousand_steps(), thousand_steps(), thousand_steps()}, {}, 1};
  inputs.launches[0].memory = {100, 200, std::nullopt, 7, std::nullopt};
  inputs.launches[1].memory = {300, 150, std::nullopt, 9, std::nullopt};
  EXPECT_EQ(value(inputs, "memory_peak_allocated_bytes"), 300.0);
  EXPECT_EQ(value(inputs, "memory_peak_reserved_bytes"), 200.0);
  EXPECT_EQ(value(inputs, "memory_device_used_bytes"), std::nullopt);
  EXPECT_EQ(value(inputs, "host_peak_bytes"), 9.0);
}

TEST(Metrics, DataWaitIsTheDataPhaseOverTheStep) {
  MetricInputs inputs{{thousand_steps()}, {}, 1};
  EXPECT_EQ(value(inputs, "data_wait_ratio"), std::nullopt) << "no phases";
  inputs.launches[0].timed.phase_s[static_cast<size_t>(Phase::data)].assign(1000, 0.05);
  EXPECT_NEAR(*value(inputs, "data_wait_ratio"), 0.25, 1e-12);
  inputs.launches[0].timed.phase_s[static_cast<size_t>(Phase::data)].assign(1000, 0.0);
  EXPECT_EQ(value(inputs, "data_wait_ratio"), 0.0);
}

TEST(Metrics, CommunicationOfOneDeviceIsAbsent) {
  EXPECT_EQ(value({{thousand_steps()}, {}, 1}, "communication_ratio"), std::nullopt);
  EXPECT_EQ(value({{thousand_steps()}, {}, 1}, "communication_exposed_ratio"), std::nullopt);
}

TEST(Metrics, OddInputsGiveNothingRatherThanNonsense) {
  MetricInputs broken = hundred_of_312();
  broken.launches[0].timed.samples = 5;
  broken.launches[0].timed.tokens = -3;
  broken.launches[0].memory.host_bytes = -1;
  std::vector<MetricInputs> inputs(6, broken);
  inputs[0].launches.clear();
  inputs[1].launches = {LaunchSamples()};
  inputs[2].launches[0].timed.wall_s = 0;
  inputs[3].peak.flop_per_s = 0;
  inputs[4].launches[0].timed.wall_s = std::numeric_limits<double>::quiet_NaN();
  inputs[5].devices = 0;
  for (size_t i = 0; i < inputs.size(); ++i) {
    for (const auto& [key, number] : compute_metrics(inputs[i]).values) {
      EXPECT_TRUE(!number || (std::isfinite(*number) && *number >= 0)) << key << " of inputs " << i;
    }
  }
  EXPECT_EQ(value(inputs[2], "samples_per_s"), std::nullopt);
  EXPECT_EQ(value(inputs[3], "mfu_ratio"), std::nullopt);
  EXPECT_EQ(value(inputs[5], "samples_per_s_per_device"), std::nullopt);
}

TEST(MetricRows, AreTheKeysOfTheRecordEachOnce) {
  std::vector<std::string> keys;
  for (const MetricRow& row : metric_rows()) {
    keys.emplace_back(row.key);
  }
  EXPECT_THAT(keys,
              testing::UnorderedElementsAre(
                  "samples_per_s", "samples_per_s_per_device", "tokens_per_s", "tokens_per_s_per_device",
                  "images_per_s", "images_per_s_per_device", "model_flop_per_s", "hardware_flop_per_s",
                  "mfu_ratio", "hfu_ratio", "hfu_recompute_only_ratio", "memory_peak_allocated_bytes",
                  "memory_peak_reserved_bytes", "memory_device_used_bytes", "host_peak_bytes",
                  "communication_ratio", "communication_exposed_ratio", "data_wait_ratio", "step_cached_s",
                  "step_to_cached_ratio", "energy_per_step_j", "energy_per_token_j"));
}

TEST(MetricRows, KeysCarryTheirUnitAndTitlesDiffer) {
  std::set<std::string> titles;
  for (const MetricRow& row : metric_rows()) {
    const std::string key = row.key;
    const char* suffix = row.unit == Unit::ratio     ? "_ratio"
                         : row.unit == Unit::bytes   ? "_bytes"
                         : row.unit == Unit::joules  ? "_j"
                         : row.unit == Unit::seconds ? "_s"
                                                     : "_per_s";
    EXPECT_THAT(key, testing::AnyOf(testing::EndsWith(suffix), testing::EndsWith("_per_s_per_device")));
    EXPECT_EQ(row.unit == Unit::flop_per_second, key.ends_with("flop_per_s")) << key;
    EXPECT_TRUE(titles.insert(row.title).second) << row.title;
  }
}

TEST(MetricRows, DirectionsAreAsUsersMeanThem) {
  for (const MetricRow& row : metric_rows()) {
    const std::string key = row.key;
    if (key.find("memory") != std::string::npos || key.find("wait") != std::string::npos ||
        key.starts_with("communication") || row.unit == Unit::bytes) {
      EXPECT_EQ(row.better, Better::lower) << key;
    }
    if (row.unit == Unit::per_second || key == "mfu_ratio" || key == "model_flop_per_s") {
      EXPECT_EQ(row.better, Better::higher) << key;
    }
  }
}

/// 1000 steps of 2048 tokens each.
TEST(Metrics, EnergyIsSharedAmongStepsAndTokens) {
  LaunchSamples launch = thousand_steps();
  launch.conditions = Conditions{};
  launch.conditions->device_energy_j = 51'200;
  LaunchSamples other = launch;
  other.conditions->device_energy_j = 76'800;
  const MetricInputs inputs{{launch, other}, {}, 1};
  EXPECT_DOUBLE_EQ(*value(inputs, "energy_per_step_j"), 64.0);
  EXPECT_DOUBLE_EQ(*value(inputs, "energy_per_token_j"), 0.03125);
}

TEST(Metrics, EnergyIsUnknownWhereALaunchDoesNotKnowIt) {
  LaunchSamples launch = thousand_steps();
  EXPECT_EQ(value({{launch}, {}, 1}, "energy_per_step_j"), std::nullopt);
  launch.conditions = Conditions{};
  EXPECT_EQ(value({{launch}, {}, 1}, "energy_per_step_j"), std::nullopt);
  launch.conditions->device_energy_j = 100;
  EXPECT_EQ(value({{launch, thousand_steps()}, {}, 1}, "energy_per_step_j"), std::nullopt);
  launch.timed.tokens = 0;
  EXPECT_EQ(value({{launch}, {}, 1}, "energy_per_token_j"), std::nullopt);
}

}  // namespace
}  // namespace flopmark
