#include "models/vit.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "flopmark/error.h"
#include "unit/models/shapes.h"

namespace flopmark {
namespace {

torch::Tensor value_of(const Vit& model, const std::string& name) {
  for (const auto& parameter : model.named_parameters()) {
    if (parameter.name == name) return parameter.value;
  }
  ADD_FAILURE() << "no parameter " << name;
  return {};
}

/// Every parameter becomes 0, but gains of norms 1.
void clear(const Vit& model) {
  for (const auto& parameter : model.named_parameters()) {
    const bool gain = parameter.name.find("ln") != std::string::npos && parameter.name.back() == 't';
    parameter.value.fill_(gain ? 1 : 0);
  }
}

TEST(Vit, ReadsTheClassTokenByHand) {
  ModelShape shape = test::tiny_vit();
  shape.hidden_size = 2;
  shape.heads = 1;
  shape.classes = 2;
  Vit model(shape, {{}, 0});
  const torch::NoGradGuard no_grad;
  clear(model);  // blocks add nothing
  value_of(model, "class_token").copy_(torch::tensor({1.0F, 2.0F}).view({1, 1, 2}));
  value_of(model, "encoder.pos_embedding")[0][0].copy_(torch::tensor({0.0F, 2.0F}));
  value_of(model, "heads.head.weight").copy_(torch::tensor({3.0F, 0.0F, 0.0F, 5.0F}).view({2, 2}));
  value_of(model, "heads.head.bias").copy_(torch::tensor({0.5F, -1.0F}));
  // Token (1, 4) normalises to (-1, 1): logits (-3 + 0.5, 5 - 1).
  const auto logits = model.logits(test::random_images(3, shape).inputs[0]);
  ASSERT_EQ(logits.sizes(), (std::vector<int64_t>{3, 2}));
  EXPECT_NEAR(logits[2][0].item<double>(), -2.5, 1e-5);
  EXPECT_NEAR(logits[2][1].item<double>(), 4.0, 1e-5);
}

TEST(Vit, CutsImagesIntoPatchesInRowOrder) {
  const ModelShape shape = test::tiny_vit();
  Vit model(shape, {{}, 0});
  const torch::NoGradGuard no_grad;
  const auto image = test::random_images(1, shape).inputs[0];
  // Patches 0 and 3 of four change places: rows and columns are halved and swapped, then 1 and 2 swapped
  // back.
  auto swapped = image.clone();
  swapped.slice(2, 0, 4).slice(3, 0, 4).copy_(image.slice(2, 4, 8).slice(3, 4, 8));
  swapped.slice(2, 4, 8).slice(3, 4, 8).copy_(image.slice(2, 0, 4).slice(3, 0, 4));
  const auto before = model.logits(image);
  EXPECT_FALSE(torch::allclose(before, model.logits(swapped)));
  // Their positions (after that of the class token) swapped as well: the class token sees the same set.
  auto positions = value_of(model, "encoder.pos_embedding");
  const auto first = positions[0][1].clone();
  positions[0][1].copy_(positions[0][4]);
  positions[0][4].copy_(first);
  EXPECT_TRUE(torch::allclose(before, model.logits(swapped), 1e-4, 1e-5));
}

TEST(Vit, StartsNearAUniformGuessAndTrains) {
  const ModelShape shape = test::tiny_vit();
  for (const auto dtype : {torch::kFloat, torch::kBFloat16}) {
    Vit model(shape, {dtype, 0});
    const auto loss = model.loss(test::random_images(32, shape));
    EXPECT_NEAR(loss.item<double>(), std::log(10.0), 0.1);
    loss.backward();
    for (const auto& parameter : model.named_parameters()) {
      ASSERT_TRUE(parameter.value.grad().defined()) << parameter.name;
      EXPECT_TRUE(parameter.value.grad().isfinite().all().item<bool>()) << parameter.name;
      EXPECT_GT(parameter.value.grad().abs().max().item<double>(), 0) << parameter.name;
    }
  }
}

TEST(Vit, DropsOutWhileTraining) {
  ModelShape shape = test::tiny_vit();
  const auto images = test::random_images(2, shape).inputs[0];
  Vit certain(shape, {{}, 0});
  EXPECT_TRUE(torch::equal(certain.logits(images), certain.logits(images)));
  shape.dropout = 0.5;
  Vit model(shape, {{}, 0});
  EXPECT_FALSE(torch::equal(model.logits(images), model.logits(images)));
}

TEST(Vit, RefusesImagesOfAnotherSize) {
  Vit model(test::tiny_vit(), {torch::TensorOptions(torch::kMeta), 0});
  try {
    model.logits(torch::zeros({2, 3, 16, 16}));
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::usage);
    EXPECT_THAT(error.what(), ::testing::HasSubstr("images [B, 3, 8, 8], found [2, 3, 16, 16]"));
  }
}

}  // namespace
}  // namespace flopmark
