// Models from torch.export: four foreign ones against figures and losses made in Python.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>

#include "models/exported_model.h"
#include "train/optimizer.h"
#include "unit/models/exported_file.h"
#include "worker/job.h"

namespace flopmark {
namespace {

using nlohmann::json;

const std::filesystem::path kForeignModels = FLOPMARK_SOURCE_DIR "/../shared/cases/models";

json read_json(const std::filesystem::path& file) {
  std::ifstream stream(file);
  return json::parse(stream);
}

RunConfig exported_job_config(const std::string& file, const std::vector<std::string>& sets) {
  RunConfig config = load_config(file, sets);
  config.device = "cpu";
  return complete_config(config);
}

/// FLOPs by the first `depth` parts of the path.
std::map<std::string, int64_t> by_module(const FlopTotals& totals) {
  std::map<std::string, int64_t> flops;
  for (const auto& row : totals.by_module) flops[row.path] += row.hardware_flop();
  return flops;
}

TEST(ExportedCount, ModulesHaveTheirFlopsForwardAndBackward) {
  const test::ModelFolder folder;
  const std::string file = test::exported_linear(test::weight({4, 3})).write(folder.path("model.pt2"));
  const RunConfig config = exported_job_config(file, {});
  EXPECT_EQ(config.data.batch_size, 2);
  Job job = make_job(config);
  const auto step = make_step(job, config);
  const FlopTotals totals = step->count();
  const int64_t product = 2 * 2 * 3 * 4;
  EXPECT_EQ(totals.forward_flop, product);
  EXPECT_EQ(totals.backward_flop, product);  // of the weight; x needs no gradient
  EXPECT_EQ(by_module(totals), (std::map<std::string, int64_t>{{"head", 2 * product}}));
}

class ForeignExport : public ::testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    if (!std::filesystem::exists(kForeignModels / "expected.json"))
      GTEST_SKIP() << kForeignModels << " is not here";
    expected_ = read_json(kForeignModels / "expected.json").at("models").at(GetParam());
  }
  std::string file() const { return (kForeignModels / (std::string(GetParam()) + ".pt2")).string(); }

  json expected_;
};

TEST_P(ForeignExport, CountsAsItsMakerSays) {
  for (const char* precision : {"fp32", "bf16-mixed"}) {
    const RunConfig config = exported_job_config(file(), {std::string("train.precision=") + precision});
    Job job = make_job(config);
    const auto step = make_step(job, config);
    const FlopTotals totals = step->count();
    EXPECT_EQ(step->parameters(), expected_.at("parameters"));
    EXPECT_EQ(totals.forward_flop, expected_.at("forward_flop")) << precision;
    EXPECT_EQ(totals.model_flop(), expected_.at("model_flop")) << precision;
    EXPECT_EQ(totals.hardware_flop(), expected_.at("hardware_flop")) << precision;
    EXPECT_FALSE(totals.lower_bound);
    EXPECT_EQ(totals.recompute_flop, 0);
    EXPECT_EQ(config.data.batch_size, expected_.at("inputs")[0].at("shape")[0]);
    EXPECT_GT(by_module(totals).size(), 5U);
    EXPECT_EQ(by_module(totals).count(""), 0U);  // whatever is counted belongs to a module
  }
}

/// The same numbers as tests/reference/exported_losses.py makes.
torch::Tensor reference_input(const json& spec, int64_t step) {
  const auto shape = spec.at("shape").get<std::vector<int64_t>>();
  int64_t count = 1;
  for (const int64_t size : shape) count *= size;
  const auto place = torch::arange(count, torch::kLong) + 1000 * step;
  if (spec.contains("high")) return (place * 7919).remainder(spec.at("high").get<int64_t>()).view(shape);
  return (((place * 7919).remainder(2048) - 1024).to(torch::kFloat) / 512).view(shape);
}

TEST_P(ForeignExport, TrainsAsPythonDoes) {
  const json reference = read_json(FLOPMARK_SOURCE_DIR "/tests/reference/exported_losses.json");
  ModelShape shape;
  shape.type = "exported";
  shape.exported = file();
  ExportedModel model(shape, {torch::kFloat, 0, 0, 2});
  OptimizerConfig sgd{.type = "sgd", .lr = reference.at("learning_rate"), .weight_decay = 0};
  const auto optimizer = make_optimizer(sgd, model.parameters());
  for (size_t step = 0; step < 5; ++step) {
    const Batch batch =
        test::batch_of({reference_input(expected_.at("inputs")[0], static_cast<int64_t>(step)),
                        reference_input(expected_.at("inputs")[1], static_cast<int64_t>(step))});
    const auto loss = model.loss(batch);
    loss.backward();
    optimizer->step(std::nullopt);
    optimizer->clear_gradients();
    const double python = reference.at("losses").at(GetParam()).at(step);
    EXPECT_NEAR(loss.item<double>(), python, 1e-5 * std::fabs(python)) << step;
  }
}

INSTANTIATE_TEST_SUITE_P(All, ForeignExport,
                         ::testing::Values("timm_test_vit", "timm_test_resnet", "hf_gpt2_tiny",
                                           "hf_llama_gqa_tiny"),
                         [](const auto& one) { return std::string(one.param); });

}  // namespace
}  // namespace flopmark
