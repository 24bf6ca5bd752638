#include "measure/condition_log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fakes/allocation_count.h"
#include "fakes/fake_nvml.h"
#include "fakes/kernel_tree.h"

namespace flopmark {
namespace {

using testing::ElementsAre;
using testing::Pair;

constexpr uint64_t kPowerCap = 0x4, kHardwareThermal = 0x40;

/// A log over a fake device and an empty kernel tree.
struct LogBench {
  FakeNvmlScript script;
  KernelTree tree;

  Conditions run(int samples, int64_t steps = 10) {
    FakeNvmlDevice device(script);
    ConditionLog log({.device = &device, .files = tree.files(), .cpus = {0}, .own_pid = 7});
    log.begin();
    for (int i = 2; i < samples; ++i) log.take();
    return log.end(steps);
  }
};

NvmlReading clock_reading(double mhz, double degrees, double joules, uint64_t reasons = 0) {
  NvmlReading reading;
  reading.clock_hz = mhz * 1e6;
  reading.temperature_c = degrees;
  reading.energy_j = joules;
  reading.throttle_reasons = reasons;
  return reading;
}

TEST(ConditionLog, SumsUpAThrottlingDevice) {
  LogBench bench;
  bench.script.readings = {clock_reading(1980, 60, 1000), clock_reading(1980, 70, 1500, kPowerCap),
                           clock_reading(1500, 84, 1800, kPowerCap | kHardwareThermal),
                           clock_reading(1410, 83, 2000, kPowerCap)};
  const Conditions conditions = bench.run(4);
  EXPECT_EQ(conditions.samples, 4);
  EXPECT_EQ(conditions.device_clock_hz->min, 1.41e9);
  EXPECT_EQ(conditions.device_clock_hz->median, 1.74e9);
  EXPECT_EQ(conditions.device_clock_hz->max, 1.98e9);
  EXPECT_EQ(conditions.device_temperature_c->max, 84);
  EXPECT_EQ(conditions.device_energy_j, 1000.0);
  EXPECT_THAT(conditions.throttle_ratio.value(),
              ElementsAre(Pair("hw_thermal_slowdown", 0.25), Pair("sw_power_cap", 0.75)));
  EXPECT_GE(*conditions.duration_s, 0);
}

TEST(ConditionLog, MissingFieldsAreAbsent) {
  LogBench bench;
  bench.script.readings.front().power_w = 300;
  const Conditions conditions = bench.run(3);
  EXPECT_EQ(conditions.device_power_w->median, 300);
  EXPECT_FALSE(conditions.device_clock_hz);
  EXPECT_FALSE(conditions.throttle_ratio);
  EXPECT_FALSE(conditions.device_energy_j);
  EXPECT_FALSE(conditions.other_processes);
  EXPECT_FALSE(conditions.steal_ratio) << "no /proc/stat in this tree";
  EXPECT_FALSE(conditions.cpu_clock_hz);
}

TEST(ConditionLog, AFieldThatComesAndGoesIsOfTheSamplesThatHaveIt) {
  LogBench bench;
  bench.script.readings = {clock_reading(1000, 60, 5, kPowerCap), {}, clock_reading(1200, 62, 4)};
  const Conditions conditions = bench.run(3);
  EXPECT_EQ(conditions.device_clock_hz->median, 1.1e9);
  EXPECT_EQ(conditions.throttle_ratio->at("sw_power_cap"), 0.5);
  EXPECT_FALSE(conditions.device_energy_j) << "a counter that runs backwards";
}

TEST(ConditionLog, WhatHappensWhilePausedIsNotOurs) {
  const KernelTree tree;
  const auto set_busy_and_idle = [&](int busy, int idle) {
    tree.write("proc/stat",
               "cpu0 " + std::to_string(busy) + " 0 0 " + std::to_string(idle) + " 0 0 0 0 0 0\n");
  };
  set_busy_and_idle(100, 100);
  ConditionLog log({.files = tree.files(), .cpus = {0}});
  log.begin();
  set_busy_and_idle(1100, 1100);  // half busy
  log.pause();
  set_busy_and_idle(91100, 1100);  // all busy
  log.resume();
  log.take();
  set_busy_and_idle(92100, 2100);  // half busy
  log.pause();
  set_busy_and_idle(992100, 2100);
  EXPECT_NEAR(log.end(1).others_cpu_ratio.value(), 0.5, 0.01);
}

TEST(ConditionLog, OfTurnsOthersAndEnergyAreNotTold) {
  LogBench bench;
  bench.script.readings = {clock_reading(1980, 60, 1000), clock_reading(1970, 61, 1500)};
  bench.script.processes = {std::vector<NvmlProcess>{{7, 0.5}, {8, 0.5}}};
  FakeNvmlDevice device(bench.script);
  ConditionLog log(
      {.device = &device, .files = bench.tree.files(), .cpus = {0}, .own_pid = 7, .turns = true});
  log.begin();
  const Conditions conditions = log.end(1);
  EXPECT_EQ(conditions.device_clock_hz->min, 1.97e9);
  EXPECT_FALSE(conditions.device_energy_j);
  EXPECT_FALSE(conditions.other_processes);
  EXPECT_FALSE(conditions.others_device_ratio);
  EXPECT_EQ(bench.script.lists, 0);
}

TEST(ConditionLog, WithoutADeviceOnlyTheCpuIsKnown) {
  const KernelTree tree;
  tree.write("proc/stat", "cpu0 100 0 0 100 0 0 0 0 0 0\n");
  tree.write("sys/devices/system/cpu/cpu0/cpufreq/scaling_cur_freq", "2000000\n");
  ConditionLog log({.files = tree.files(), .cpus = {0}});
  log.begin();
  tree.write("proc/stat", "cpu0 1000 0 0 1000 0 0 0 200 0 0\n");
  tree.write("sys/devices/system/cpu/cpu0/cpufreq/scaling_cur_freq", "3000000\n");
  const Conditions conditions = log.end(1);
  EXPECT_DOUBLE_EQ(conditions.steal_ratio.value(), 0.1);         // 200 of 2000 ticks
  EXPECT_NEAR(conditions.others_cpu_ratio.value(), 0.45, 0.01);  // 900 of 2000, less what this test used
  EXPECT_EQ(conditions.cpu_clock_hz->median, 2.5e9);
  EXPECT_TRUE(conditions.involuntary_switches_per_step);
  EXPECT_FALSE(conditions.device_clock_hz);
}

std::vector<NvmlProcess> processes_of(std::initializer_list<std::pair<int64_t, double>> list) {
  std::vector<NvmlProcess> processes;
  for (const auto& [pid, busy] : list) processes.push_back({.pid = pid, .busy_ratio = busy});
  return processes;
}

TEST(OtherUse, IsWhatOthersDo) {
  EXPECT_EQ(other_use_of(processes_of({{7, 0.9}}), 7).processes, 0);
  EXPECT_EQ(other_use_of(processes_of({{7, 0.9}}), 7).busy_ratio, 0.0);
  const OtherUse use = other_use_of(processes_of({{5, 0.25}, {7, 0.5}, {9, 0.125}}), 7);
  EXPECT_EQ(use.processes, 2);
  EXPECT_EQ(use.busy_ratio, 0.375);
  EXPECT_EQ(other_use_of({}, 7).processes, 0);
}

TEST(OtherUse, UnderForeignNumbersOneOfThemIsOurs) {
  EXPECT_EQ(other_use_of(processes_of({{40001, 0.9}}), 7).processes, 0);
  const OtherUse use = other_use_of(processes_of({{40001, 0.9}, {40002, 0.5}}), 7);
  EXPECT_EQ(use.processes, 1);
  EXPECT_EQ(use.busy_ratio, std::nullopt);
}

TEST(OtherUse, AnUnknownShareMakesTheSumUnknown) {
  auto processes = processes_of({{7, 0.5}, {8, 0.5}, {9, 0.5}});
  processes[2].busy_ratio.reset();
  EXPECT_EQ(other_use_of(processes, 7).processes, 2);
  EXPECT_EQ(other_use_of(processes, 7).busy_ratio, std::nullopt);
}

TEST(ConditionLog, ListsProcessesAtFirstAtLastAndNowAndThen) {
  LogBench bench;
  bench.script.processes = {processes_of({{7, 1.0}}), processes_of({{7, 0.5}, {8, 0.5}})};
  const Conditions conditions = bench.run(25);
  EXPECT_EQ(bench.script.reads, 25);
  EXPECT_EQ(bench.script.lists, 4);  // samples 1, 11, 21, 25
  EXPECT_EQ(conditions.other_processes, 1);
  EXPECT_DOUBLE_EQ(conditions.others_device_ratio.value(), 0.375);
}

TEST(ConditionLog, TakingASampleAllocatesNothing) {
  LogBench bench;
  bench.script.processes = {processes_of({{7, 1.0}, {8, 0.5}})};
  FakeNvmlDevice device(bench.script);
  ConditionLog log({.device = &device, .files = bench.tree.files(), .cpus = {0}, .own_pid = 7});
  log.begin();
  const int64_t before = allocation_count();
  for (size_t i = 0; i < 2 * ConditionLog::kMostSamples; ++i) log.take();
  EXPECT_EQ(allocation_count() - before, 0);
}

TEST(ConditionLog, AFullLogKeepsEveryOtherSample) {
  LogBench bench;
  bench.script.readings.clear();
  for (size_t i = 0; i <= ConditionLog::kMostSamples; ++i) {
    bench.script.readings.push_back(clock_reading(static_cast<double>(i), 60, static_cast<double>(i)));
  }
  FakeNvmlDevice device(bench.script);
  ConditionLog log({.device = &device, .files = bench.tree.files(), .cpus = {0}});
  log.begin();
  for (size_t i = 1; i < ConditionLog::kMostSamples; ++i) EXPECT_FALSE(log.take());
  EXPECT_TRUE(log.take());
  const Conditions conditions = log.end(1);
  EXPECT_EQ(conditions.samples, static_cast<int64_t>(ConditionLog::kMostSamples / 2 + 2));
  EXPECT_EQ(conditions.device_clock_hz->min, 0);
  EXPECT_EQ(conditions.device_energy_j, static_cast<double>(ConditionLog::kMostSamples));
}

CpuReading switches_reading(int64_t switches, int64_t major, int64_t minor) {
  return {.involuntary_switches = switches, .major_faults = major, .minor_faults = minor};
}

TEST(SummarizeConditions, CountersAreGivenPerStep) {
  const Conditions conditions =
      summarize_conditions({}, switches_reading(100, 5, 1000), switches_reading(150, 6, 9000), 40);
  EXPECT_DOUBLE_EQ(conditions.involuntary_switches_per_step.value(), 1.25);
  EXPECT_DOUBLE_EQ(conditions.major_faults_per_step.value(), 0.025);
  EXPECT_DOUBLE_EQ(conditions.minor_faults_per_step.value(), 200);
  EXPECT_FALSE(summarize_conditions({}, switches_reading(1, 1, 1), switches_reading(2, 2, 2), 0)
                   .involuntary_switches_per_step)
      << "no step, nothing per step";
}

LaunchSamples launch_with(const Conditions& conditions, int64_t steps) {
  LaunchSamples launch;
  launch.conditions = conditions;
  launch.timed.steps = steps;
  return launch;
}

TEST(MergeConditions, WeighsEachFigureByWhatItIsOf) {
  Conditions one, two;
  one.samples = 10;
  one.duration_s = 1;
  one.device_clock_hz = SampledRange{1000, 1500, 1800};
  one.throttle_ratio = {{"sw_power_cap", 0.5}};
  one.device_energy_j = 100;
  one.other_processes = 2;
  one.steal_ratio = 0.04;
  one.involuntary_switches_per_step = 3;
  two.samples = 30;
  two.duration_s = 3;
  two.device_clock_hz = SampledRange{1200, 1700, 1980};
  two.throttle_ratio = {{"gpu_idle", 0.1}};
  two.device_energy_j = 300;
  two.other_processes = 0;
  two.steal_ratio = 0.08;
  two.involuntary_switches_per_step = 0;
  const auto merged = merge_conditions({launch_with(one, 10), launch_with(two, 20)});
  ASSERT_TRUE(merged);
  EXPECT_EQ(merged->samples, 40);
  EXPECT_EQ(merged->duration_s, 4);
  EXPECT_EQ(merged->device_clock_hz->min, 1000);
  EXPECT_EQ(merged->device_clock_hz->median, 1600);
  EXPECT_EQ(merged->device_clock_hz->max, 1980);
  EXPECT_EQ(merged->throttle_ratio->at("sw_power_cap"), 0.125);  // 5 of 40
  EXPECT_NEAR(merged->throttle_ratio->at("gpu_idle"), 0.075, 1e-12);
  EXPECT_EQ(merged->device_energy_j, 400);
  EXPECT_EQ(merged->other_processes, 2);
  EXPECT_DOUBLE_EQ(merged->steal_ratio.value(), 0.07);
  EXPECT_DOUBLE_EQ(merged->involuntary_switches_per_step.value(), 1);
}

TEST(MergeConditions, EnergyOfSomeLaunchesIsNotThatOfAll) {
  Conditions known;
  known.device_energy_j = 100;
  known.duration_s = 1;
  EXPECT_EQ(merge_conditions({launch_with(known, 1), launch_with({}, 1)})->device_energy_j, std::nullopt);
  EXPECT_EQ(merge_conditions({launch_with(known, 1), LaunchSamples()})->device_energy_j, std::nullopt);
  EXPECT_EQ(merge_conditions({launch_with(known, 1)})->device_energy_j, 100);
  EXPECT_FALSE(merge_conditions({LaunchSamples()}));
  EXPECT_FALSE(merge_conditions({}));
}

}  // namespace
}  // namespace flopmark
