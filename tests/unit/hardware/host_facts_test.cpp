#include "hardware/host_facts.h"

#include <gtest/gtest.h>

namespace flopmark {
namespace {

TEST(HostFacts, CpuModelIsTheFirstNamed) {
  EXPECT_EQ(
      cpu_model_of("processor\t: 0\nmodel\t\t: 207\nmodel name\t: Intel(R) Xeon(R) Processor @ 2.10GHz\n"
                   "processor\t: 1\nmodel name\t: Another\n"),
      "Intel(R) Xeon(R) Processor @ 2.10GHz");
  EXPECT_EQ(cpu_model_of("processor\t: 0\nBogoMIPS\t: 108.00\nHardware\t: BCM2835\n"), "BCM2835");
  EXPECT_EQ(cpu_model_of("model name\t:\n"), std::nullopt);
  EXPECT_EQ(cpu_model_of(""), std::nullopt);
}

TEST(HostFacts, OsNameLosesItsQuotes) {
  EXPECT_EQ(os_name_of("ID=debian\nPRETTY_NAME=\"Debian GNU/Linux 12 (bookworm)\"\nNAME=\"Debian\"\n"),
            "Debian GNU/Linux 12 (bookworm)");
  EXPECT_EQ(os_name_of("NAME=Alpine"), "Alpine");
  EXPECT_EQ(os_name_of("ID=x\n"), std::nullopt);
}

TEST(HostFacts, GovernorsAreJoinedOnce) {
  EXPECT_EQ(joined_governors({"powersave\n", "performance\n", "powersave\n"}), "performance+powersave");
  EXPECT_EQ(joined_governors({"schedutil\n"}), "schedutil");
  EXPECT_EQ(joined_governors({"", "\n"}), std::nullopt);
  EXPECT_EQ(joined_governors({}), std::nullopt);
}

TEST(HostFacts, MemoryIsInKibibytes) {
  EXPECT_EQ(memory_of("MemTotal:       16384 kB\nMemFree: 5 kB\n"), 16777216);
  EXPECT_EQ(memory_of("MemFree: 5 kB\n"), std::nullopt);
  EXPECT_EQ(memory_of("MemTotal: many kB\n"), std::nullopt);
}

TEST(HostFacts, ListsAreCounted) {
  EXPECT_EQ(list_size_of("0\n"), 1);
  EXPECT_EQ(list_size_of("0-3,8\n"), 5);
  for (const char* list : {"", "\n", "a", "3-1", "0-", "1,x", "-2"}) {
    EXPECT_EQ(list_size_of(list), std::nullopt) << list;
  }
}

TEST(HostFacts, GroupsNameTheContainer) {
  EXPECT_EQ(container_of_groups("0::/kubepods/burstable/pod1/docker-ab.scope\n"), "kubernetes");
  EXPECT_EQ(container_of_groups("4:memory:/docker/ab12\n"), "docker");
  EXPECT_EQ(container_of_groups("0::/machine.slice/libpod-ab.scope\n"), "podman");
  EXPECT_EQ(container_of_groups("0::/lxc/web\n"), "lxc");
  EXPECT_EQ(container_of_groups("0::/user.slice/session-2.scope\n"), std::nullopt);
}

TEST(HostFacts, KeepsVariablesThatChangeSpeedAndNoSecrets) {
  const char* const environment[] = {"OMP_NUM_THREADS=2",
                                     "HOME=/home/someone",
                                     "CUDA_LAUNCH_BLOCKING=1",
                                     "NCCL_ALGO=Ring=x",
                                     "TORCH_NCCL_ENABLE_MONITORING=0",
                                     "PYTORCH_ACCESS_TOKEN=abc",
                                     "XOMP_NUM_THREADS=3",
                                     "TORCH_",
                                     "MKL_NUM_THREADS=",
                                     nullptr};
  const std::map<std::string, std::string> expected = {{"OMP_NUM_THREADS", "2"},
                                                       {"CUDA_LAUNCH_BLOCKING", "1"},
                                                       {"NCCL_ALGO", "Ring=x"},
                                                       {"MKL_NUM_THREADS", ""}};
  EXPECT_EQ(speed_variables(environment), expected);
  EXPECT_TRUE(speed_variables(nullptr).empty());
}

}  // namespace
}  // namespace flopmark
