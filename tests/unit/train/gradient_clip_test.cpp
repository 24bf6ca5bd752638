#include "train/gradient_clip.h"

#include <gtest/gtest.h>

namespace flopmark {
namespace {

TEST(GradientClip, ScalesToTheTotalNorm) {
  std::vector gradients{torch::tensor({3.0F, 0.0F}), torch::tensor({0.0F, 4.0F, 12.0F})};  // total norm 13
  EXPECT_FLOAT_EQ(clip_gradients(gradients, 6.5).item<float>(), 13.0F);
  const float factor = 6.5F / (13.0F + 1e-6F);
  EXPECT_FLOAT_EQ(gradients[0][0].item<float>(), 3 * factor);
  EXPECT_FLOAT_EQ(gradients[1][1].item<float>(), 4 * factor);
  EXPECT_FLOAT_EQ(gradients[1][2].item<float>(), 12 * factor);
}

TEST(GradientClip, LeavesSmallGradientsAlone) {
  std::vector gradients{torch::tensor({3.0F}), torch::tensor({4.0F})};
  EXPECT_FLOAT_EQ(clip_gradients(gradients, 5.1).item<float>(), 5.0F);
  EXPECT_EQ(gradients[0].item<float>(), 3.0F);
  EXPECT_EQ(gradients[1].item<float>(), 4.0F);
}

}  // namespace
}  // namespace flopmark
