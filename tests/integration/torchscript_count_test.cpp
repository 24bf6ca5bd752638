// Models from files, counted: public cases by hand, and four foreign models against figures made in Python.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>

#include "unit/models/script_modules.h"
#include "worker/job.h"

namespace flopmark {
namespace {

using test::script_module;

struct CountedModel {
  int64_t parameters = 0;
  FlopTotals flops;
  std::vector<double> losses;
};

/// Loads a config and counts its first step; later ones, which the graph executor has optimized, must agree.
CountedModel count_model(const std::string& file, const std::vector<std::string>& sets) {
  RunConfig config = load_config(file, sets);
  config.device = "cpu";
  Job job = make_job(config);
  const auto step = make_step(job, config);
  CountedModel counted;
  counted.parameters = step->parameters();
  counted.flops = step->count();
  counted.losses = step->end_block().losses;
  for (int again = 0; again < 4; ++again) {
    const FlopTotals later = step->count();
    EXPECT_EQ(later.forward_flop, counted.flops.forward_flop) << again;
    EXPECT_EQ(later.model_flop(), counted.flops.model_flop()) << again;
    EXPECT_EQ(later.hardware_flop(), counted.flops.hardware_flop()) << again;
  }
  EXPECT_FALSE(counted.flops.lower_bound);
  EXPECT_EQ(counted.flops.recompute_flop, 0);
  return counted;
}

/// The loss of the first step when nothing observes it.
std::vector<double> plain_losses(const std::string& file, const std::vector<std::string>& sets) {
  RunConfig config = load_config(file, sets);
  config.device = "cpu";
  Job job = make_job(config);
  const auto step = make_step(job, config);
  step->begin_block(1);
  step->next_batch();
  step->transfer();
  step->forward();
  step->backward();
  step->update();
  return step->end_block().losses;
}

CountedModel count_saved(const torch::jit::Module& module, const std::string& inputs) {
  const test::ModelFolder folder;
  const std::string file = folder.path("model.pt");
  module.save(file);
  return count_model(file, {"data.inputs=" + inputs});
}

TEST(TorchScriptCount, PerceptronOfFourSamples) {  // public case A01
  const test::ModelFolder folder;
  const std::string file = folder.path("mlp.pt");
  test::script_mlp({784, 512, 512, 10}).save(file);
  const CountedModel counted = count_model(
      file,
      {"model.loss=cross_entropy",
       R"(data.inputs=[{"shape": [4, 784], "dtype": "float32"}, {"shape": [4], "dtype": "int64", "high": 10}])"});
  EXPECT_EQ(counted.parameters, 669'706);
  EXPECT_EQ(counted.flops.forward_flop, 5'349'376);
  EXPECT_EQ(counted.flops.backward_flop, 7'487'488);
  EXPECT_EQ(counted.flops.model_flop(), 12'836'864);
}

TEST(TorchScriptCount, TransposedConvolution) {  // public case A03
  const auto up = test::weight({4, 6, 2, 2});
  const std::string inputs = R"([{"shape": [2, 4, 5, 6], "dtype": "float32"}])";
  const CountedModel alone = count_saved(
      script_module(
          {{"up", up}},
          "def forward(self, x):\n  return torch.sum(torch.conv_transpose2d(x, self.up, None, [2, 2]))\n"),
      inputs);
  EXPECT_EQ(alone.flops.forward_flop, 11'520);
  EXPECT_EQ(alone.flops.backward_flop, 11'520);
  const CountedModel after_another = count_saved(
      script_module(
          {{"first", test::weight({4, 4, 1, 1})}, {"up", up}},
          "def forward(self, x):\n"
          "  return torch.sum(torch.conv_transpose2d(torch.conv2d(x, self.first), self.up, None, [2, 2]))\n"),
      inputs);
  EXPECT_EQ(after_another.flops.forward_flop, 13'440);
  EXPECT_EQ(after_another.flops.backward_flop, 24'960);
}

TEST(TorchScriptCount, OneLayerAtThreePlaces) {  // public case A05
  const auto weight = test::weight({100, 100}), bias = test::weight({100});
  const CountedModel counted = count_saved(
      script_module(
          {{"w1", weight}, {"w2", weight}, {"w3", weight}, {"b1", bias}, {"b2", bias}, {"b3", bias}},
          "def forward(self, x):\n"
          "  a, b, c = torch.chunk(x, 3, 1)\n"
          "  y = [torch.linear(a, self.w1, self.b1), torch.linear(b, self.w2, self.b2),"
          " torch.linear(c, self.w3, self.b3)]\n"
          "  return torch.sum(torch.cat(y, 1))\n"),
      R"([{"shape": [1, 300], "dtype": "float32"}])");
  EXPECT_EQ(counted.parameters, 10'100);
  EXPECT_EQ(counted.flops.forward_flop, 60'000);
  EXPECT_EQ(counted.flops.backward_flop, 60'000);
  EXPECT_EQ(counted.flops.model_flop(), 120'000);
}

// examples/mlp.pt, which the README runs. FLOPMARK_UPDATE_GOLDEN=1 writes it.
TEST(TorchScriptCount, TheExampleOfTheReadme) {
  const std::string file = FLOPMARK_SOURCE_DIR "/examples/mlp.pt";
  const char* update = std::getenv("FLOPMARK_UPDATE_GOLDEN");
  if (update != nullptr && std::string(update) == "1") test::script_mlp({32, 64, 10}).save(file);
  const CountedModel counted = count_model(
      file,
      {"model.loss=cross_entropy",
       R"(data.inputs=[{"shape": [16, 32], "dtype": "float32"}, {"shape": [16], "dtype": "int64", "high": 10}])"});
  EXPECT_EQ(counted.parameters, 32 * 64 + 64 + 64 * 10 + 10);
  EXPECT_EQ(counted.flops.forward_flop, 2 * 16 * (32 * 64 + 64 * 10));
  EXPECT_EQ(counted.flops.backward_flop, 2 * 16 * (32 * 64 + 2 * 64 * 10));
}

TEST(TorchScriptCount, AccumulationMultiplies) {
  const std::string file = FLOPMARK_SOURCE_DIR "/examples/mlp.pt";
  const CountedModel counted = count_model(
      file,
      {"model.loss=cross_entropy", "train.gradient_accumulation=3",
       R"(data.inputs=[{"shape": [16, 32], "dtype": "float32"}, {"shape": [16], "dtype": "int64", "high": 10}])"});
  EXPECT_EQ(counted.flops.forward_flop, 3 * 2 * 16 * (32 * 64 + 64 * 10));
}

class ForeignModel : public ::testing::TestWithParam<const char*> {};

TEST_P(ForeignModel, CountsAsItsMakerSays) {
  const std::filesystem::path folder = FLOPMARK_SOURCE_DIR "/../shared/cases/models";
  if (!std::filesystem::exists(folder / "expected.json")) GTEST_SKIP() << folder << " is not here";
  std::ifstream stream(folder / "expected.json");
  const auto expected = nlohmann::json::parse(stream).at("models").at(GetParam());
  const std::string file = (folder / (std::string(GetParam()) + ".pt")).string();
  const std::vector<std::string> sets = {"data.inputs=" + expected.at("inputs").dump()};
  const CountedModel counted = count_model(file, sets);
  EXPECT_EQ(counted.parameters, expected.at("parameters"));
  EXPECT_EQ(counted.flops.forward_flop, expected.at("forward_flop"));
  EXPECT_EQ(counted.flops.model_flop(), expected.at("model_flop"));
  EXPECT_EQ(counted.flops.hardware_flop(), expected.at("hardware_flop"));
  EXPECT_EQ(counted.losses, plain_losses(file, sets));  // to the last bit
}

INSTANTIATE_TEST_SUITE_P(All, ForeignModel,
                         ::testing::Values("timm_test_vit", "timm_test_resnet", "hf_gpt2_tiny",
                                           "hf_llama_gqa_tiny"),
                         [](const auto& one) { return std::string(one.param); });

}  // namespace
}  // namespace flopmark
