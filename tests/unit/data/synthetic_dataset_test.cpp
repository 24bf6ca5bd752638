#include "data/synthetic_dataset.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>

#include "flopmark/error.h"

namespace flopmark {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

RunConfig tokens_config() {
  RunConfig config;
  config.model.vocab_size = 256;
  config.data.batch_size = 4;
  config.data.sequence_length = 64;
  return config;
}

RunConfig images_config() {
  RunConfig config;
  config.model.type = "mlp";
  config.model.input_size = 3 * 8 * 8;
  config.model.classes = 10;
  config.data.image_size = 8;
  config.data.image_channels = 3;
  return config;
}

bool equal(const Batch& a, const Batch& b) {
  return torch::equal(a.inputs[0], b.inputs[0]) && torch::equal(a.inputs[1], b.inputs[1]);
}

TEST(SyntheticTokens, AreUniformOverTheVocabulary) {
  const auto dataset = make_synthetic_dataset(tokens_config());
  EXPECT_EQ(dataset->size(), 4096);
  std::vector<size_t> indices(1024);
  std::iota(indices.begin(), indices.end(), size_t{0});
  const Batch batch = dataset->collate(indices);
  EXPECT_THAT(batch.inputs[0].sizes(), ElementsAre(1024, 64));
  EXPECT_EQ(batch.inputs[0].scalar_type(), torch::kInt64);
  EXPECT_EQ(batch.samples, 1024);
  EXPECT_EQ(batch.tokens, 65536);
  EXPECT_EQ(batch.images, 0);
  // 256 of each id expected with a standard deviation of 16: six of those either way.
  const torch::Tensor counts = torch::bincount(batch.inputs[0].flatten());
  ASSERT_EQ(counts.numel(), 256);
  EXPECT_GT(counts.min().item<int64_t>(), 256 - 96);
  EXPECT_LT(counts.max().item<int64_t>(), 256 + 96);
  // Each position, not only all of them together.
  EXPECT_GT(std::get<0>(batch.inputs[0].max(0)).min().item<int64_t>(), 240);
}

TEST(SyntheticTokens, TargetsAreTheNextIds) {
  const Batch batch = make_synthetic_dataset(tokens_config())->collate({5, 9});
  EXPECT_TRUE(torch::equal(batch.inputs[0].slice(1, 1), batch.inputs[1].slice(1, 0, 63)));
  EXPECT_THAT(batch.inputs[1].sizes(), ElementsAre(2, 64));
}

TEST(Synthetic, TheSameSeedGivesTheSameSamplesWhereverTheyStand) {
  for (RunConfig config : {tokens_config(), images_config()}) {
    const auto dataset = make_synthetic_dataset(config), again = make_synthetic_dataset(config);
    const Batch batch = dataset->collate({3, 1, 4095});
    EXPECT_TRUE(equal(batch, again->collate({3, 1, 4095})));
    EXPECT_TRUE(torch::equal(batch.inputs[0][2], again->collate({4095}).inputs[0][0]));
    EXPECT_FALSE(torch::equal(batch.inputs[0][0], batch.inputs[0][1]));
    config.data.seed = 1;
    EXPECT_FALSE(
        torch::equal(batch.inputs[0], make_synthetic_dataset(config)->collate({3, 1, 4095}).inputs[0]));
  }
}

TEST(Synthetic, LeavesTheGlobalGeneratorAlone) {
  torch::manual_seed(3);
  const auto expected = torch::rand({4});
  torch::manual_seed(3);
  make_synthetic_dataset(images_config())->collate({1, 2});
  EXPECT_TRUE(torch::equal(torch::rand({4}), expected));
}

TEST(SyntheticImages, AreStandardNormalWithUniformLabels) {
  const auto dataset = make_synthetic_dataset(images_config());
  std::vector<size_t> indices(4000);
  std::iota(indices.begin(), indices.end(), size_t{0});
  const Batch batch = dataset->collate(indices);
  EXPECT_THAT(batch.inputs[0].sizes(), ElementsAre(4000, 3, 8, 8));
  EXPECT_EQ(batch.inputs[0].scalar_type(), torch::kFloat32);
  EXPECT_THAT(batch.inputs[1].sizes(), ElementsAre(4000));
  EXPECT_EQ(batch.inputs[1].scalar_type(), torch::kInt64);
  EXPECT_EQ(batch.samples, 4000);
  EXPECT_EQ(batch.images, 4000);
  EXPECT_EQ(batch.tokens, 0);
  EXPECT_NEAR(batch.inputs[0].mean().item<double>(), 0, 0.02);
  EXPECT_NEAR(batch.inputs[0].std().item<double>(), 1, 0.02);
  EXPECT_GT(batch.inputs[0].flatten(1).std(1).min().item<double>(), 0.5);  // no image is constant
  // 400 of each label expected with a standard deviation of 19: six of those either way.
  const torch::Tensor counts = torch::bincount(batch.inputs[1]);
  ASSERT_EQ(counts.numel(), 10);
  EXPECT_GT(counts.min().item<int64_t>(), 400 - 114);
  EXPECT_LT(counts.max().item<int64_t>(), 400 + 114);
}

SyntheticInputs inputs_of(const std::vector<InputSpec>& inputs, int64_t seed = 0) {
  return SyntheticInputs({inputs, seed});
}

std::vector<size_t> first_samples(size_t count) {
  std::vector<size_t> indices(count);
  std::iota(indices.begin(), indices.end(), size_t{0});
  return indices;
}

TEST(SyntheticInputs, HaveTheShapesAndTypesAskedFor) {
  const std::vector<std::pair<std::string, torch::Dtype>> types = {
      {"float32", torch::kFloat32},   {"float64", torch::kFloat64}, {"float16", torch::kFloat16},
      {"bfloat16", torch::kBFloat16}, {"int64", torch::kInt64},     {"int32", torch::kInt32},
      {"uint8", torch::kUInt8},       {"bool", torch::kBool}};
  for (const auto& [name, dtype] : types) {
    const bool whole = name.find("int") != std::string::npos;
    const auto dataset = inputs_of({{{4, 3, 2}, name, whole ? std::optional<int64_t>(7) : std::nullopt}});
    const Batch batch = dataset.collate({0, 1, 2, 3});
    ASSERT_EQ(batch.inputs.size(), 1U);
    EXPECT_THAT(batch.inputs[0].sizes(), ElementsAre(4, 3, 2)) << name;
    EXPECT_EQ(batch.inputs[0].scalar_type(), dtype) << name;
    EXPECT_EQ(batch.samples, 4);
    EXPECT_EQ(batch.tokens + batch.images, 0);
  }
}

TEST(SyntheticInputs, AreNormalAndUniform) {
  const auto dataset = inputs_of({{{4096, 16}, "float32", {}},
                                  {{4096, 4}, "int64", 10},
                                  {{4096, 2}, "bool", {}},
                                  {{4096, 4}, "uint8", 256}});
  const Batch batch = dataset.collate(first_samples(4096));
  EXPECT_NEAR(batch.inputs[0].mean().item<double>(), 0, 0.02);
  EXPECT_NEAR(batch.inputs[0].std().item<double>(), 1, 0.02);
  // 1638 of each expected with a standard deviation of 38: six of those either way.
  const torch::Tensor counts = torch::bincount(batch.inputs[1].flatten());
  ASSERT_EQ(counts.numel(), 10);
  EXPECT_GT(counts.min().item<int64_t>(), 1638 - 230);
  EXPECT_LT(counts.max().item<int64_t>(), 1638 + 230);
  EXPECT_NEAR(batch.inputs[2].to(torch::kFloat).mean().item<double>(), 0.5, 0.04);
  EXPECT_EQ(batch.inputs[3].max().item<int64_t>(), 255);
  EXPECT_EQ(batch.inputs[3].min().item<int64_t>(), 0);
}

TEST(SyntheticInputs, SampleFollowsFromSeedAndPlaceAlone) {
  const std::vector<InputSpec> specs = {{{4, 3}, "float32", {}}, {{4}, "int64", 1000000}};
  const auto dataset = inputs_of(specs);
  const Batch batch = dataset.collate({3, 1, 9, 4});
  EXPECT_TRUE(equal(batch, inputs_of(specs).collate({3, 1, 9, 4})));
  EXPECT_TRUE(torch::equal(batch.inputs[0][2], dataset.collate({9}).inputs[0][0]));
  EXPECT_TRUE(torch::equal(batch.inputs[1][2], dataset.collate({9}).inputs[1][0]));
  EXPECT_FALSE(torch::equal(batch.inputs[0][0], batch.inputs[0][1]));
  EXPECT_FALSE(torch::equal(batch.inputs[0], inputs_of(specs, 1).collate({3, 1, 9, 4}).inputs[0]));
}

TEST(SyntheticInputs, WithoutASharedFirstSizeAreDrawnWhole) {
  const auto dataset = inputs_of({{{6, 2}, "float32", {}}, {{5, 2}, "float32", {}}});
  const Batch batch = dataset.collate({7, 8, 9, 10, 11, 12});
  EXPECT_THAT(batch.inputs[0].sizes(), ElementsAre(6, 2));
  EXPECT_THAT(batch.inputs[1].sizes(), ElementsAre(5, 2));
  EXPECT_EQ(batch.samples, 6);
  EXPECT_FALSE(torch::equal(batch.inputs[0], dataset.collate({8, 7, 9, 10, 11, 12}).inputs[0]));
}

TEST(SyntheticInputs, NoBatchIsShort) {
  for (const int64_t batch : {1, 3, 4096, 5000}) {
    const auto dataset = inputs_of({{{batch, 2}, "bool", {}}});
    EXPECT_EQ(dataset.size() % batch, 0) << batch;
    EXPECT_GE(dataset.size(), 4096);
  }
}

TEST(Synthetic, AlwaysHoldsABatch) {
  RunConfig config = tokens_config();
  config.data.batch_size = 5000;
  EXPECT_EQ(make_synthetic_dataset(config)->size(), 5000);
}

TEST(Synthetic, RefusesAModelItHasNothingFor) {
  RunConfig config = images_config();
  config.model.input_size = 784;
  try {
    make_synthetic_dataset(config);
    FAIL() << "192 values went into 784 inputs";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::usage);
    EXPECT_THAT(error.what(), HasSubstr("have 192 values, but model.input_size is 784"));
  }
  config.model.classes = 0;
  EXPECT_THROW(make_synthetic_dataset(config), Error);
}

}  // namespace
}  // namespace flopmark
