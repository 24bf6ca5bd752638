#include "hardware/environment.h"

#include <gmock/gmock.h>
#include <sched.h>

#include <cstdlib>

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
  for (int cpu = 0; cpu < CPU_SETSIZE && CPU_COUNT(&one) == 0; ++cpu) {
    if (CPU_ISSET(cpu, &before)) CPU_SET(cpu, &one);
  }
  ASSERT_EQ(sched_setaffinity(0, sizeof one, &one), 0);
  const auto pinned = host_environment().cpu_logical;
  ASSERT_EQ(sched_setaffinity(0, sizeof before, &before), 0);
  EXPECT_EQ(pinned, 1);
  EXPECT_EQ(host_environment().cpu_logical, CPU_COUNT(&before));
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
