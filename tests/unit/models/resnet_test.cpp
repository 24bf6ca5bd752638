#include "models/resnet.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "flopmark/error.h"
#include "unit/models/shapes.h"

namespace flopmark {
namespace {

torch::Tensor parameter_of(const Resnet& model, const std::string& name) {
  for (const auto& parameter : model.named_parameters()) {
    if (parameter.name == name) return parameter.value;
  }
  ADD_FAILURE() << "no parameter " << name;
  return {};
}

TEST(Resnet, HasTorchvisionsParameterShapes) {
  ModelShape shape = test::tiny_resnet(/*bottleneck=*/true);
  const Resnet model(shape, {torch::TensorOptions(torch::kMeta), 0});
  const auto sizes = [&](const char* name) { return parameter_of(model, name).sizes().vec(); };
  EXPECT_EQ(sizes("conv1.weight"), (std::vector<int64_t>{4, 3, 7, 7}));
  EXPECT_EQ(sizes("bn1.weight"), (std::vector<int64_t>{4}));
  EXPECT_EQ(sizes("layer1.0.conv1.weight"), (std::vector<int64_t>{4, 4, 1, 1}));
  EXPECT_EQ(sizes("layer1.0.conv3.weight"), (std::vector<int64_t>{16, 4, 1, 1}));
  EXPECT_EQ(sizes("layer1.0.downsample.0.weight"), (std::vector<int64_t>{16, 4, 1, 1}));  // stride 1, wider
  EXPECT_EQ(sizes("layer1.1.conv1.weight"), (std::vector<int64_t>{4, 16, 1, 1}));
  EXPECT_EQ(sizes("layer4.0.conv2.weight"), (std::vector<int64_t>{32, 32, 3, 3}));
  EXPECT_EQ(sizes("layer4.0.downsample.1.bias"), (std::vector<int64_t>{128}));
  EXPECT_EQ(sizes("fc.weight"), (std::vector<int64_t>{10, 128}));
}

TEST(Resnet, ABlockOfZeroGainPassesItsInputOn) {
  const ModelShape shape = test::tiny_resnet(/*bottleneck=*/false);
  Resnet one(shape, {{}, 0}), other(shape, {{}, 0});
  const torch::NoGradGuard no_grad;
  const auto images = test::random_images(2, shape).inputs[0];
  const auto before = one.logits(images);
  // The second block of stage 1 has no shortcut of its own: x + 0, already rectified, is x.
  parameter_of(one, "layer1.1.bn2.weight").zero_();
  parameter_of(other, "layer1.1.bn2.weight").zero_();
  EXPECT_FALSE(torch::allclose(before, one.logits(images)));
  parameter_of(other, "layer1.1.conv1.weight").fill_(3);  // whatever it computes inside
  EXPECT_TRUE(torch::allclose(one.logits(images), other.logits(images), 1e-4, 1e-5));
}

TEST(Resnet, NormalisesWithTheBatchAndKeepsRunningStatistics) {
  ParameterSet parameters{torch::TensorOptions()};
  const BatchNorm norm = make_batch_norm(parameters, "bn", 1);
  parameters.initialise(0);
  // Values 1, 3: mean 2, variance 1 (unbiased 2). Running: 0.9 x 0 + 0.1 x 2, 0.9 x 1 + 0.1 x 2.
  const auto y = norm(torch::tensor({1.0F, 3.0F}).view({1, 1, 1, 2}));
  EXPECT_NEAR(y.flatten()[0].item<double>(), -1, 1e-4);
  EXPECT_NEAR(y.flatten()[1].item<double>(), 1, 1e-4);
  EXPECT_NEAR(norm.running_mean.item<double>(), 0.2, 1e-6);
  EXPECT_NEAR(norm.running_variance.item<double>(), 1.1, 1e-6);
  EXPECT_EQ(parameters.all().size(), 2U);
}

TEST(Resnet, TrainsInBothPrecisions) {
  for (const bool bottleneck : {false, true}) {
    const ModelShape shape = test::tiny_resnet(bottleneck);
    for (const auto dtype : {torch::kFloat, torch::kBFloat16}) {
      Resnet model(shape, {dtype, 0});
      const auto loss = model.loss(test::random_images(16, shape));
      EXPECT_NEAR(loss.item<double>(), std::log(10.0), 1.0);
      loss.backward();
      for (const auto& parameter : model.named_parameters()) {
        ASSERT_TRUE(parameter.value.grad().defined()) << parameter.name;
        EXPECT_TRUE(parameter.value.grad().isfinite().all().item<bool>()) << parameter.name;
      }
      EXPECT_GT(parameter_of(model, "conv1.weight").grad().abs().max().item<double>(), 0);
    }
  }
}

TEST(Resnet, RefusesWhatItIsNotMadeFor) {
  const auto text = [](const ModelShape& shape, at::IntArrayRef sizes) -> std::string {
    try {
      Resnet model(shape, {torch::TensorOptions(torch::kMeta), 0});
      model.logits(torch::zeros(sizes));
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ExitCode::usage);
      return error.what();
    }
    return "accepted";
  };
  ModelShape shape = test::tiny_resnet(true);
  EXPECT_THAT(text(shape, {2, 1, 32, 32}), ::testing::HasSubstr("images [B, 3, H, W], found [2, 1, 32, 32]"));
  shape.stage_blocks[2] = 0;
  EXPECT_THAT(text(shape, {2, 3, 32, 32}), ::testing::HasSubstr("takes its blocks from a preset"));
}

}  // namespace
}  // namespace flopmark
