#include <cmath>

#include "models/autocast.h"
#include "unit/models/exported_model_fixture.h"

namespace flopmark {
namespace {

using test::batch_of;
using test::end_with_sum;
using test::ExportedFile;
using test::json;
using test::one_to;
using test::product_of;
using test::tensor_arg;
using ::testing::AllOf;
using ::testing::HasSubstr;

using ExportedRegionsTest = test::ExportedModelTest;

/// A region with one node, y = x * w.
json region(const std::string& operator_name, const std::vector<json>& modes) {
  json graph = {{"inputs", {tensor_arg("inner_x"), tensor_arg("inner_w")}},
                {"outputs", {tensor_arg("inner_y")}},
                {"nodes",
                 {ExportedFile::node_json("torch.ops.aten.mm.default",
                                          {{"self", tensor_arg("inner_x")}, {"mat2", tensor_arg("inner_w")}},
                                          json::array({tensor_arg("inner_y")}), "inside")}}};
  std::vector<test::NamedArg> inputs;
  for (const json& mode : modes) inputs.emplace_back("", mode);
  inputs.emplace_back("", json{{"as_graph", {{"name", "submod"}, {"graph", graph}}}});
  inputs.emplace_back("", tensor_arg("x"));
  inputs.emplace_back("", tensor_arg("w"));
  return ExportedFile::node_json("torch.ops.higher_order." + operator_name, inputs,
                                 json::array({tensor_arg("y")}));
}

/// loss = sum(region(x, w)) + sum(w).
ExportedFile with_region(const json& node) {
  ExportedFile file;
  file.parameter("w", one_to(4, {2, 2}).requires_grad_()).input("x", {2, 2}).node(node);
  file.node("torch.ops.aten.sum.dim_IntList",
            {{"self", tensor_arg("y")}, {"dim", {{"as_ints", {0, 1}}}}, {"dtype", {{"as_scalar_type", 7}}}},
            "inner");
  file.node("torch.ops.aten.sum.default", {{"self", tensor_arg("w")}}, "outer");
  file.node("torch.ops.aten.add.Tensor", {{"self", tensor_arg("inner")}, {"other", tensor_arg("outer")}},
            "loss");
  file.result("loss");
  return file;
}

TEST_F(ExportedRegionsTest, ARegionWithoutGradientsIsOne) {
  for (const bool enabled : {false, true}) {
    const auto model = model_of(with_region(region("wrap_with_set_grad_enabled", {{{"as_bool", enabled}}})));
    const auto loss = model->loss(batch_of({torch::ones({2, 2})}));
    EXPECT_EQ(loss.item<float>(), 20 + 10);
    EXPECT_TRUE(c10::GradMode::is_enabled());
    loss.backward();
    EXPECT_EQ(model->parameters()[0].grad()[0][0].item<float>(), enabled ? 3 : 1);
  }
}

TEST_F(ExportedRegionsTest, ARegionUnderAutocastIsOne) {
  const std::vector<json> modes = {
      {{"as_string", "cpu"}}, {{"as_scalar_type", 13}}, {{"as_bool", true}}, {{"as_none", true}}};
  ExportedFile file = with_region(region("wrap_with_autocast", modes));
  const float third = 1.0F / 3;
  const auto model = model_of(file);
  const auto value = model->loss(batch_of({torch::full({2, 2}, third)})).item<float>();
  const float rounded = torch::full({}, third).to(torch::kBFloat16).to(torch::kFloat).item<float>();
  EXPECT_NEAR(value, 2 * rounded * 10 + 10, 0.05);
  EXPECT_NE(value, 2 * third * 10 + 10);
  EXPECT_FALSE(at::autocast::is_autocast_enabled(at::kCPU));
  std::vector<json> off = modes;
  off[2] = {{"as_bool", false}};
  const AutocastGuard outer({torch::kCPU, true});
  EXPECT_FLOAT_EQ(model_of(with_region(region("wrap_with_autocast", off)))
                      ->loss(batch_of({torch::full({2, 2}, third)}))
                      .item<float>(),
                  2 * third * 10 + 10);
}

TEST_F(ExportedRegionsTest, RefusesWhatIsNoTensorArithmetic) {
  const auto with = [&](const std::string& target, const std::vector<test::NamedArg>& inputs) {
    ExportedFile file = product_of(test::weight({2}), {2});
    file.node(target, inputs, "stolen");
    return refusal(end_with_sum(file, "product"));
  };
  const test::NamedArg passwords{"filename", {{"as_string", "/etc/passwd"}}};
  EXPECT_THAT(
      with("torch.ops.aten.from_file.default", {passwords}),
      AllOf(HasSubstr("\"aten::from_file\" is no tensor arithmetic: refused"), HasSubstr("node \"node_of_")));
  EXPECT_THAT(with("torch.ops.aten._print.default", {{"s", {{"as_string", "x"}}}}),
              HasSubstr("aten::_print"));
  EXPECT_THAT(with("torch.ops.aten.save.default", {}), HasSubstr("refused"));
  EXPECT_THAT(with("torch.ops.aten.record_stream.default", {{"self", tensor_arg("x")}}),
              HasSubstr("refused"));
  EXPECT_THAT(with("torch.ops.aten.set_.source_Storage", {{"self", tensor_arg("x")}}), HasSubstr("refused"));
  EXPECT_THAT(with("torch.ops.quantized.add_relu.default", {}), HasSubstr("quantized::add_relu"));
  EXPECT_THAT(with("torch.ops.aten.fancy_new.Tensor", {{"self", tensor_arg("x")}}),
              HasSubstr("has no operator \"aten::fancy_new.Tensor\"; export the model without it"));
  EXPECT_THAT(with("torch.ops.mylib.attention.default", {}),
              HasSubstr("has no operator \"mylib::attention\""));
  EXPECT_THAT(with("torch.ops.higher_order.cond", {}),
              HasSubstr("the higher-order operator \"torch.ops.higher_order.cond\" is not run here"));
  EXPECT_THAT(with("os.system", {}), HasSubstr("\"os.system\" is no operator that is known here"));
  EXPECT_THAT(with("torch.ops.aten.relu", {}), HasSubstr("no operator that is known here"));
}

/// The dispatcher would look the number up in its table of dtypes.
TEST_F(ExportedRegionsTest, ANumberIsNoDtype) {
  ExportedFile file = product_of(test::weight({2}), {2});
  file.node("torch.ops.aten.zeros.default", {{"size", {{"as_ints", {2}}}}, {"dtype", {{"as_int", 200}}}},
            "zeros");
  EXPECT_THAT(refusal(end_with_sum(file, "zeros")), HasSubstr("argument dtype: is given as_int"));
}

TEST_F(ExportedRegionsTest, RefusedOperatorsAreFoundInRegionsToo) {
  json node = region("wrap_with_set_grad_enabled", {{{"as_bool", false}}});
  json& inner = node["inputs"][1]["arg"]["as_graph"]["graph"]["nodes"];
  inner.push_back(ExportedFile::node_json("torch.ops.aten.from_file.default",
                                          {{"filename", {{"as_string", "f"}}}},
                                          json::array({tensor_arg("stolen")})));
  EXPECT_THAT(refusal(with_region(node)), HasSubstr("aten::from_file"));
}

}  // namespace
}  // namespace flopmark
