#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "flopmark/error.h"
#include "models/exported_model.h"
#include "unit/models/exported_file.h"

namespace flopmark::test {

/// Writes a file and loads it as the model of a config.
class ExportedModelTest : public ::testing::Test {
 protected:
  std::unique_ptr<ExportedModel> model_of(const ExportedFile& file, const std::string& loss = "",
                                          int64_t inputs = 1, torch::Dtype dtype = torch::kFloat) {
    ModelShape shape;
    shape.type = "exported";
    shape.exported = file.write(folder_.path("model.pt2"));
    shape.loss = loss;
    return std::make_unique<ExportedModel>(shape, ModelOptions{dtype, 0, 0, inputs});
  }

  /// What loading, or the first loss of `inputs`, is refused with.
  std::string refusal(const ExportedFile& file, const std::vector<torch::Tensor>& inputs = {},
                      ExitCode code = ExitCode::cannot_judge, const std::string& loss = "") {
    try {
      const auto model = model_of(file, loss, std::max<int64_t>(std::ssize(inputs), 1));
      if (!inputs.empty()) model->loss(batch_of(inputs));
      return "accepted";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), code) << error.what();
      return error.what();
    }
  }

  ModelFolder folder_;
};

inline torch::Tensor one_to(int64_t last, at::IntArrayRef sizes) {
  return torch::arange(1, last + 1).to(torch::kFloat).view(sizes);
}

/// sum(x * w) of a parameter w and what `add` puts between.
inline ExportedFile product_of(const torch::Tensor& w, const json& x_sizes) {
  ExportedFile file;
  file.parameter("w", w).input("x", x_sizes);
  file.node("torch.ops.aten.mul.Tensor", {{"self", tensor_arg("x")}, {"other", tensor_arg("w")}}, "product");
  return file;
}

inline ExportedFile& end_with_sum(ExportedFile& file, const std::string& of) {
  return file.node("torch.ops.aten.sum.default", {{"self", tensor_arg(of)}}, "loss").result("loss");
}

}  // namespace flopmark::test
