#include "data/model_batch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <torch/types.h>

#include "data/datasets.h"
#include "data/masked_tokens.h"
#include "flopmark/error.h"
#include "unit/plugin/fake_plugins.h"

namespace flopmark {
namespace {

using testing::AllOf;
using testing::HasSubstr;

/// Gives the same tensors for whatever is asked.
class FixedData : public Dataset {
 public:
  explicit FixedData(std::vector<torch::Tensor> inputs) : inputs_(std::move(inputs)) {}
  int64_t size() const override { return 100; }
  Batch collate(const std::vector<size_t>& indices) const override {
    return {inputs_, static_cast<int64_t>(indices.size()), 0, 0};
  }

 private:
  std::vector<torch::Tensor> inputs_;
};

RunConfig config_of(const std::string& type) {
  RunConfig config;
  config.model.type = type;
  config.data.type = "plugin";
  config.data.plugin = "/x/libmine.so";
  config.data.plugin_type = "mine";
  config.data.batch_size = 2;
  return config;
}

RunConfig language(const std::string& type, int64_t longest = 0) {
  RunConfig config = config_of(type);
  config.model.vocab_size = 50;
  config.model.max_sequence_length = longest;
  return config;
}

RunConfig images(const std::string& type, int64_t input_size = 0) {
  RunConfig config = config_of(type);
  config.model.classes = 10;
  config.model.image_channels = 3;
  config.model.image_size = 8;
  config.model.input_size = input_size;
  return config;
}

std::string outcome(const RunConfig& config, std::vector<torch::Tensor> inputs) {
  try {
    check_model_batch(config, FixedData(std::move(inputs)));
    return "accepted";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::usage);
    return error.what();
  }
}

torch::Tensor ids(at::IntArrayRef sizes, int64_t value = 3) {
  return torch::full(sizes, value, torch::kLong);
}

TEST(ModelBatch, WhatSuitsTheModelPasses) {
  EXPECT_EQ(outcome(language("llama"), {ids({2, 8}), ids({2, 8})}), "accepted");
  EXPECT_EQ(outcome(language("gpt2", 8), {ids({2, 8}).to(torch::kInt), ids({2, 8}, -100)}), "accepted");
  EXPECT_EQ(outcome(language("gpt2", 8), {ids({2, 8}), ids({16})}), "accepted") << "flat targets";
  EXPECT_EQ(outcome(images("resnet"), {torch::ones({2, 3, 8, 8}), ids({2, 1})}), "accepted") << "a column";
  EXPECT_EQ(outcome(language("bert", 8), {ids({2, 8})}), "accepted");
  EXPECT_EQ(outcome(language("bert", 8), {ids({2, 8}), torch::ones({2})}), "accepted") << "is not read";
  EXPECT_EQ(outcome(images("resnet"), {torch::ones({2, 3, 8, 8}), ids({2})}), "accepted");
  EXPECT_EQ(outcome(images("mlp", 12), {torch::ones({2, 12}), ids({2})}), "accepted");
  EXPECT_EQ(outcome(config_of("plugin"), {torch::ones({2})}), "accepted") << "knows itself what it takes";
}

TEST(ModelBatch, SaysWhatTheModelTakesAndWhatTheDataGave) {
  EXPECT_EQ(outcome(language("gpt2", 8), {torch::ones({2, 8})}),
            "data.plugin /x/libmine.so: a batch of mine has 1 tensor (Float [2, 8]), but model.type gpt2 is "
            "trained on token ids Long [batch, T], T at most 8 (model.max_sequence_length), and as many "
            "targets Long [batch, T], from 0 to 49 (model.vocab_size - 1): there are not two; change the "
            "data set, or the model");
  const auto good = ids({2, 8});
  for (const char* type : {"gpt2", "llama"}) {
    const RunConfig config = language(type, 8);
    EXPECT_THAT(outcome(config, {good, good, good}), HasSubstr("has 3 tensors"));
    EXPECT_THAT(outcome(config, {torch::ones({2, 8}), good}), HasSubstr(": inputs[0] is Float [2, 8];"));
    EXPECT_THAT(outcome(config, {ids({16}), ids({16})}), HasSubstr(": inputs[0] is Long [16];"));
    EXPECT_THAT(outcome(config, {good, ids({2, 7})}), HasSubstr(": inputs[1] is Long [2, 7];"));
    EXPECT_THAT(outcome(config, {good, ids({8, 2})}), HasSubstr(": inputs[1] is Long [8, 2];"));
    EXPECT_THAT(outcome(config, {good, good.to(torch::kInt)}), HasSubstr(": inputs[1] is Int [2, 8];"));
    EXPECT_THAT(outcome(config, {ids({2, 9}), ids({2, 9})}), HasSubstr(": T is 9;"));
    EXPECT_THAT(outcome(config, {ids({2, 8}, 50), good}), HasSubstr(": inputs[0] has the value 50;"));
    EXPECT_THAT(outcome(config, {good, ids({2, 8}, -1)}), HasSubstr(": inputs[1] has the value -1;"));
    EXPECT_THAT(outcome(config, {ids({2, 0}), ids({2, 0})}), HasSubstr(": inputs[0] is empty;"));
  }
  EXPECT_THAT(outcome(language("bert", 8), {good.to(torch::kInt)}), HasSubstr(": inputs[0] is Int [2, 8];"));
  EXPECT_THAT(outcome(language("bert", 8), {}), HasSubstr("0 tensors"));
}

TEST(ModelBatch, OfImagesToo) {
  const auto picture = torch::ones({2, 3, 8, 8});
  EXPECT_THAT(
      outcome(images("resnet"), {torch::ones({2, 3, 9, 9}), ids({2})}),
      AllOf(HasSubstr("model.type resnet is trained on images [batch, 3, 8, 8] (data.image_channels, "),
            HasSubstr("classes Long [batch] from 0 to 9"), HasSubstr(": inputs[0] is Float [2, 3, 9, 9];")));
  EXPECT_THAT(outcome(images("mlp", 12), {picture, ids({2})}),
              HasSubstr("images of 12 values (model.input_size)"));
  EXPECT_THAT(outcome(images("vit"), {picture}), HasSubstr("there are not two"));
  EXPECT_THAT(outcome(images("vit"), {picture, torch::ones({2})}), HasSubstr(": inputs[1] is Float [2];"));
  EXPECT_THAT(outcome(images("vit"), {picture, ids({2}, 10)}), HasSubstr(": inputs[1] has the value 10;"));
}

TEST(ModelBatch, APluginsDataIsHeldAgainstTheModelAtOnce) {
  for (const char* type : {"bert", "gpt2", "llama"}) {
    RunConfig config = language(type, 8);
    config.data.plugin = FLOPMARK_FAKE_PLUGINS "/libflopmark-faulty-plugin.so";
    config.data.plugin_type = "data";
    EXPECT_THAT(test::refusal([&] { make_dataset(config); }, ExitCode::usage),
                AllOf(HasSubstr("a batch of data has 2 tensors (Float [2, 4], Float [2])"), HasSubstr(type)));
  }
}

// Later batches of a plug-in are not known before.
TEST(ModelBatch, MasksAreWrittenIntoRowsThatAreThere) {
  for (const auto& given : {ids({1, 8}), ids({2, 8}).to(torch::kInt), ids({16})}) {
    const MaskedTokens masked(std::make_unique<FixedData>(std::vector<torch::Tensor>{given}),
                              {.vocab_size = 50});
    EXPECT_THAT(test::refusal(
                    [&] {
                      masked.collate({0, 1});
                    },
                    ExitCode::usage),
                HasSubstr("masks token ids Long [2, T] of a batch of 2 samples, but the data gave"));
  }
}

}  // namespace
}  // namespace flopmark
