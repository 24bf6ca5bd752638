#include "data/masked_tokens.h"

#include <gtest/gtest.h>
#include <torch/types.h>

#include <numeric>

#include "data/datasets.h"
#include "data/synthetic_dataset.h"

namespace flopmark {
namespace {

constexpr int64_t kVocabulary = 1000, kMask = 999;

RunConfig bert_config(int64_t length) {
  RunConfig config;
  config.model.type = "bert";
  config.model.vocab_size = kVocabulary;
  config.data.sequence_length = length;
  return config;
}

/// The ids before masking, and the batch after it.
struct Masked {
  torch::Tensor before;
  Batch batch;

  torch::Tensor chosen() const { return batch.inputs[1] != MaskedTokens::kNoTarget; }
};

Masked first_samples(const RunConfig& config, size_t count) {
  std::vector<size_t> indices(count);
  std::iota(indices.begin(), indices.end(), size_t{0});
  return {make_synthetic_dataset(config)->collate(indices).inputs[0], make_dataset(config)->collate(indices)};
}

TEST(MaskedTokens, ChoosesAndChangesInThePublishedShares) {
  const Masked masked = first_samples(bert_config(128), 512);  // 65,536 tokens
  const auto chosen = masked.chosen();
  const auto& ids = masked.batch.inputs[0];
  EXPECT_NEAR(chosen.to(torch::kDouble).mean().item<double>(), 0.15, 0.01);
  const auto share = [&](const torch::Tensor& marks) {
    return marks.masked_select(chosen).to(torch::kDouble).mean().item<double>();
  };
  EXPECT_NEAR(share(ids == kMask), 0.8, 0.02);
  EXPECT_NEAR(share(ids == masked.before), 0.1, 0.02);
  EXPECT_NEAR(share((ids != kMask).logical_and(ids != masked.before)), 0.1, 0.02);
}

TEST(MaskedTokens, TargetsAreTheTokensAsTheyWere) {
  const Masked masked = first_samples(bert_config(128), 64);
  const auto chosen = masked.chosen();
  EXPECT_TRUE(masked.batch.inputs[1].masked_select(chosen).equal(masked.before.masked_select(chosen)));
  const auto others = chosen.logical_not();
  EXPECT_TRUE(masked.batch.inputs[0].masked_select(others).equal(masked.before.masked_select(others)));
  EXPECT_EQ(masked.batch.samples, 64);
  EXPECT_EQ(masked.batch.tokens, 64 * 128);
}

TEST(MaskedTokens, EverySequenceHasATarget) {
  const Masked masked = first_samples(bert_config(1), 200);  // a loss without one would be no number
  EXPECT_TRUE(masked.chosen().all().item<bool>());
  const Masked longer = first_samples(bert_config(4), 2000);
  EXPECT_GE(longer.chosen().sum(1).min().item<int64_t>(), 1);
  EXPECT_GT(longer.chosen().any(0).sum().item<int64_t>(), 3) << "not always the same place";
}

TEST(MaskedTokens, TheSameSeedMasksTheSame) {
  RunConfig config = bert_config(64);
  const auto at = [&config](const std::vector<size_t>& indices) {
    return make_dataset(config)->collate(indices);
  };
  const Batch batch = at({3, 9});
  EXPECT_TRUE(batch.inputs[0].equal(at({3, 9}).inputs[0]));
  EXPECT_TRUE(batch.inputs[1][1].equal(at({9}).inputs[1][0]));
  config.data.seed = 1;
  EXPECT_FALSE(
      (batch.inputs[1] == MaskedTokens::kNoTarget).equal(at({3, 9}).inputs[1] == MaskedTokens::kNoTarget));
}

}  // namespace
}  // namespace flopmark
