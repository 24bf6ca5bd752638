#include "hardware/cpu_conditions.h"

#include <gtest/gtest.h>

#include "fakes/allocation_count.h"
#include "fakes/kernel_tree.h"

namespace flopmark {
namespace {

//                                user nice system idle iowait irq softirq steal guest guest_nice
constexpr const char* kStat =
    "cpu  9999 9 9 9 9 9 9 9 9 9\n"
    "cpu0 1000 20 300 5000 40 5 15 60 700 0\n"
    "cpu1 100 0 100 800 0 0 0 0 0 0\n"
    "cpu10 1 1 1 1 1 1 1 1 1 1\n"
    "intr 12345\n";

TEST(CpuTimes, AreSummedOverTheUsableCpus) {
  const auto one = cpu_times_of(kStat, {0}, 100);
  ASSERT_TRUE(one);
  EXPECT_DOUBLE_EQ(one->busy_s, 13.40);  // 1000 + 20 + 300 + 5 + 15 ticks; guest time is in user already
  EXPECT_DOUBLE_EQ(one->steal_s, 0.60);
  EXPECT_DOUBLE_EQ(one->total_s, 64.40);
  const auto both = cpu_times_of(kStat, {0, 1}, 100);
  ASSERT_TRUE(both);
  EXPECT_DOUBLE_EQ(both->busy_s, 15.40);
  EXPECT_DOUBLE_EQ(both->total_s, 74.40);
}

TEST(CpuTimes, ACpuWithoutItsLineMakesThemUnknown) {
  EXPECT_FALSE(cpu_times_of(kStat, {0, 2}, 100));
  EXPECT_FALSE(cpu_times_of(kStat, {}, 100));
  EXPECT_FALSE(cpu_times_of("", {0}, 100));
  EXPECT_FALSE(cpu_times_of("cpu0 1 2 3\n", {0}, 100));
  EXPECT_FALSE(cpu_times_of("cpu0 1 2 3 4 5 6 7 x\n", {0}, 100));
}

TEST(RunQueueWait, IsTheSecondNumber) {
  EXPECT_DOUBLE_EQ(run_queue_wait_of("230734000 1500000000 17\n").value(), 1.5);
  EXPECT_FALSE(run_queue_wait_of("0 0 0\n")) << "a kernel that does not count";
  EXPECT_FALSE(run_queue_wait_of("12 34\n"));
  EXPECT_FALSE(run_queue_wait_of(""));
}

CpuReading reading(double time_s, CpuTimes cpus, double own_s, double wait_s) {
  return {.time_s = time_s, .cpus = cpus, .wait_s = wait_s, .own_s = own_s};
}

/// Two CPUs for 10 s: busy for 14 s, of which 12 were ours; 1 s stolen.
TEST(CpuSharesOf, ADifferenceOfTwoReadings) {
  const CpuReading before = reading(100, {50, 2, 400}, 30, 0.5);
  const CpuReading after = reading(110, {64, 3, 420}, 42, 1.0);
  const CpuShares shares = cpu_shares(before, after);
  EXPECT_DOUBLE_EQ(shares.steal_ratio.value(), 0.05);
  EXPECT_DOUBLE_EQ(shares.others_ratio.value(), 0.10);
  EXPECT_DOUBLE_EQ(shares.wait_ratio.value(), 0.05);
}

TEST(CpuSharesOf, RoundingNeverMakesAShareNegative) {
  const CpuShares shares = cpu_shares(reading(0, {0, 0, 0}, 0, 0), reading(1, {1.0, 0, 2}, 1.01, 0));
  EXPECT_EQ(shares.others_ratio, 0.0);
}

TEST(CpuSharesOf, WhatIsUnknownStaysUnknown) {
  CpuReading before = reading(0, {0, 0, 0}, 0, 0), after = reading(10, {14, 0, 20}, 12, 1);
  after.own_s.reset();
  EXPECT_EQ(cpu_shares(before, after).others_ratio, std::nullopt);
  EXPECT_EQ(cpu_shares(before, after).steal_ratio, 0.0);
  after.cpus.reset();
  EXPECT_EQ(cpu_shares(before, after).steal_ratio, std::nullopt);
  before.wait_s.reset();
  EXPECT_EQ(cpu_shares(before, after).wait_ratio, std::nullopt);
  EXPECT_EQ(cpu_shares(after, after).others_ratio, std::nullopt) << "no time passed";
}

TEST(CpuReadingMoved, EveryCounterLeavesOutWhatPassed) {
  CpuReading first{.time_s = 1, .cpus = CpuTimes{1, 2, 3}, .wait_s = 4, .own_s = 5};
  first.involuntary_switches = 6;
  first.major_faults = 7;
  first.minor_faults = 8;
  CpuReading from{.time_s = 10, .cpus = CpuTimes{10, 10, 10}, .wait_s = 10, .own_s = 10};
  from.involuntary_switches = from.major_faults = from.minor_faults = 10;
  CpuReading to{.time_s = 11, .cpus = CpuTimes{12, 13, 14}, .wait_s = 15, .own_s = 16};
  to.involuntary_switches = 17;
  to.major_faults = 18;
  to.minor_faults = 19;
  const CpuReading moved = moved_on(first, from, to);
  EXPECT_EQ(moved.time_s, 2);
  EXPECT_EQ(moved.cpus->busy_s, 3);
  EXPECT_EQ(moved.cpus->steal_s, 5);
  EXPECT_EQ(moved.cpus->total_s, 7);
  EXPECT_EQ(moved.wait_s, 9);
  EXPECT_EQ(moved.own_s, 11);
  EXPECT_EQ(moved.involuntary_switches, 13);
  EXPECT_EQ(moved.major_faults, 15);
  EXPECT_EQ(moved.minor_faults, 17);
  from.cpus.reset();
  from.wait_s.reset();
  const CpuReading unknown = moved_on(first, from, to);
  EXPECT_FALSE(unknown.cpus);
  EXPECT_FALSE(unknown.wait_s);
  EXPECT_EQ(unknown.own_s, 11);
}

TEST(CpuCounters, ReadTheKernelAndThisProcess) {
  const KernelTree tree;
  tree.write("proc/stat", kStat);
  tree.write("proc/self/schedstat", "5 2000000000 1\n");
  const CpuCounters counters(tree.files(), {0, 1});
  const CpuReading first = counters.read();
  ASSERT_TRUE(first.cpus && first.wait_s && first.own_s);
  EXPECT_DOUBLE_EQ(*first.wait_s, 2.0);
  EXPECT_GT(first.cpus->total_s, 0);
  volatile double sink = 0;
  CpuReading last = counters.read();
  while (*last.own_s < *first.own_s + 0.02) {
    for (int i = 0; i < 100000; ++i) sink = sink + 1;
    last = counters.read();
  }
  EXPECT_GT(last.time_s, first.time_s);
  EXPECT_GE(*last.involuntary_switches, *first.involuntary_switches);
}

TEST(CpuCounters, WithoutTheFilesOnlyThoseFieldsAreUnknown) {
  const KernelTree tree;
  tree.make_unreadable("proc/stat");
  const CpuReading reading = CpuCounters(tree.files(), {0}).read();
  EXPECT_FALSE(reading.cpus);
  EXPECT_FALSE(reading.wait_s);
  EXPECT_TRUE(reading.own_s);
}

TEST(CpuClockOf, MeanOfTheUsableCpusReadAnewWithoutAllocating) {
  const KernelTree tree;
  const auto set = [&](int cpu, const char* khz) {
    tree.write("sys/devices/system/cpu/cpu" + std::to_string(cpu) + "/cpufreq/scaling_cur_freq", khz);
  };
  set(0, "2000000\n");
  set(1, "3000000\n");
  set(2, "9000000\n");
  const CpuClock clock(tree.files(), {0, 1, 7});
  EXPECT_EQ(clock.read_hz(), 2.5e9);
  set(1, "3500000\n");
  const int64_t before = allocation_count();
  const auto again = clock.read_hz();
  EXPECT_EQ(allocation_count() - before, 0);
  EXPECT_EQ(again, 2.75e9);
  EXPECT_EQ(CpuClock(tree.files(), {7}).read_hz(), std::nullopt);
  set(0, "<unknown>\n");
  EXPECT_EQ(clock.read_hz(), 3.5e9);
}

}  // namespace
}  // namespace flopmark
