#include "hardware/fitness.h"

#include <gmock/gmock.h>

#include "fakes/kernel_tree.h"

namespace flopmark {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

/// A quiet server with a governor, without a GPU.
FitnessFacts quiet_cpu() {
  FitnessFacts facts;
  facts.environment.worker_debug = false;
  facts.environment.libtorch_build = "Release";
  facts.environment.sanitizers = "none";
  facts.environment.governor = "performance";
  facts.environment.turbo = false;
  facts.environment.cpu_logical = 8;
  facts.environment.memory_bytes = int64_t{64} << 30;
  facts.threads = 8;
  facts.load = CpuShares{0.0, 0.01, 0.0};
  facts.memory_available_bytes = int64_t{60} << 30;
  facts.swap_used_bytes = 0;
  return facts;
}

FitnessFacts quiet_gpu() {
  FitnessFacts facts = quiet_cpu();
  facts.environment.cuda = "13.0";
  facts.environment.device_uuid = "GPU-1";
  facts.environment.device_max_clock_hz = 1980e6;
  facts.environment.device_application_clock_hz = 1500e6;
  facts.environment.persistence_mode = true;
  facts.device_processes = 0;
  return facts;
}

FitnessCheck check_of(const FitnessFacts& facts, const std::string& key) {
  for (const FitnessCheck& check : check_fitness(facts)) {
    if (check.key == key) return check;
  }
  ADD_FAILURE() << "no check " << key;
  return {};
}

std::vector<std::string> keys_of(const FitnessFacts& facts) {
  std::vector<std::string> keys;
  for (const FitnessCheck& check : check_fitness(facts)) keys.push_back(check.key);
  return keys;
}

TEST(Fitness, OfAQuietMachineIsOkAndAsksForNothing) {
  EXPECT_THAT(keys_of(quiet_cpu()),
              ElementsAre("build", "governor", "turbo", "load", "steal", "threads", "memory", "swap"));
  EXPECT_THAT(keys_of(quiet_gpu()),
              ElementsAre("build", "governor", "turbo", "load", "steal", "threads", "memory", "swap",
                          "gpu_clock", "persistence", "gpu_processes"));
  for (const FitnessFacts& facts : {quiet_cpu(), quiet_gpu()}) {
    for (const FitnessCheck& check : check_fitness(facts)) {
      EXPECT_EQ(check.fitness, Fitness::ok) << check.key << ": " << check.found;
      EXPECT_EQ(check.command, "") << check.key;
    }
  }
}

TEST(Fitness, WhatIsNotKnownIsNoFault) {
  EXPECT_THAT(keys_of(FitnessFacts{}), ElementsAre("governor", "turbo"));
  EXPECT_EQ(worst_fitness(check_fitness(FitnessFacts{})), Fitness::ok);
  EXPECT_EQ(worst_fitness({}), Fitness::ok);
}

/// Every fault: what it makes of its check, and the command that helps.
struct Fault {
  const char* key;
  Fitness fitness;
  std::function<void(FitnessFacts&)> make;
  const char* found;
  const char* command;
};

void PrintTo(const Fault& fault, std::ostream* out) {
  *out << fault.key << " " << fault.found;
}

class FitnessFault : public testing::TestWithParam<Fault> {};

TEST_P(FitnessFault, IsFoundWithItsCommand) {
  FitnessFacts facts = quiet_gpu();
  GetParam().make(facts);
  const FitnessCheck check = check_of(facts, GetParam().key);
  EXPECT_EQ(check.fitness, GetParam().fitness) << check.found;
  EXPECT_THAT(check.found, HasSubstr(GetParam().found));
  EXPECT_THAT(check.command, HasSubstr(GetParam().command));
  EXPECT_EQ(worst_fitness(check_fitness(facts)), GetParam().fitness);
}

INSTANTIATE_TEST_SUITE_P(
    All, FitnessFault,
    testing::Values(
        Fault{"worker", Fitness::bad, [](auto& f) { f.worker_fault = "no worker here"; }, "no worker here",
              "flopmark-worker"},
        Fault{"build", Fitness::bad, [](auto& f) { f.environment.worker_debug = true; }, "with assertions",
              "release"},
        Fault{"build", Fitness::bad, [](auto& f) { f.environment.libtorch_build = "Debug"; },
              "LibTorch Debug", "release"},
        Fault{"build", Fitness::bad, [](auto& f) { f.environment.sanitizers = "address"; }, "address",
              "release"},
        Fault{"governor", Fitness::warn, [](auto& f) { f.environment.governor = "powersave"; }, "powersave",
              "sudo cpupower frequency-set -g performance"},
        Fault{"turbo", Fitness::warn,
              [](auto& f) {
                f.environment.turbo = true;
                f.turbo_file = "sys/devices/system/cpu/intel_pstate/no_turbo";
              },
              "on", "echo 1 | sudo tee /sys/devices/system/cpu/intel_pstate/no_turbo"},
        Fault{"turbo", Fitness::warn,
              [](auto& f) {
                f.environment.turbo = true;
                f.turbo_file = "sys/devices/system/cpu/cpufreq/boost";
              },
              "on", "echo 0 | sudo tee /sys/devices/system/cpu/cpufreq/boost"},
        Fault{"load", Fitness::warn, [](auto& f) { f.load->others_ratio = 0.06; }, "6 %", "top"},
        Fault{"load", Fitness::bad, [](auto& f) { f.load->others_ratio = 0.26; }, "26 %", "top"},
        Fault{"steal", Fitness::warn, [](auto& f) { f.load->steal_ratio = 0.1; }, "10 %", "vmstat"},
        Fault{"steal", Fitness::bad, [](auto& f) { f.load->steal_ratio = 0.3; }, "30 %", "vmstat"},
        Fault{"threads", Fitness::bad, [](auto& f) { f.threads = 9; }, "9 threads on 8 CPUs",
              "measure.threads=8"},
        Fault{"threads", Fitness::bad, [](auto& f) { f.environment.cgroup_cpus = 2.5; },
              "8 threads on 2.5 CPUs (the control group's limit)", "measure.threads=2"},
        Fault{"memory", Fitness::warn, [](auto& f) { f.memory_available_bytes = int64_t{5} << 30; },
              "5.0 of 64.0 GiB", "rss"},
        Fault{"memory", Fitness::bad, [](auto& f) { f.memory_available_bytes = int64_t{1} << 30; },
              "1.0 of 64.0 GiB", "rss"},
        Fault{"swap", Fitness::warn, [](auto& f) { f.swap_used_bytes = int64_t{2} << 30; }, "2.0 GiB",
              "swapoff"},
        Fault{"gpu_clock", Fitness::warn, [](auto& f) { f.environment.device_application_clock_hz = 1980e6; },
              "free up to 1980 MHz", "sudo nvidia-smi -i GPU-1 --lock-gpu-clocks=1584,1584"},
        Fault{"gpu_clock", Fitness::bad, [](auto& f) { f.slowing_reasons = {"sw_thermal_slowdown"}; },
              "held down now: sw_thermal_slowdown", "nvidia-smi -q"},
        Fault{"persistence", Fitness::warn, [](auto& f) { f.environment.persistence_mode = false; }, "off",
              "sudo nvidia-smi -i GPU-1 -pm 1"},
        Fault{"gpu_processes", Fitness::bad, [](auto& f) { f.device_processes = 2; }, "2 on the device",
              "--query-compute-apps"}));

TEST(Fitness, LimitsAreExclusive) {
  FitnessFacts facts = quiet_cpu();
  facts.load = CpuShares{0.05, 0.25, 0.0};
  EXPECT_EQ(check_of(facts, "steal").fitness, Fitness::ok);
  EXPECT_EQ(check_of(facts, "load").fitness, Fitness::warn);
  facts.environment.cgroup_cpus = 8;
  EXPECT_EQ(check_of(facts, "threads").fitness, Fitness::ok);
  EXPECT_EQ(check_of(facts, "threads").found, "8 threads on 8 CPUs");
}

TEST(HostFitnessFacts, AreReadFromTheKernel) {
  const KernelTree tree;
  tree.write(
      "proc/meminfo",
      "MemTotal:       1000 kB\nMemAvailable:    400 kB\nSwapTotal:       200 kB\nSwapFree:         50 kB\n");
  tree.write("sys/devices/system/cpu/cpufreq/boost", "1\n");
  const FitnessFacts facts = host_fitness_facts(tree.files());
  EXPECT_EQ(facts.memory_available_bytes, 400 * 1024);
  EXPECT_EQ(facts.swap_used_bytes, 150 * 1024);
  EXPECT_EQ(facts.turbo_file, "sys/devices/system/cpu/cpufreq/boost");
}

TEST(HostFitnessFacts, WhatCannotBeReadIsUnknown) {
  const KernelTree tree;
  tree.make_unreadable("proc/meminfo");
  const FitnessFacts facts = host_fitness_facts(tree.files());
  EXPECT_FALSE(facts.memory_available_bytes);
  EXPECT_FALSE(facts.swap_used_bytes);
  EXPECT_FALSE(facts.turbo_file);
}

TEST(HostFitnessFacts, NoSwapAtAllIsNoneUsed) {
  const KernelTree tree;
  tree.write("proc/meminfo", "SwapTotal:         0 kB\nSwapFree:          0 kB\n");
  EXPECT_EQ(host_fitness_facts(tree.files()).swap_used_bytes, 0);
}

}  // namespace
}  // namespace flopmark
