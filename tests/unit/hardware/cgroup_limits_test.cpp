#include "hardware/cgroup_limits.h"

#include <gtest/gtest.h>

#include "fakes/kernel_tree.h"

namespace flopmark {
namespace {

TEST(CgroupLimits, TheTightestOfVersionTwoCounts) {
  const KernelTree tree;
  tree.write("proc/self/cgroup", "0::/jobs/mine\n");
  tree.write("sys/fs/cgroup/jobs/mine/cpu.max", "max 100000\n");
  tree.write("sys/fs/cgroup/jobs/cpu.max", "350000 100000\n");
  tree.write("sys/fs/cgroup/jobs/mine/memory.max", "8589934592\n");
  tree.write("sys/fs/cgroup/jobs/memory.max", "17179869184\n");
  const CgroupLimits limits = cgroup_limits(tree.files());
  EXPECT_EQ(limits.cpus, 3.5);
  EXPECT_EQ(limits.memory_bytes, 8589934592);
}

/// The paths are the host's; inside the container its own group is the mount.
TEST(CgroupLimits, InsideAContainerTheMountIsTheGroup) {
  const KernelTree tree;
  tree.write("proc/self/cgroup", "4:memory:/docker/ab12\n2:cpu,cpuacct:/docker/ab12\n0::/\n");
  tree.write("sys/fs/cgroup/memory/memory.limit_in_bytes", "4294967296\n");
  tree.write("sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us", "50000\n");
  tree.write("sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us", "100000\n");
  const CgroupLimits limits = cgroup_limits(tree.files());
  EXPECT_EQ(limits.cpus, 0.5);
  EXPECT_EQ(limits.memory_bytes, 4294967296);
}

TEST(CgroupLimits, FreeMemoryIsWhatTheFullestGroupLeaves) {
  const KernelTree tree;
  tree.write("proc/self/cgroup", "0::/jobs/mine\n");
  tree.write("sys/fs/cgroup/jobs/mine/memory.max", "8000\n");
  tree.write("sys/fs/cgroup/jobs/mine/memory.current", "1000\n");
  EXPECT_EQ(cgroup_limits(tree.files()).memory_free_bytes, 7000);
  tree.write("sys/fs/cgroup/jobs/memory.max", "9000\n");
  tree.write("sys/fs/cgroup/jobs/memory.current", "8500\n");
  EXPECT_EQ(cgroup_limits(tree.files()).memory_free_bytes, 500);
  tree.write("sys/fs/cgroup/jobs/memory.stat", "anon 500\ninactive_file 3000\nactive_file 5000\n");
  EXPECT_EQ(cgroup_limits(tree.files()).memory_free_bytes, 3500);
  tree.write("sys/fs/cgroup/jobs/memory.current", "99999\n");
  EXPECT_EQ(cgroup_limits(tree.files()).memory_free_bytes, 0);
}

TEST(CgroupLimits, FreeMemoryInVersionOne) {
  const KernelTree tree;
  tree.write("proc/self/cgroup", "4:memory:/job\n");
  tree.write("sys/fs/cgroup/memory/job/memory.limit_in_bytes", "4000\n");
  tree.write("sys/fs/cgroup/memory/job/memory.usage_in_bytes", "3000\n");
  tree.write("sys/fs/cgroup/memory/job/memory.stat", "inactive_file 7\ntotal_inactive_file 500\n");
  EXPECT_EQ(cgroup_limits(tree.files()).memory_free_bytes, 1500);
}

TEST(CgroupLimits, NoLimitIsAbsent) {
  const KernelTree tree;
  tree.write("proc/self/cgroup", "4:memory:/\n2:cpu:/\n0::/\n");
  tree.write("sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
  tree.write("sys/fs/cgroup/cpu/cpu.cfs_quota_us", "-1\n");
  tree.write("sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n");
  tree.write("sys/fs/cgroup/memory.max", "max\n");
  tree.write("sys/fs/cgroup/cpu.max", "max 100000\n");
  const CgroupLimits limits = cgroup_limits(tree.files());
  EXPECT_EQ(limits.cpus, std::nullopt);
  EXPECT_EQ(limits.memory_bytes, std::nullopt);
}

TEST(CgroupLimits, DamagedOrForbiddenFilesAreNoLimit) {
  const KernelTree tree;
  tree.make_unreadable("sys/fs/cgroup/cpu.max");
  tree.write("sys/fs/cgroup/memory.max", "lots\n");
  for (const char* groups : {"0::/\n", "", "nonsense\n", "::\n", "0:a\n"}) {
    tree.write("proc/self/cgroup", groups);
    EXPECT_EQ(cgroup_limits(tree.files()).cpus, std::nullopt) << groups;
    EXPECT_EQ(cgroup_limits(tree.files()).memory_bytes, std::nullopt) << groups;
  }
}

}  // namespace
}  // namespace flopmark
