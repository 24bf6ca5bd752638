#include "plugin/checked_model.h"

#include <gmock/gmock.h>

#include "unit/plugin/fake_plugins.h"

namespace flopmark {
namespace {

using test::faulty_model;
using test::with_fault;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

Batch twos() {
  return {{torch::full({3, 4}, 2.0F), torch::ones({3})}, 3, 0, 0};
}

std::string refused_loss(const std::string& fault, ExitCode code = ExitCode::cannot_judge) {
  const auto model = faulty_model(with_fault(fault));
  return test::refusal([&] { model->loss(twos()); }, code);
}

std::string refused_parameters(const std::string& fault, ExitCode code = ExitCode::cannot_judge,
                               const torch::TensorOptions& tensor = {}) {
  return test::refusal([&] { faulty_model(with_fault(fault), tensor); }, code);
}

TEST(CheckedModel, TrainsWhatThePluginMakes) {
  const auto model = faulty_model("{}");
  const auto loss = model->loss(twos());
  EXPECT_EQ(loss.item<double>(), 2.0);
  loss.backward();
  ASSERT_EQ(model->parameters().size(), 1U);
  EXPECT_TRUE(torch::equal(model->parameters()[0].grad(), torch::full({4}, 0.5F)));  // 3 x 2 / 12
}

TEST(CheckedModel, TheRequestSaysTypeAndTheLossIsOneFloat) {
  const auto model = faulty_model("{}", torch::kBFloat16);
  EXPECT_EQ(model->parameters()[0].scalar_type(), torch::kBFloat16);
  EXPECT_EQ(model->loss(twos()).scalar_type(), torch::kFloat);
  const auto odd = faulty_model(with_fault("one_by_one"))->loss(twos());
  EXPECT_EQ(odd.dim(), 0);
  EXPECT_EQ(odd.scalar_type(), torch::kFloat);
}

TEST(CheckedModel, WhatLossThrowsNamesThePlugin) {
  EXPECT_THAT(refused_loss("throw"),  // 125 as any std::exception, with phase and step
              AllOf(StartsWith("not an Error: model.plugin "),
                    HasSubstr("loss() of model threw: a fault on purpose")));
  EXPECT_THAT(refused_loss("throw_int"),
              HasSubstr("loss() of model threw something that is not a std::exception"));
  EXPECT_THAT(refused_loss("throw_torch"),
              AllOf(HasSubstr("threw: sizes do not fit"), Not(HasSubstr("frame #"))));
  EXPECT_THAT(refused_loss("oom"), HasSubstr("4503599627370496"));
  EXPECT_THAT(refused_loss("usage", ExitCode::usage), HasSubstr("loss() of model: the batch is too small"));
}

TEST(CheckedModel, APluginCannotCallItsFaultASuccess) {
  EXPECT_THAT(refused_loss("ok"), HasSubstr("loss() of model: all is well"));
}

TEST(CheckedModel, ALossIsOneValueWithAGradient) {
  EXPECT_THAT(
      refused_loss("many_values"),
      HasSubstr("loss() of model returned Float [3, 4] on cpu, expected one floating value with a gradient"));
  EXPECT_THAT(refused_loss("detached"), HasSubstr("returned Float [] on cpu without a gradient"));
  EXPECT_THAT(refused_loss("undefined_loss"), HasSubstr("returned an undefined tensor"));
}

TEST(CheckedModel, ParametersAreThoseToTrainEachOnce) {
  const auto model = faulty_model(with_fault("partly_frozen"));
  ASSERT_EQ(model->parameters().size(), 1U);
  EXPECT_EQ(model->parameters()[0].numel(), 4);
  EXPECT_THAT(
      refused_parameters("no_parameters", ExitCode::usage),
      HasSubstr("none of the 0 parameters of model requires a gradient, so there is nothing to train"));
  EXPECT_THAT(refused_parameters("frozen", ExitCode::usage), HasSubstr("none of the 1 parameters"));
}

TEST(CheckedModel, ParametersThatCannotBeTrainedAreNamed) {
  EXPECT_THAT(refused_parameters("undefined_parameter"),
              HasSubstr("parameters()[1] of model is an undefined tensor"));
  EXPECT_THAT(refused_parameters("computed_parameter"),
              HasSubstr("parameters()[0] of model (Float [4] on cpu) cannot be trained: it was computed"));
  EXPECT_THAT(refused_parameters("other_type"),
              HasSubstr("is Double [2] on cpu, and this run trains Float on cpu; make parameters with"));
  EXPECT_THAT(refused_parameters("elsewhere"),
              HasSubstr("is Float [2] on meta, and this run trains Float on cpu"));
  EXPECT_THAT(refused_parameters("parameters_throw"),
              HasSubstr("parameters() of model threw: no parameters today"));
}

}  // namespace
}  // namespace flopmark
