#include "launch/slurm_lists.h"

#include <gtest/gtest.h>

namespace flopmark {
namespace {

TEST(SlurmLists, FirstHost) {
  EXPECT_EQ(first_slurm_host("n04"), "n04");
  EXPECT_EQ(first_slurm_host("n[04-07,9],x1"), "n04");
  EXPECT_EQ(first_slurm_host("rack[1-2]n[3,5]"), "rack1n3");
  EXPECT_EQ(first_slurm_host("a,b"), "a");
  EXPECT_EQ(first_slurm_host("n[04"), "");
  EXPECT_EQ(first_slurm_host(""), "");
}

TEST(SlurmLists, TasksOnANode) {
  EXPECT_EQ(slurm_tasks_on("2(x3),1", 2), 2);
  EXPECT_EQ(slurm_tasks_on("2(x3),1", 3), 1);
  EXPECT_EQ(slurm_tasks_on("2(x3),1", 4), std::nullopt);
  EXPECT_EQ(slurm_tasks_on("4", 0), 4);
  EXPECT_EQ(slurm_tasks_on("", 0), std::nullopt);
  EXPECT_EQ(slurm_tasks_on("2(x", 0), std::nullopt);
  EXPECT_EQ(slurm_tasks_on("0", 0), std::nullopt);
}

}  // namespace
}  // namespace flopmark
