#include "models/convnet.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "flopmark/error.h"
#include "models/models.h"
#include "unit/models/shapes.h"

namespace flopmark {
namespace {

using torch::Tensor;

std::map<std::string, Tensor> parameters_of(const Convnet& model) {
  std::map<std::string, Tensor> values;
  for (const auto& [name, value] : model.named_parameters()) values[name] = value;
  return values;
}

/// The same network with every channel convolved on its own, and norms written out.
struct PlainConvnet {
  std::map<std::string, Tensor> w;

  Tensor norm_relu(const std::string& path, const Tensor& x) const {
    const auto centred = x - x.mean({0, 2, 3}, true);
    const auto gain = w.at(path + ".weight").view({1, -1, 1, 1});
    const auto bias = w.at(path + ".bias").view({1, -1, 1, 1});
    return torch::relu(centred * torch::rsqrt(centred.pow(2).mean({0, 2, 3}, true) + 1e-5) * gain + bias);
  }
  static Tensor each_channel(const Tensor& x, const Tensor& weight, int64_t stride) {
    std::vector<Tensor> channels;
    for (int64_t c = 0; c < x.size(1); ++c) {
      channels.push_back(torch::conv2d(x.slice(1, c, c + 1), weight.slice(0, c, c + 1), {}, stride, 1));
    }
    return torch::cat(channels, 1);
  }
  Tensor logits(const Tensor& images) const {
    auto x = norm_relu("bn1", torch::conv2d(images, w.at("conv1.weight"), {}, 2, 1));
    const int64_t strides[] = {1, 2, 2, 2, 1, 2};
    for (int64_t i = 0; i < 6; ++i) {
      const std::string path = "blocks." + std::to_string(i);
      x = norm_relu(path + ".bn1", each_channel(x, w.at(path + ".depthwise.weight"), strides[i]));
      const auto mixed = w.at(path + ".pointwise.weight").flatten(1);  // [out, in]
      x = norm_relu(path + ".bn2", torch::einsum("oi,bihw->bohw", {mixed, x}));
    }
    return torch::matmul(x.mean({2, 3}), w.at("fc.weight").t()) + w.at("fc.bias");
  }
};

TEST(Convnet, EqualsThePlainFormulas) {
  const ModelShape shape = test::tiny_convnet();
  Convnet model(shape, {{}, 3});
  PlainConvnet plain;
  {
    const torch::NoGradGuard no_grad;
    for (const auto& [name, value] : parameters_of(model)) {
      if (value.dim() == 1) value.add_(torch::linspace(-0.3, 0.4, value.numel()));
      plain.w[name] = value.detach().clone().requires_grad_();
    }
  }
  const auto images = test::random_images(8, shape).inputs[0];
  const auto logits = model.logits(images), expected = plain.logits(images);
  EXPECT_LT((logits - expected).abs().max().item<double>(), 1e-4 * expected.abs().max().item<double>());
  logits.pow(2).mean().backward();
  expected.pow(2).mean().backward();
  for (const auto& [name, value] : parameters_of(model)) {
    const auto reference = plain.w[name].grad();
    EXPECT_LT((value.grad() - reference).abs().max().item<double>(),
              1e-3 * reference.abs().max().item<double>() + 1e-6)
        << name;
  }
}

TEST(Convnet, HasTheTablesShapes) {
  const Convnet model(test::tiny_convnet(), {torch::TensorOptions(torch::kMeta), 0});
  const auto parameters = parameters_of(model);
  const auto sizes = [&](const char* name) { return parameters.at(name).sizes().vec(); };
  EXPECT_EQ(sizes("conv1.weight"), (std::vector<int64_t>{4, 3, 3, 3}));
  EXPECT_EQ(sizes("blocks.0.depthwise.weight"), (std::vector<int64_t>{4, 1, 3, 3}));
  EXPECT_EQ(sizes("blocks.0.pointwise.weight"), (std::vector<int64_t>{8, 4, 1, 1}));
  EXPECT_EQ(sizes("blocks.1.depthwise.weight"), (std::vector<int64_t>{8, 1, 3, 3}));
  EXPECT_EQ(sizes("blocks.4.pointwise.weight"), (std::vector<int64_t>{64, 64, 1, 1}));  // second of stage 3
  EXPECT_EQ(sizes("blocks.5.pointwise.weight"), (std::vector<int64_t>{128, 64, 1, 1}));
  EXPECT_EQ(parameters.count("blocks.6.depthwise.weight"), 0U);
  EXPECT_EQ(sizes("fc.weight"), (std::vector<int64_t>{10, 128}));
}

TEST(Convnet, StartsItsDepthwiseConvolutionsByTheirOwnFan) {
  ModelShape shape = test::tiny_convnet();
  shape.hidden_size = 64;
  const Convnet model(shape, {{}, 0});
  const auto parameters = parameters_of(model);
  EXPECT_NEAR(parameters.at("blocks.5.depthwise.weight").std().item<double>(), std::sqrt(2.0 / 9), 0.02);
  EXPECT_NEAR(parameters.at("blocks.5.pointwise.weight").std().item<double>(), std::sqrt(2.0 / 2048), 0.001);
}

TEST(Convnet, TrainsInBothPrecisionsCheckpointedOrNot) {
  const ModelShape shape = test::tiny_convnet();
  for (const auto dtype : {torch::kFloat, torch::kBFloat16}) {
    for (const int64_t interval : {0, 2}) {
      Convnet model(shape, {.tensor = dtype, .seed = 0, .checkpoint_interval = interval});
      const auto loss = model.loss(test::random_images(16, shape));
      EXPECT_NEAR(loss.item<double>(), std::log(10.0), 1.0);
      loss.backward();
      for (const auto& [name, value] : model.named_parameters()) {
        ASSERT_TRUE(value.grad().defined()) << name;
        EXPECT_TRUE(value.grad().isfinite().all().item<bool>()) << name;
      }
    }
  }
}

/// In double, so that rounding stays small however often a batch norm magnifies it.
TEST(Convnet, GradientsAreTheSameWithChannelsLast) {
  for (const ModelShape& shape : {test::tiny_convnet(), test::tiny_resnet(true)}) {
    const auto step = [&](bool channels_last) {
      const auto model =
          make_model(shape, {.tensor = torch::kDouble, .seed = 3, .channels_last = channels_last});
      Batch batch = test::random_images(8, shape);
      if (channels_last) batch.inputs[0] = batch.inputs[0].contiguous(at::MemoryFormat::ChannelsLast);
      const auto loss = model->loss(batch);
      loss.backward();
      return std::pair{loss.item<double>(), model->parameters()};
    };
    const auto [loss, parameters] = step(false);
    const auto [last_loss, last_parameters] = step(true);
    EXPECT_NEAR(loss, last_loss, 1e-6) << shape.type;
    ASSERT_EQ(parameters.size(), last_parameters.size());
    for (size_t i = 0; i < parameters.size(); ++i) {
      const auto& last = last_parameters[i];
      EXPECT_TRUE(torch::allclose(parameters[i].grad(), last.grad(), 1e-4, 1e-7)) << shape.type << ' ' << i;
      EXPECT_TRUE(last.dim() != 4 || last.is_contiguous(at::MemoryFormat::ChannelsLast)) << i;
    }
  }
}

TEST(Convnet, RefusesWhatItIsNotMadeFor) {
  const auto text = [](const ModelShape& shape, at::IntArrayRef sizes) -> std::string {
    try {
      Convnet model(shape, {torch::TensorOptions(torch::kMeta), 0});
      model.logits(torch::zeros(sizes));
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ExitCode::usage);
      return error.what();
    }
    return "accepted";
  };
  ModelShape shape = test::tiny_convnet();
  EXPECT_THAT(text(shape, {2, 1, 32, 32}), ::testing::HasSubstr("images [B, 3, H, W], found [2, 1, 32, 32]"));
  shape.stage_blocks[2] = 0;
  EXPECT_THAT(text(shape, {2, 3, 32, 32}), ::testing::HasSubstr("a convnet takes its blocks from a preset"));
}

}  // namespace
}  // namespace flopmark
