#include "models/exported_model.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "flopmark/error.h"
#include "models/autocast.h"
#include "unit/models/exported_model_fixture.h"

namespace flopmark {
namespace {

using test::batch_of;
using test::end_with_sum;
using test::ExportedFile;
using test::ExportedModelTest;
using test::json;
using test::one_to;
using test::product_of;
using test::symbol_arg;
using test::tensor_arg;
using test::tensors_arg;
using ::testing::AllOf;
using ::testing::HasSubstr;

TEST_F(ExportedModelTest, ForwardGivesTheLossItself) {
  const auto model = model_of(test::exported_linear(one_to(6, {2, 3}).requires_grad_()));
  const auto x = one_to(6, {2, 3});
  const auto loss = model->loss(batch_of({x}));
  EXPECT_FLOAT_EQ(loss.item<float>(), 14 + 32 + 32 + 77);
  loss.backward();
  ASSERT_EQ(model->parameters().size(), 1U);
  EXPECT_TRUE(torch::equal(model->parameters()[0].grad(),
                           torch::tensor({5.F, 7.F, 9.F, 5.F, 7.F, 9.F}).view({2, 3})));
}

TEST_F(ExportedModelTest, TakesTheLossOfTheFirstResult) {
  ExportedFile file = product_of(torch::tensor({1.F, 2.F}).requires_grad_(), {2, 2});
  file.result("product").result("x");
  const auto model = model_of(file, "mse", 2);  // (1, 2) and (1, 1): (0 + 1) / 2
  EXPECT_FLOAT_EQ(model->loss(batch_of({torch::ones({2, 2}), torch::ones({2, 2})})).item<float>(), 0.5F);
  const auto classes = model_of(file, "cross_entropy", 2);
  EXPECT_NEAR(classes->loss(batch_of({torch::ones({2, 2}), torch::zeros({2}, torch::kLong)})).item<double>(),
              std::log1p(std::exp(1.0)), 1e-6);
  EXPECT_THAT(refusal(file, {torch::ones({2, 2})}, ExitCode::usage),
              HasSubstr("forward returned a tensor Float [2, 2], expected the loss"));
}

TEST_F(ExportedModelTest, ASharedParameterIsOne) {
  const auto w = test::weight({3, 3});
  ExportedFile file;
  file.parameter("a", w).parameter("b", w).parameter("c", test::weight({3, 3}, 2)).input("x", {2, 3});
  file.node("torch.ops.aten.linear.default", {{"input", tensor_arg("x")}, {"weight", tensor_arg("a")}}, "y");
  file.node("torch.ops.aten.linear.default", {{"input", tensor_arg("y")}, {"weight", tensor_arg("b")}}, "z");
  const auto model = model_of(end_with_sum(file, "z"));
  ASSERT_EQ(model->parameters().size(), 2U);
  const auto x = one_to(6, {2, 3});
  model->loss(batch_of({x})).backward();
  const auto reference = w.detach().clone().requires_grad_();
  torch::linear(torch::linear(x, reference), reference).sum().backward();
  EXPECT_TRUE(torch::allclose(model->parameters()[0].grad(), reference.grad()));
}

TEST_F(ExportedModelTest, ViewsOfOneStorageStayViews) {
  const auto whole = torch::zeros({2, 2});
  ExportedFile file;
  file.parameter("w", torch::ones({2}).requires_grad_()).buffer("all", whole).buffer("second", whole[1]);
  file.input("x", {2});
  file.node("torch.ops.aten.add_.Tensor", {{"self", tensor_arg("second")}, {"other", tensor_arg("x")}},
            "changed");
  file.node("torch.ops.aten.mul.Tensor", {{"self", tensor_arg("all")}, {"other", tensor_arg("w")}}, "y");
  const auto model = model_of(end_with_sum(file, "y"));
  EXPECT_EQ(model->loss(batch_of({torch::ones({2})})).item<float>(), 2);
  EXPECT_EQ(model->loss(batch_of({torch::ones({2})})).item<float>(), 4);
}

TEST_F(ExportedModelTest, ReturnedBuffersAreWrittenAfterBackward) {
  ExportedFile file;
  file.parameter("w", torch::full({}, 3.F).requires_grad_())
      .buffer("steps", torch::full({1}, 2.F))
      .input("x", {1});
  file.node("torch.ops.aten.mul.Tensor", {{"self", tensor_arg("w")}, {"other", tensor_arg("steps")}}, "y");
  file.node("torch.ops.aten.add.Tensor", {{"self", tensor_arg("steps")}, {"other", tensor_arg("x")}}, "next");
  end_with_sum(file, "y").mutation("steps", "next");
  const auto model = model_of(file);
  const auto loss = model->loss(batch_of({torch::full({1}, 10.F)}));
  EXPECT_EQ(loss.item<float>(), 6);
  loss.backward();  // needs steps = 2
  EXPECT_EQ(model->parameters()[0].grad().item<float>(), 2);
  EXPECT_EQ(model->loss(batch_of({torch::full({1}, 10.F)})).item<float>(), 36);
  EXPECT_EQ(model->loss(batch_of({torch::full({1}, 10.F)})).item<float>(), 66);
}

TEST_F(ExportedModelTest, OnlyParametersThatRequireAGradientAreTrained) {
  ExportedFile file;
  file.parameter("a", torch::ones({2})).parameter("b", test::weight({2})).input("x", {2});
  file.node("torch.ops.aten.mul.Tensor", {{"self", tensor_arg("a")}, {"other", tensor_arg("b")}}, "y");
  EXPECT_EQ(model_of(end_with_sum(file, "y"))->parameters().size(), 1U);
  EXPECT_THAT(refusal(test::exported_linear(torch::ones({4, 3})), {}, ExitCode::usage),
              HasSubstr("none of its 1 parameters requires a gradient"));
}

TEST_F(ExportedModelTest, ArgumentsBecomeWhatTheOperatorWants) {
  // A number in a tensor's place does not decide the type: float16 stays; a float may be given as int.
  ExportedFile file = product_of(torch::ones({2, 2}).requires_grad_(), {2, 2});
  file.node("torch.ops.aten.mul.Tensor", {{"self", tensor_arg("product")}, {"other", {{"as_float", 2.5}}}},
            "scaled");
  file.node("torch.ops.aten.leaky_relu.default",
            {{"self", tensor_arg("scaled")}, {"negative_slope", {{"as_int", 1}}}}, "relu");
  file.node("torch.ops.aten.clamp.default",
            {{"self", tensor_arg("relu")}, {"max", {{"as_float", "Infinity"}}}}, "clamped");
  file.node("torch.ops.aten.avg_pool2d.default",
            {{"self", tensor_arg("image")}, {"kernel_size", {{"as_int", 2}}}}, "pooled");
  json& nodes = file.graph()["nodes"];
  nodes.insert(nodes.end() - 1, ExportedFile::node_json(
                                    "torch.ops.aten.reshape.default",
                                    {{"self", tensor_arg("clamped")}, {"shape", {{"as_ints", {1, 1, 2, 2}}}}},
                                    json::array({tensor_arg("image")})));
  const auto model = model_of(end_with_sum(file, "pooled"));
  EXPECT_FLOAT_EQ(model->loss(batch_of({one_to(4, {2, 2})})).item<float>(), 2.5F * 2.5F);
}

TEST_F(ExportedModelTest, SeveralResultsAreInOrder) {
  ExportedFile file = product_of(torch::ones({2, 3}).requires_grad_(), {2, 3});
  file.node(ExportedFile::node_json("torch.ops.aten.max.dim",
                                    {{"self", tensor_arg("product")}, {"dim", {{"as_int", 1}}}},
                                    json::array({tensor_arg("most"), tensor_arg("places")})));
  file.node(ExportedFile::node_json(
      "torch.ops.aten.split.Tensor",
      {{"self", tensor_arg("product")}, {"split_size", {{"as_int", 1}}}, {"dim", {{"as_int", 1}}}},
      json::array({tensors_arg({"first", "second", "third"})})));
  file.node("torch.ops.aten.cat.default", {{"tensors", tensors_arg({"third", "third"})}}, "twice");
  file.node("torch.ops.aten.index.Tensor",
            {{"self", tensor_arg("twice")},
             {"indices", {{"as_optional_tensors", {tensor_arg("places"), {{"as_none", true}}}}}}},
            "picked");
  file.node("torch.ops.aten.mul.Tensor", {{"self", tensor_arg("picked")}, {"other", tensor_arg("most")}},
            "y");
  // x = (1 5 3; 4 2 6): most (5 6), places (1 2), thirds (3 6 3 6): picked (6 3)^T, times (5 6): 9 * 11.
  const auto x = torch::tensor({1.F, 5.F, 3.F, 4.F, 2.F, 6.F}).view({2, 3});
  EXPECT_FLOAT_EQ(model_of(end_with_sum(file, "y"))->loss(batch_of({x})).item<float>(), 99);
}

TEST_F(ExportedModelTest, DevicesBecomeThatOfTheRun) {
  ExportedFile file = product_of(torch::ones({2}).requires_grad_(), {2});
  const json gpu = {{"as_device", {{"type", "cuda"}, {"index", 1}}}};
  file.node("torch.ops.aten.arange.default", {{"end", {{"as_int", 2}}}, {"device", gpu}}, "range");
  file.node(ExportedFile::node_json(
      "torch.ops.aten._assert_tensor_metadata.default",
      {{"a", tensor_arg("product")}, {"dtype", {{"as_scalar_type", 8}}}, {"device", gpu}}, json::array()));
  file.node("torch.ops.aten.mul.Tensor", {{"self", tensor_arg("product")}, {"other", tensor_arg("range")}},
            "y");
  EXPECT_EQ(model_of(end_with_sum(file, "y"))->loss(batch_of({torch::ones({2})})).item<float>(), 1);
}

TEST_F(ExportedModelTest, ParametersAndBuffersTakeThePrecisionsType) {
  ExportedFile file = product_of(torch::ones({2}).requires_grad_(), {2});
  file.buffer("b", torch::ones({2})).buffer("n", torch::ones({1}, torch::kLong));
  file.node("torch.ops.aten.mul.Tensor", {{"self", tensor_arg("product")}, {"other", tensor_arg("b")}}, "y");
  const auto model = model_of(end_with_sum(file, "y"), "", 1, torch::kBFloat16);
  EXPECT_EQ(model->parameters()[0].scalar_type(), torch::kBFloat16);
  const auto loss = model->loss(batch_of({torch::ones({2})}));
  EXPECT_EQ(loss.scalar_type(), torch::kFloat);
  loss.backward();
  EXPECT_EQ(model->parameters()[0].grad().scalar_type(), torch::kBFloat16);
}

TEST_F(ExportedModelTest, AModelOfAnotherTypeStaysInIt) {
  ExportedFile file;
  file.parameter("w", torch::ones({4, 3}, torch::kDouble).requires_grad_()).input("x", {2, 3}, /*dtype=*/8);
  file.node("torch.ops.aten.linear.default", {{"input", tensor_arg("x")}, {"weight", tensor_arg("w")}}, "y");
  const auto model = model_of(end_with_sum(file, "y"));
  EXPECT_EQ(model->loss(batch_of({torch::ones({2, 3}, torch::kDouble)})).item<float>(), 24);
  EXPECT_EQ(model->parameters()[0].scalar_type(), torch::kDouble);
}

TEST_F(ExportedModelTest, RefusesInputsThatWereNotExported) {
  const ExportedFile file = test::exported_linear(test::weight({4, 3}));
  EXPECT_THAT(refusal(file, {torch::ones({5, 3})}, ExitCode::usage),
              AllOf(HasSubstr("data.inputs[0] is float32 [5, 3], but the argument x of "),
                    HasSubstr("was exported as float32 [2, 3]")));
  EXPECT_THAT(refusal(file, {torch::ones({2, 3}, torch::kLong)}, ExitCode::usage),
              HasSubstr("data.inputs[0] is int64 [2, 3]"));
  EXPECT_THAT(refusal(file, {torch::ones({1, 3})}, ExitCode::usage),
              AllOf(HasSubstr("a batch has 1 samples, but "), HasSubstr("was exported for 2"),
                    HasSubstr("set data.drop_last to true")));
  EXPECT_THAT(refusal(file, {torch::ones({2, 3}), torch::ones({2})}, ExitCode::usage),
              AllOf(HasSubstr("data.inputs: 2 of them go to forward, but that of "),
                    HasSubstr("takes 1 (x); give one")));
  EXPECT_EQ(refusal(file, {torch::ones({2, 3})}), "accepted");
}

/// x [s0, 3] is viewed as [s0 * 3] by arithmetic on its size.
ExportedFile dynamic_model() {
  ExportedFile file;
  file.parameter("w", torch::ones({1}).requires_grad_()).input("x", {"s0", 3}).input("y", {"s0"});
  file.node(ExportedFile::node_json("torch.ops.aten.sym_size.int",
                                    {{"self", tensor_arg("x")}, {"dim", {{"as_int", 0}}}},
                                    json::array({symbol_arg("rows")})));
  file.node(ExportedFile::node_json("_operator.mul", {{"a", symbol_arg("rows")}, {"b", {{"as_int", 3}}}},
                                    json::array({symbol_arg("values")})));
  const json shape = {{"as_sym_ints", {{{"as_name", "values"}}, {{"as_int", 1}}}}};
  file.node("torch.ops.aten.view.default", {{"self", tensor_arg("x")}, {"size", shape}}, "column");
  file.node("torch.ops.aten.mul.Tensor", {{"self", tensor_arg("column")}, {"other", tensor_arg("w")}}, "z");
  file.node("torch.ops.aten.mul.Tensor", {{"self", tensor_arg("z")}, {"other", symbol_arg("rows")}},
            "scaled");
  end_with_sum(file, "scaled");
  file.program()["range_constraints"]["s0"] = {{"min_val", 2}, {"max_val", 64}};
  return file;
}

TEST_F(ExportedModelTest, ADynamicBatchIsWithinItsBounds) {
  const ExportedFile file = dynamic_model();
  for (const int64_t batch : {2, 7, 64}) {
    EXPECT_FLOAT_EQ(
        model_of(file, "", 2)->loss(batch_of({torch::ones({batch, 3}), torch::ones({batch})})).item<float>(),
        static_cast<float>(batch * batch * 3));
  }
  EXPECT_THAT(refusal(file, {torch::ones({65, 3}), torch::ones({65})}, ExitCode::usage),
              AllOf(HasSubstr("dimension 0 of data.inputs[0] (x of "),
                    HasSubstr(") is 65, but the model was exported for 2 to 64 there")));
  EXPECT_THAT(refusal(file, {torch::ones({4, 3}), torch::ones({5})}, ExitCode::usage),
              AllOf(HasSubstr("dimension 0 of data.inputs[1] (y of "),
                    HasSubstr(") is 5, but dimension 0 of data.inputs[0] (x of "),
                    HasSubstr(") is 4, and the model was exported for equal sizes there")));
}

TEST_F(ExportedModelTest, AShapeThatTheGraphCannotTakeNamesTheNode) {
  ExportedFile file;
  file.parameter("w", torch::ones({1}).requires_grad_()).input("x", {"s0", 3});
  file.node("torch.ops.aten.view.default", {{"self", tensor_arg("x")}, {"size", {{"as_ints", {6}}}}}, "flat",
            "body.flatten");
  file.node("torch.ops.aten.mul.Tensor", {{"self", tensor_arg("flat")}, {"other", tensor_arg("w")}}, "y");
  const auto model = model_of(end_with_sum(file, "y"));
  try {
    model->loss(batch_of({torch::ones({4, 3})}));
    FAIL();
  } catch (const c10::Error& error) {
    EXPECT_THAT(
        error.what_without_backtrace(),
        AllOf(HasSubstr("shape '[6]' is invalid for input of size 12"),
              HasSubstr("torch.ops.aten.view.default, module body.flatten; sizes and dtypes are fixed")));
  }
}

TEST_F(ExportedModelTest, ValuesDieAfterTheirLastUse) {
  ExportedFile file = product_of(torch::ones({2}).requires_grad_(), {2});
  file.node("torch.ops.aten.exp.default", {{"self", tensor_arg("product")}}, "unused");
  file.node("torch.ops.aten.relu.default", {{"self", tensor_arg("product")}}, "y");
  const LoadedExport loaded =
      load_export(end_with_sum(file, "y").write(folder_.path("model.pt2")), torch::kCPU);
  // Slots: w 0, x 1, product 2, unused 3, y 4, loss 5.
  const std::vector<std::vector<int>> expected = {{1}, {3}, {2}, {4}};
  ASSERT_EQ(loaded.program.instructions.size(), expected.size());
  for (size_t i = 0; i < expected.size(); ++i)
    EXPECT_EQ(loaded.program.instructions[i].dying, expected[i]) << i;
}

TEST_F(ExportedModelTest, ModulesAreThoseOfThePythonModel) {
  const LoadedExport loaded =
      load_export(test::exported_linear(test::weight({4, 3})).write(folder_.path("model.pt2")), torch::kCPU);
  EXPECT_EQ(loaded.program.instructions.at(0).module, "head");
  EXPECT_EQ(loaded.program.instructions.at(1).module, "");
}

}  // namespace
}  // namespace flopmark
