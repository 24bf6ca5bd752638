#include "compare/pair_conditions.h"

#include <gtest/gtest.h>

namespace flopmark {
namespace {

CpuReading reading(double time_s, double busy_s, double steal_s, double own_s) {
  CpuReading made;
  made.time_s = time_s;
  made.cpus = CpuTimes{busy_s, steal_s, 2 * time_s};
  made.own_s = own_s;
  return made;
}

TEST(PairConditions, AreWhatNeitherWeNorOurWorkersUsed) {
  const PairConditions conditions = pair_conditions(reading(0, 0, 0, 0), reading(10, 16, 1, 10));
  EXPECT_EQ(conditions.duration_s, 10);
  EXPECT_DOUBLE_EQ(*conditions.others_cpu_ratio, 0.3);
  EXPECT_DOUBLE_EQ(*conditions.steal_ratio, 0.05);
}

TEST(PairConditions, OnlyTheCausesSetBeforehandDisturb) {
  EXPECT_FALSE(disturbance({}));  // unknown is no cause
  EXPECT_FALSE(disturbance({10, kMostOthersRatio, kMostStealRatio}));
  EXPECT_EQ(disturbance({10, 0.5, 0.0}), "other processes used 50 % of the CPUs");
  EXPECT_EQ(disturbance({10, 0.0, 0.2}), "the hypervisor took 20 % of the CPUs");
}

}  // namespace
}  // namespace flopmark
