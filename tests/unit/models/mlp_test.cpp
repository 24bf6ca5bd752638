#include "models/mlp.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "flopmark/error.h"
#include "unit/models/shapes.h"

namespace flopmark {
namespace {

Batch random_images(int64_t batch) {
  const auto generator = at::detail::createCPUGenerator(1);
  return {{torch::randn({batch, 1, 28, 28}, generator), torch::randint(10, {batch}, generator, torch::kLong)},
          batch,
          0,
          batch};
}

TEST(Mlp, ComputesByHand) {
  ModelShape shape;
  shape.type = "mlp";
  shape.input_size = 2;
  shape.hidden_size = 2;
  shape.layers = 1;
  shape.classes = 2;
  Mlp model(shape, {{}, 0});
  const torch::NoGradGuard no_grad;
  const auto& parameters = model.named_parameters();
  ASSERT_EQ(parameters.size(), 4U);
  parameters[0].value.copy_(torch::tensor({1.0F, 2.0F, -1.0F, 1.0F}).view({2, 2}));
  parameters[1].value.copy_(torch::tensor({0.5F, -3.0F}));
  parameters[2].value.copy_(torch::tensor({2.0F, 10.0F, 1.0F, 10.0F}).view({2, 2}));
  parameters[3].value.copy_(torch::tensor({0.0F, 1.0F}));
  // hidden = relu(3 + 2*4 + 0.5, -3 + 4 - 3) = (11.5, 0); logits = (23, 12.5); loss of class 1 = ln(1 +
  // e^10.5)
  const auto image = torch::tensor({3.0F, 4.0F}).view({1, 1, 1, 2});
  const auto logits = model.logits(image);
  EXPECT_FLOAT_EQ(logits[0][0].item<float>(), 23.0F);
  EXPECT_FLOAT_EQ(logits[0][1].item<float>(), 12.5F);
  EXPECT_NEAR(model.loss({{image, torch::tensor({int64_t{1}})}, 1, 0, 1}).item<double>(),
              std::log1p(std::exp(10.5)), 1e-5);
}

TEST(Mlp, StartsLikeTorchLinearNearAUniformGuess) {
  Mlp model(test::mnist_mlp(), {{}, 0});
  const auto& first = model.named_parameters().front().value;
  EXPECT_LE(first.abs().max().item<double>(), 1 / 28.0);  // 1 / sqrt(784)
  EXPECT_GT(first.abs().max().item<double>(), 0.999 / 28.0);
  EXPECT_NEAR(model.loss(random_images(64)).item<double>(), std::log(10.0), 0.1);
}

TEST(Mlp, TrainsInBfloat16) {
  Mlp model(test::mnist_mlp(), {torch::kBFloat16, 0});
  const auto loss = model.loss(random_images(8));
  loss.backward();
  EXPECT_EQ(loss.scalar_type(), torch::kFloat);
  EXPECT_TRUE(model.named_parameters().front().value.grad().isfinite().all().item<bool>());
}

TEST(Mlp, RefusesImagesOfAnotherSize) {
  Mlp model(test::mnist_mlp(), {torch::TensorOptions(torch::kMeta), 0});
  try {
    model.logits(torch::zeros({1, 3, 28, 28}));
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::usage);
    EXPECT_THAT(error.what(), ::testing::HasSubstr("model.input_size: 784, but an image has 2352 values"));
  }
}

}  // namespace
}  // namespace flopmark
