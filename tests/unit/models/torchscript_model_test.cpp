#include "models/torchscript_model.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "flopmark/error.h"
#include "unit/models/script_modules.h"

namespace flopmark {
namespace {

using test::script_module;
using ::testing::HasSubstr;

/// Saves a module and loads it as the model of a config.
class TorchScriptModelTest : public ::testing::Test {
 protected:
  std::unique_ptr<TorchScriptModel> model_of(const torch::jit::Module& module, const std::string& loss = "",
                                             int64_t inputs = 2, torch::Dtype dtype = torch::kFloat) {
    ModelShape shape;
    shape.type = "torchscript";
    shape.torchscript = folder_.path("model.pt");
    shape.loss = loss;
    module.save(shape.torchscript);
    return std::make_unique<TorchScriptModel>(shape, ModelOptions{dtype, 0, inputs});
  }

  /// What a model with this forward(self, x, y) is refused with, at load or for its first loss.
  std::string refusal(const std::string& source, const std::string& loss = "", int64_t inputs = 2) {
    try {
      const auto model = model_of(script_module({{"w", test::weight({2, 2})}}, source), loss, inputs);
      model->loss({{torch::ones({2, 2}), torch::ones({2, 2})}, 2, 0, 0});
      return "accepted";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ExitCode::usage);
      return error.what();
    }
  }

  test::ModelFolder folder_;
};

Batch logits_batch(const torch::Tensor& target) {
  return {{torch::ones({2, 2}), target}, 2, 0, 0};
}

/// forward gives x W with W = ((1, 2), (3, 4)): rows of (4, 6) for ones.
torch::jit::Module product() {
  const auto w = torch::tensor({1.0F, 2.0F, 3.0F, 4.0F}).view({2, 2}).requires_grad_();
  return script_module({{"w", w}}, "def forward(self, x):\n  return torch.matmul(x, self.w)\n");
}

TEST_F(TorchScriptModelTest, ForwardGivesTheLossItself) {
  const auto model =
      model_of(script_module({{"w", torch::tensor({2.0F, 5.0F}).requires_grad_()}},
                             "def forward(self, x, y):\n  return torch.sum(x * self.w) + torch.sum(y)\n"));
  const auto loss = model->loss({{torch::tensor({1.0F, 10.0F}), torch::tensor({3.0F})}, 1, 0, 0});
  EXPECT_FLOAT_EQ(loss.item<float>(), 55.0F);
  loss.backward();
  EXPECT_TRUE(torch::equal(model->parameters().at(0).grad(), torch::tensor({1.0F, 10.0F})));
}

TEST_F(TorchScriptModelTest, TakesTheLossOfTheOutputByHand) {
  // Logits (4, 6): loss of class 0 ln(1 + e^2), of class 1 ln(1 + e^-2).
  const auto classes = model_of(product(), "cross_entropy");
  EXPECT_NEAR(classes->loss(logits_batch(torch::tensor({int64_t{0}, int64_t{1}}))).item<double>(),
              (std::log1p(std::exp(2.0)) + std::log1p(std::exp(-2.0))) / 2, 1e-6);
  const auto squares = model_of(product(), "mse");  // of (4, 6) and (1, 1): (9 + 25) / 2
  EXPECT_FLOAT_EQ(squares->loss(logits_batch(torch::ones({2, 2}))).item<float>(), 17.0F);
}

TEST_F(TorchScriptModelTest, ClassesMayBeLastOrSecond) {
  const auto identity = script_module({{"w", torch::zeros({1}).requires_grad_()}},
                                      "def forward(self, x):\n  return x + self.w\n");
  const auto model = model_of(identity, "cross_entropy");
  const auto scores = torch::randn({2, 5, 3}, at::detail::createCPUGenerator(4));
  const auto of = [&](const torch::Tensor& x, const torch::Tensor& target) {
    return model->loss({{x, target}, 2, 0, 0}).item<double>();
  };
  const auto last = torch::tensor({0, 1, 2, 0, 1, 2, 2, 2, 1, 0}, torch::kLong).view({2, 5});
  EXPECT_NEAR(of(scores, last), of(scores.transpose(1, 2).contiguous(), last), 1e-6);
  try {
    of(scores, torch::zeros({2, 4}, torch::kLong));
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::usage);
    EXPECT_THAT(error.what(),
                HasSubstr("forward returned Float [2, 5, 3], which does not go with the target Long [2, 4]"));
  }
}

TEST_F(TorchScriptModelTest, ASharedParameterIsListedOnce) {
  const auto shared = test::weight({100, 100});
  const auto model =
      model_of(script_module({{"a", shared}, {"b", shared}, {"c", test::weight({100})}},
                             "def forward(self, x, y):\n"
                             "  return torch.sum(torch.linear(torch.linear(x, self.a), self.b, self.c))\n"));
  ASSERT_EQ(model->parameters().size(), 2U);
  EXPECT_EQ(model->parameters()[0].numel() + model->parameters()[1].numel(), 10100);
}

TEST_F(TorchScriptModelTest, FrozenParametersAreNotTrained) {
  const auto model =
      model_of(script_module({{"a", torch::ones({2})}, {"b", test::weight({2})}},
                             "def forward(self, x, y):\n  return torch.sum(x * self.a * self.b)\n"));
  EXPECT_EQ(model->parameters().size(), 1U);
  EXPECT_THAT(refusal("def forward(self, x, y):\n  return torch.sum(x)\n"), HasSubstr("without a gradient"));
}

TEST_F(TorchScriptModelTest, TrainsInTrainModeWhateverItWasSavedIn) {
  auto module = script_module({{"w", test::weight({1})}},
                              "def forward(self, x, y):\n"
                              "  z = torch.sum(self.w) * 0.0\n"
                              "  if self.training:\n    z = z + 1.0\n"
                              "  return z\n");
  module.eval();
  EXPECT_EQ(model_of(module)->loss({{torch::ones({1}), torch::ones({1})}, 1, 0, 0}).item<double>(), 1.0);
}

TEST_F(TorchScriptModelTest, ParametersAndBuffersTakeThePrecisionsType) {
  auto module = script_module({{"w", test::weight({2, 2})}}, "");
  module.register_buffer("scale", torch::full({1}, 2.0F));
  module.register_buffer("count", torch::ones({1}, torch::kLong));
  module.define(
      "def forward(self, x, y):\n"
      "  return torch.sum(torch.matmul(x, self.w) * self.scale) + torch.sum(self.count)\n");
  const auto model = model_of(module, "", 2, torch::kBFloat16);
  ASSERT_EQ(model->parameters().size(), 1U);
  EXPECT_EQ(model->parameters()[0].scalar_type(), torch::kBFloat16);
  EXPECT_TRUE(model->parameters()[0].requires_grad());
  const auto loss = model->loss({{torch::ones({2, 2}), torch::ones({2})}, 2, 0, 0});  // float32 inputs
  EXPECT_EQ(loss.scalar_type(), torch::kFloat);
  loss.backward();
  EXPECT_EQ(model->parameters()[0].grad().scalar_type(), torch::kBFloat16);
}

TEST_F(TorchScriptModelTest, RefusesWhatForwardDoesNotTake) {
  EXPECT_THAT(refusal("def forward(self, x):\n  return torch.sum(x * self.w)\n"),
              HasSubstr("data.inputs: 2 of them go to forward, but that of"));
  EXPECT_THAT(refusal("def forward(self, x):\n  return torch.sum(x * self.w)\n"),
              HasSubstr("takes 1; give one entry"));
  EXPECT_THAT(refusal("def forward(self, x, y):\n  return x * self.w\n", "mse"),
              HasSubstr("1 of them go to forward (the last is the target of model.loss)"));
  EXPECT_THAT(refusal("def forward(self, x, n: int):\n  return torch.sum(x * self.w) * n\n"),
              HasSubstr("wants int for its argument n, not a tensor"));
  EXPECT_THAT(refusal("def go(self, x):\n  return x\n"), HasSubstr("has no forward"));
  EXPECT_EQ(refusal("def forward(self, x, y, z: Optional[Tensor] = None):\n  return torch.sum(x * self.w)\n"),
            "accepted");
}

TEST_F(TorchScriptModelTest, RefusesOutputsThatAreNoLoss) {
  EXPECT_THAT(
      refusal("def forward(self, x, y):\n  return x * self.w\n"),
      HasSubstr("forward returned a tensor Float [2, 2], expected the loss, a tensor with one value"));
  EXPECT_THAT(refusal("def forward(self, x, y):\n  return (torch.sum(x * self.w), y)\n"),
              HasSubstr("forward returned a value of type (Tensor, Tensor), expected the loss"));
  EXPECT_THAT(refusal("def forward(self, x, y):\n  return 3\n"), HasSubstr("a value of type int"));
  EXPECT_THAT(refusal("def forward(self, x):\n  return (x * self.w, x)\n", "mse"),
              HasSubstr("expected a tensor to take the loss of"));
  EXPECT_THAT(
      refusal("def forward(self, x):\n  return torch.sum(x * self.w)\n", "mse"),
      HasSubstr("forward returned Float [], but the target (the last of data.inputs) is Float [2, 2]"));
}

}  // namespace
}  // namespace flopmark
