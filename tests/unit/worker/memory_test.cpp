#include "worker/memory.h"

#include <gtest/gtest.h>

#include "fakes/kernel_tree.h"

namespace flopmark {
namespace {

TEST(AvailableMemory, IsBoundedByTheControlGroup) {
  const KernelTree tree;
  EXPECT_EQ(available_memory_bytes(tree.files()), std::nullopt);
  tree.write("proc/meminfo", "MemTotal:  2000 kB\nMemAvailable:  1000 kB\n");
  EXPECT_EQ(available_memory_bytes(tree.files()), 1024000);
  tree.write("proc/self/cgroup", "0::/job\n");
  tree.write("sys/fs/cgroup/job/memory.max", "500000\n");
  tree.write("sys/fs/cgroup/job/memory.current", "400000\n");
  EXPECT_EQ(available_memory_bytes(tree.files()), 100000);
}

}  // namespace
}  // namespace flopmark
