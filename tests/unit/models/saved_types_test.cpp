#include "models/saved_types.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "models/torchscript_model.h"
#include "unit/models/exported_model_fixture.h"

namespace flopmark {
namespace {

using test::batch_of;
using test::end_with_sum;
using test::ExportedFile;
using test::product_of;
using test::script_module;
using test::tensor_arg;
using ::testing::AllOf;
using ::testing::HasSubstr;

using SavedTypesTest = test::ExportedModelTest;

/// linear(float32(linear(bfloat16(x * a), b)), c): a and c are float32, b is bfloat16, as large models are
/// saved.
ExportedFile mixed_model() {
  ExportedFile file;
  file.parameter("a", torch::ones({3}).requires_grad_());
  file.parameter("b", torch::ones({4, 3}, torch::kBFloat16).requires_grad_());
  file.parameter("c", torch::ones({2, 4}).requires_grad_()).input("x", {2, 3});
  const auto cast = [&](const char* from, int dtype, const char* to) {
    file.node("torch.ops.aten.to.dtype", {{"self", tensor_arg(from)}, {"dtype", {{"as_scalar_type", dtype}}}},
              to);
  };
  const auto linear = [&](const char* from, const char* weight, const char* to) {
    file.node("torch.ops.aten.linear.default", {{"input", tensor_arg(from)}, {"weight", tensor_arg(weight)}},
              to);
  };
  file.node("torch.ops.aten.mul.Tensor", {{"self", tensor_arg("x")}, {"other", tensor_arg("a")}}, "scaled");
  cast("scaled", 13, "narrow");
  linear("narrow", "b", "y");
  cast("y", 7, "wide");
  linear("wide", "c", "z");
  return end_with_sum(file, "z");
}

TEST_F(SavedTypesTest, OfAnExportTrainAsTheyAre) {
  const auto model = model_of(mixed_model());
  ASSERT_EQ(model->parameters().size(), 3U);
  const auto loss = model->loss(batch_of({torch::ones({2, 3})}));
  EXPECT_EQ(loss.item<float>(), 2 * 2 * 4 * 3);
  loss.backward();
  for (const torch::Tensor& parameter : model->parameters()) {
    EXPECT_EQ(parameter.grad().scalar_type(), parameter.scalar_type());
  }
}

TEST_F(SavedTypesTest, APrecisionThatCastsSomeOfThemOnlyIsNamed) {
  const auto model = model_of(mixed_model(), "", 1, torch::kBFloat16);
  try {
    model->loss(batch_of({torch::ones({2, 3})}));
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::usage);
    EXPECT_THAT(error.what(),
                AllOf(HasSubstr("model.pt2: its parameters were exported as Float and BFloat16"),
                      HasSubstr("train.precision made the Float ones BFloat16"), HasSubstr("linear"),
                      HasSubstr("use train.precision fp32")));
  }
}

TEST_F(SavedTypesTest, AParameterThatNoOptimizerUpdatesIsRefused) {
  EXPECT_THAT(refusal(product_of(torch::ones({2}, torch::kComplexFloat).requires_grad_(), {2})),
              HasSubstr("a parameter that requires a gradient is ComplexFloat [2], which no optimizer"));
}

std::unique_ptr<TorchScriptModel> model_of(const test::ModelFolder& folder,
                                           const torch::jit::Module& module) {
  ModelShape shape;
  shape.type = "torchscript";
  shape.torchscript = folder.path("model.pt");
  module.save(shape.torchscript);
  return std::make_unique<TorchScriptModel>(shape, ModelOptions{torch::kFloat, 0, 0, 2});
}

TEST(SavedTypes, OfTorchScriptBecomeOne) {
  const test::ModelFolder folder;
  const Batch both{{torch::ones({2, 2}), torch::ones({2, 2})}, 2, 0, 0};
  const test::Parameters parameters = {{"a", torch::ones({2}).requires_grad_()},
                                       {"b", torch::ones({2, 2}, torch::kBFloat16).requires_grad_()}};
  const auto model = model_of(
      folder,
      script_module(parameters,
                    "def forward(self, x, y):\n  return torch.sum(torch.linear(x * self.a, self.b))\n"));
  for (const torch::Tensor& parameter : model->parameters())
    EXPECT_EQ(parameter.scalar_type(), torch::kFloat);
  EXPECT_EQ(model->loss(both).item<float>(), 8);

  const auto with_cast = model_of(
      folder,
      script_module(
          parameters,
          "def forward(self, x, y):\n  return torch.sum(torch.linear((x * self.a).to(dtype=15), self.b))\n"));
  try {
    with_cast->loss(both);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::cannot_judge);
    EXPECT_THAT(error.what(),
                HasSubstr("model.pt: its parameters and buffers were saved as Float and BFloat16"));
    EXPECT_THAT(error.what(), HasSubstr("all were made Float"));
    EXPECT_THAT(error.what(), HasSubstr("dtype"));
  }
}

}  // namespace
}  // namespace flopmark
