#include "train/loss_scaler.h"

#include <gtest/gtest.h>

#include <limits>

namespace flopmark {
namespace {

std::vector<torch::Tensor> gradients(float first) {
  return {torch::tensor({first, 2.0F, -3.0F}), torch::full({2, 2}, 8.0F)};
}

TEST(LossScaler, StartsBackwardFromTheScale) {
  const LossScaler scaler(torch::kCPU, {.initial = 1024});
  EXPECT_EQ(scaler.scaled(torch::tensor(0.25F)).item<double>(), 256);
  EXPECT_EQ(LossScaler(torch::kCPU, {}).scale(), 65536);
}

TEST(LossScaler, DividesGradientsByTheScale) {
  const LossScaler scaler(torch::kCPU, {.initial = 4});
  const auto values = gradients(1);
  EXPECT_EQ(scaler.unscale(values).item<double>(), 0);
  EXPECT_TRUE(values[0].equal(torch::tensor({0.25F, 0.5F, -0.75F})));
  EXPECT_TRUE(values[1].equal(torch::full({2, 2}, 2.0F)));
}

TEST(LossScaler, HalvesTheScaleAtEveryOverflow) {
  LossScaler scaler(torch::kCPU, {.initial = 1024});
  for (const float value : {std::numeric_limits<float>::infinity(), -std::numeric_limits<float>::infinity(),
                            std::numeric_limits<float>::quiet_NaN()}) {
    const double before = scaler.scale();
    const auto overflow = scaler.unscale(gradients(value));
    EXPECT_EQ(overflow.item<double>(), 1) << value;
    scaler.update(overflow);
    EXPECT_EQ(scaler.scale(), before / 2) << value;
  }
}

TEST(LossScaler, GrowsAfterTheIntervalWithoutAnOverflow) {
  LossScaler scaler(torch::kCPU, {.initial = 8, .interval = 3});
  const auto step = [&](float value) {
    scaler.update(scaler.unscale(gradients(value)));
    return scaler.scale();
  };
  EXPECT_EQ(step(1), 8);
  EXPECT_EQ(step(1), 8);
  EXPECT_EQ(step(1), 16);
  EXPECT_EQ(step(1), 16);
  EXPECT_EQ(step(std::numeric_limits<float>::infinity()), 8);  // and counting starts over
  EXPECT_EQ(step(1), 8);
  EXPECT_EQ(step(1), 8);
  EXPECT_EQ(step(1), 16);
}

}  // namespace
}  // namespace flopmark
