#include "models/autocast.h"

#include <ATen/autocast_mode.h>
#include <ATen/ops/linear.h>
#include <gtest/gtest.h>

namespace flopmark {
namespace {

TEST(Autocast, CastsMatmulsWhileItLives) {
  const auto x = torch::ones({2, 3}), w = torch::ones({4, 3});
  {
    const AutocastGuard guard({torch::kCPU, true});
    EXPECT_EQ(at::linear(x, w).scalar_type(), torch::kBFloat16);
    {
      const AutocastGuard off({torch::kCPU, false});
      EXPECT_EQ(at::linear(x, w).scalar_type(), torch::kFloat);
    }
    EXPECT_EQ(at::linear(x, w).scalar_type(), torch::kBFloat16);
  }
  EXPECT_FALSE(at::autocast::is_autocast_enabled(torch::kCPU));
  EXPECT_EQ(at::linear(x, w).scalar_type(), torch::kFloat);
}

TEST(Autocast, ForgetsCastParametersAtTheEnd) {
  const auto x = torch::ones({1, 1}), w = torch::ones({1, 1}, torch::requires_grad());
  const auto product = [&] {
    const AutocastGuard guard({torch::kCPU, true});
    return at::linear(x, w).item<double>();
  };
  EXPECT_EQ(product(), 1);
  w.variable_data().fill_(2);  // as the fused optimizers do: no version is counted up
  EXPECT_EQ(product(), 2);
}

}  // namespace
}  // namespace flopmark
