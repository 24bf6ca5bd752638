#include "hardware/environment.h"

#include <gmock/gmock.h>
#include <sched.h>

#include <cstdlib>

#include "fakes/kernel_tree.h"

namespace flopmark {
namespace {

TEST(Environment, HostTellsWhatItCan) {
  setenv("OMP_FLOPMARK_PROBE", "7", 1);
  const Environment host = host_environment();
  unsetenv("OMP_FLOPMARK_PROBE");
  EXPECT_EQ(host.variables.at("OMP_FLOPMARK_PROBE"), "7");
  EXPECT_THAT(host.os.value(), testing::HasSubstr("Linux"));
  EXPECT_FALSE(host.device_name.has_value());
}

TEST(Environment, CountsOnlyTheCpusThisProcessMayUse) {
  cpu_set_t before, one;
  ASSERT_EQ(sched_getaffinity(0, sizeof before, &before), 0);
  CPU_ZERO(&one);
  const int first = usable_cpus().at(0);
  for (int cpu = 0; cpu < CPU_SETSIZE && CPU_COUNT(&one) == 0; ++cpu) {
    if (CPU_ISSET(cpu, &before)) CPU_SET(cpu, &one);
  }
  ASSERT_EQ(sched_setaffinity(0, sizeof one, &one), 0);
  const Environment pinned = host_environment();
  ASSERT_EQ(sched_setaffinity(0, sizeof before, &before), 0);
  EXPECT_EQ(pinned.cpu_logical, 1);
  EXPECT_EQ(pinned.cpu_affinity, std::to_string(first));
  EXPECT_EQ(host_environment().cpu_logical, CPU_COUNT(&before));
}

TEST(Environment, ReadsTheHostsFiles) {
  const KernelTree tree;
  const std::string cpu = "sys/devices/system/cpu/";
  const int first = usable_cpus().at(0);
  tree.write("proc/cpuinfo", "model name\t: Example\033[31m CPU\n");
  tree.write(cpu + "cpu" + std::to_string(first) + "/cpufreq/cpuinfo_max_freq", "3500000\n");
  tree.write(cpu + "cpufreq/policy0/scaling_governor", "performance\n");
  tree.write(cpu + "cpufreq/boost", "1\n");
  tree.write(cpu + "smt/active", "0\n");
  tree.write("sys/devices/system/node/online", "0-1\n");
  tree.write("proc/meminfo", "MemTotal:  1048576 kB\n");
  tree.write("proc/self/cgroup", "0::/\n");
  tree.write("sys/fs/cgroup/cpu.max", "200000 100000\n");
  tree.write("run/.containerenv", "");
  unsetenv("KUBERNETES_SERVICE_HOST");
  const Environment host = host_environment(tree.files());
  EXPECT_EQ(host.cpu_model, "Example\033[31m CPU") << "kept as it is; made printable where it is printed";
  EXPECT_EQ(host.cpu_max_clock_hz, 3.5e9);
  EXPECT_EQ(host.governor, "performance");
  EXPECT_EQ(host.turbo, true);
  EXPECT_EQ(host.smt, false);
  EXPECT_EQ(host.numa_nodes, 2);
  EXPECT_EQ(host.memory_bytes, int64_t{1} << 30);
  EXPECT_EQ(host.cgroup_cpus, 2.0);
  EXPECT_EQ(host.cgroup_memory_bytes, std::nullopt);
  EXPECT_EQ(host.container, "podman");
  tree.write(cpu + "intel_pstate/no_turbo", "1\n");
  EXPECT_EQ(host_environment(tree.files()).turbo, false);
}

TEST(Environment, NothingReadableIsNothingKnown) {
  const KernelTree tree;
  for (const char* path : {"proc/cpuinfo", "proc/meminfo", "proc/self/cgroup", "etc/os-release",
                           "sys/devices/system/cpu/cpufreq/boost", "sys/devices/system/node/online"}) {
    tree.make_unreadable(path);
  }
  const Environment host = host_environment(tree.files());
  EXPECT_EQ(host.cpu_model, std::nullopt);
  EXPECT_EQ(host.turbo, std::nullopt);
  EXPECT_EQ(host.governor, std::nullopt);
  EXPECT_EQ(host.memory_bytes, std::nullopt);
  EXPECT_EQ(host.numa_nodes, std::nullopt);
  EXPECT_EQ(host.cgroup_cpus, std::nullopt);
}

TEST(Environment, WorkerFactsGoBeforeTheHosts) {
  Environment host, worker;
  host.cpu_model = "Xeon";
  host.os = "Debian";
  host.variables = {{"OMP_NUM_THREADS", "2"}, {"MKL_CBWR", "AVX2"}};
  worker.device_name = "NVIDIA H200";
  worker.device_count = 8;
  worker.libtorch = "2.15.0";
  worker.os = "Ubuntu";
  worker.threads = 4;
  worker.variables = {{"OMP_NUM_THREADS", "4"}};
  const Environment merged = merge_environment(host, worker);
  EXPECT_EQ(merged.cpu_model, "Xeon");
  EXPECT_EQ(merged.device_name, "NVIDIA H200");
  EXPECT_EQ(merged.device_count, 8);
  EXPECT_EQ(merged.libtorch, "2.15.0");
  EXPECT_EQ(merged.os, "Ubuntu");
  EXPECT_EQ(merged.threads, 4);
  EXPECT_EQ(merged.variables.at("OMP_NUM_THREADS"), "4");
  EXPECT_EQ(merged.variables.at("MKL_CBWR"), "AVX2");
}

TEST(OfRanks, CountsADeviceForEach) {
  Environment environment;
  environment.device_name = "NVIDIA H200";
  EXPECT_EQ(of_ranks(environment, 4).device_count, 4);
  EXPECT_EQ(of_ranks(environment, 1).device_count, 1);
  EXPECT_EQ(hardware_slug(of_ranks(environment, 2)), "2x-nvidia-h200");
}

std::string slug(std::optional<std::string> device, int64_t count, std::optional<std::string> cpu = {}) {
  Environment environment;
  environment.device_name = std::move(device);
  environment.device_count = count;
  environment.cpu_model = std::move(cpu);
  return hardware_slug(environment);
}

TEST(HardwareSlug, IsCountAndPlainName) {
  EXPECT_EQ(slug("NVIDIA H100 80GB HBM3", 8), "8x-nvidia-h100-80gb-hbm3");
  EXPECT_EQ(slug("Intel(R) Xeon(R) CPU @ 2.10GHz", 1), "1x-intel-r-xeon-r-cpu-2.10ghz");
  EXPECT_EQ(slug(std::nullopt, 1, "AMD EPYC 7763"), "1x-amd-epyc-7763");
  EXPECT_EQ(slug(std::nullopt, 1), "1x-unknown");
}

TEST(HardwareSlug, NeverLeavesTheStore) {
  EXPECT_EQ(slug("../../etc/passwd", 1), "1x-..-..-etc-passwd");
  EXPECT_EQ(slug("..", 1), "1x-..");
  EXPECT_EQ(slug("\xE2\x82\xAC/\n", 2), "2x-unknown");
}

TEST(HardwareSlug, LongNamesStayApart) {
  const std::string name(80, 'a');
  EXPECT_EQ(slug(name, 1).size(), 64U);
  EXPECT_NE(slug(name + "b", 1), slug(name + "c", 1));
}

}  // namespace
}  // namespace flopmark
