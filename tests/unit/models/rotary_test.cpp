#include "models/rotary.h"

#include <gtest/gtest.h>

#include <cmath>

namespace flopmark {
namespace {

TEST(Rotary, TurnsEachPairByPositionTimesFrequency) {
  Rotary rotary(4);
  // One batch, three positions, one head: pairs (1, 0) and (0, 1) everywhere.
  const auto x = torch::tensor({1.0F, 0.0F, 0.0F, 1.0F}).expand({1, 3, 1, 4});
  const auto y = Rotary::apply(x.contiguous(), rotary.rotations(3, torch::kCPU));
  for (int64_t t = 0; t < 3; ++t) {
    const double first = static_cast<double>(t),
                 second = static_cast<double>(t) / 100;  // 10000^(-2/4) = 1/100
    const auto turned = y[0][t][0];
    EXPECT_NEAR(turned[0].item<double>(), std::cos(first), 1e-6);
    EXPECT_NEAR(turned[1].item<double>(), std::sin(first), 1e-6);
    EXPECT_NEAR(turned[2].item<double>(), -std::sin(second), 1e-6);
    EXPECT_NEAR(turned[3].item<double>(), std::cos(second), 1e-6);
  }
}

TEST(Rotary, KeepsTheLongestTable) {
  Rotary rotary(8);
  const auto longest = rotary.rotations(16, torch::kCPU);
  const auto shorter = rotary.rotations(4, torch::kCPU);
  EXPECT_EQ(shorter.size(0), 4);
  EXPECT_EQ(shorter.data_ptr(), longest.data_ptr());
  EXPECT_EQ(rotary.rotations(32, torch::kCPU).size(0), 32);
}

TEST(Rotary, ReturnsTheInputsDtype) {
  Rotary rotary(4);
  const auto x = torch::ones({1, 2, 1, 4}, torch::kBFloat16);
  EXPECT_EQ(Rotary::apply(x, rotary.rotations(2, torch::kCPU)).scalar_type(), torch::kBFloat16);
}

}  // namespace
}  // namespace flopmark
