#include <gmock/gmock.h>

#include "fakes/fake_nvml.h"
#include "fakes/kernel_tree.h"
#include "measure/condition_log.h"
#include "results/run_warnings.h"
#include "unit/results/example_launch.h"

namespace flopmark {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

/// Five launches of 40 steps in 4 s on 2 CPUs, each with these conditions.
std::vector<LaunchSamples> launches_under(Conditions conditions) {
  if (!conditions.duration_s) conditions.duration_s = 4;
  auto launches = example_launches();
  for (auto& launch : launches) {
    launch.conditions = conditions;
    launch.environment.cpu_logical = 2;
  }
  return launches;
}

std::vector<Warning> warnings_under(const Conditions& conditions) {
  return condition_warnings(launches_under(conditions));
}

std::vector<std::string> codes_under(const Conditions& conditions) {
  std::vector<std::string> codes;
  for (const auto& warning : warnings_under(conditions)) codes.push_back(warning.code);
  return codes;
}

/// What a device says, sampled as in a run: the readings one after the other, and the same processes each
/// time.
Conditions sampled(std::vector<NvmlReading> readings,
                   std::optional<std::vector<NvmlProcess>> processes = {}) {
  const KernelTree tree;
  FakeNvmlScript script{.readings = std::move(readings), .processes = {std::move(processes)}};
  FakeNvmlDevice device(script);
  ConditionLog log({.device = &device, .files = tree.files(), .cpus = {0}, .own_pid = 1});
  log.begin();
  for (size_t i = 2; i < script.readings.size(); ++i) log.take();
  Conditions conditions = log.end(40);
  conditions.duration_s = 4;
  conditions.involuntary_switches_per_step = 0;  // this test's own must not count
  return conditions;
}

NvmlReading at_clock(double mhz, uint64_t reasons) {
  NvmlReading reading;
  reading.clock_hz = mhz * 1e6;
  reading.throttle_reasons = reasons;
  return reading;
}

TEST(ConditionWarnings, NoneWithoutKnowledgeOrOnAQuietMachine) {
  EXPECT_THAT(condition_warnings(example_launches()), IsEmpty());
  EXPECT_THAT(condition_warnings({}), IsEmpty());
  Conditions quiet = sampled({at_clock(1980, 0), at_clock(1975, 0x3), at_clock(1980, 0)}, {{{.pid = 1}}});
  quiet.steal_ratio = 0.01;
  quiet.others_cpu_ratio = 0.05;
  quiet.run_queue_wait_ratio = 0.02;
  quiet.involuntary_switches_per_step = 20;  // 800 in 4 s on 2 CPUs
  EXPECT_THAT(codes_under(quiet), IsEmpty());
}

TEST(ConditionWarnings, ThrottlingIsNamedWithItsReasonsAndShares) {
  const Conditions conditions =
      sampled({at_clock(1980, 0), at_clock(1980, 0x4), at_clock(1980, 0x44), at_clock(1980, 0x1)});
  EXPECT_THAT(codes_under(conditions), ElementsAre("throttled"));
  EXPECT_THAT(warnings_under(conditions).at(0).text,
              HasSubstr("(sw_power_cap in 50 %, hw_thermal_slowdown in 25 % of 20 samples)"));
}

TEST(ConditionWarnings, IdleAndSettingsAreNoThrottling) {
  EXPECT_THAT(codes_under(sampled({at_clock(1980, 0x1), at_clock(1980, 0x2), at_clock(1980, 0x100)})),
              IsEmpty());
  Conditions rare;
  rare.throttle_ratio = {{"sw_power_cap", 0.009}};
  EXPECT_THAT(codes_under(rare), IsEmpty());
}

TEST(ConditionWarnings, AClockThatMovesOrFalls) {
  EXPECT_THAT(codes_under(sampled({at_clock(1980, 0), at_clock(1965, 0)})), IsEmpty());
  EXPECT_THAT(codes_under(sampled({at_clock(1980, 0), at_clock(1950, 0)})), ElementsAre("clock_not_locked"));
  const Conditions fallen = sampled({at_clock(1980, 0), at_clock(1485, 0), at_clock(1980, 0)});
  EXPECT_THAT(codes_under(fallen), ElementsAre("clock_drop", "clock_not_locked"));
  EXPECT_THAT(warnings_under(fallen).at(0).text, HasSubstr("fell from 1980 to 1485 MHz (-25 %)"));
  EXPECT_THAT(codes_under(sampled({at_clock(1980, 0x2), at_clock(1485, 0x2), at_clock(1980, 0)})),
              ElementsAre("clock_drop"))
      << "a setting held it in most samples";
}

TEST(ConditionWarnings, AClockThatDiffersBetweenLaunchesFellToo) {
  auto launches = launches_under(sampled({at_clock(1980, 0), at_clock(1980, 0)}));
  launches[3].conditions = sampled({at_clock(1700, 0), at_clock(1700, 0)});
  EXPECT_EQ(condition_warnings(launches).at(0).code, "clock_drop");
}

TEST(ConditionWarnings, OthersOnTheDevice) {
  using List = std::vector<NvmlProcess>;
  const std::vector<NvmlReading> readings(2);
  const List busy{{.pid = 1, .busy_ratio = 0.6}, {.pid = 2, .busy_ratio = 0.3}};
  EXPECT_THAT(codes_under(sampled(readings, busy)), ElementsAre("device_shared"));
  EXPECT_THAT(warnings_under(sampled(readings, busy)).at(0).text,
              HasSubstr("1 other process on the device, their kernels ran 30 % of the time"));
  const List idle{{.pid = 1, .busy_ratio = 0.6}, {.pid = 2, .busy_ratio = 0.0}};
  EXPECT_THAT(codes_under(sampled(readings, idle)), IsEmpty());
  const List unknown{{.pid = 1}, {.pid = 2}, {.pid = 3}};
  EXPECT_THAT(warnings_under(sampled(readings, unknown)).at(0).text,
              HasSubstr("2 other processes on the device, how much they ran is not known"));
}

TEST(ConditionWarnings, OtherLoadOnTheCpu) {
  Conditions conditions;
  conditions.steal_ratio = 0.06;
  EXPECT_THAT(codes_under(conditions), ElementsAre("cpu_shared"));
  EXPECT_THAT(warnings_under(conditions).at(0).text, HasSubstr("(6 % of the CPU time stolen"));
  conditions.steal_ratio = 0.05;
  conditions.others_cpu_ratio = 0.3;
  conditions.run_queue_wait_ratio = 0.1;
  EXPECT_THAT(
      warnings_under(conditions).at(0).text,
      HasSubstr("(30 % used by other processes, 10 % of the time the timed thread waited for a CPU)"));
}

TEST(ConditionWarnings, InvoluntarySwitchesAreCountedPerSecondAndCpu) {
  Conditions conditions;
  conditions.involuntary_switches_per_step = 20.5;  // 820 in 4 s on 2 CPUs: 205 a second
  EXPECT_THAT(codes_under(conditions), ElementsAre("cpu_shared"));
  EXPECT_THAT(warnings_under(conditions).at(0).text, HasSubstr("205 involuntary context switches a second"));
  auto launches = launches_under(conditions);
  launches[0].environment.cpu_logical = 4;
  EXPECT_THAT(condition_warnings(launches), IsEmpty());
}

}  // namespace
}  // namespace flopmark
