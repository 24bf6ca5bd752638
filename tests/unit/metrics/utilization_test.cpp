#include "metrics/utilization.h"

#include <gtest/gtest.h>

namespace flopmark {
namespace {

TEST(UtilizationOf, IsAShareOfThePeak) {
  const Utilization use = utilization_of({.model_flop_per_s = 100e12, .hardware_flop_per_s = 130e12}, 312e12);
  EXPECT_NEAR(use.mfu_ratio.value(), 0.320513, 1e-6);
  EXPECT_NEAR(use.hfu_ratio.value(), 0.416667, 1e-6);
  EXPECT_TRUE(use.is_possible());
}

TEST(UtilizationOf, UnknownIsAbsent) {  // public cases A10, A11
  const Utilization no_peak =
      utilization_of({.model_flop_per_s = 100e12, .hardware_flop_per_s = 130e12}, std::nullopt);
  EXPECT_FALSE(no_peak.mfu_ratio);
  EXPECT_FALSE(no_peak.hfu_ratio);
  EXPECT_TRUE(no_peak.is_possible());
  const Utilization no_hardware = utilization_of({.model_flop_per_s = 78e12}, 312e12);
  EXPECT_EQ(no_hardware.mfu_ratio, 0.25);
  EXPECT_FALSE(no_hardware.hfu_ratio);
}

TEST(UtilizationOf, MoreThanThePeakIsImpossible) {  // public case A13
  EXPECT_TRUE(utilization_of({.model_flop_per_s = 1, .hardware_flop_per_s = 1}, 1.0).is_possible());
  EXPECT_FALSE(utilization_of({.model_flop_per_s = 1.01}, 1.0).is_possible());
  EXPECT_FALSE(utilization_of({.model_flop_per_s = 0.9, .hardware_flop_per_s = 1.2}, 1.0).is_possible());
}

}  // namespace
}  // namespace flopmark
