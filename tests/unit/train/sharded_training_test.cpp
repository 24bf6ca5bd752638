// Sharded training against data parallel: the ranks are threads of this process over Gloo.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "flopmark/error.h"
#include "train/sharded_training.h"
#include "unit/train/rank_training.h"

namespace flopmark::test {
namespace {

TrainConfig adamw(std::optional<double> clip = std::nullopt) {
  TrainConfig train;
  train.optimizer = {.type = "adamw", .lr = 1e-3};
  train.gradient_clip = clip;
  return train;
}

void expect_sharded_as_data_parallel(Training training) {
  training.steps = 20;
  const Trained plain = train_ranks(training).front();
  training.parallel.sharding = "zero2";
  ASSERT_GT(largest_change(plain, training), 1e-3);
  for (const Trained& rank : train_ranks(training)) {
    EXPECT_LT(largest_difference(rank.parameters, plain.parameters), 1e-5);
    for (size_t i = 0; i < plain.losses.size(); ++i) EXPECT_NEAR(rank.losses[i], plain.losses[i], 1e-5) << i;
  }
}

TEST(ShardedTraining, EqualsDataParallelOverTwentySteps) {
  Training training{.ranks = 2, .train = adamw()};
  expect_sharded_as_data_parallel(training);
  training.parallel.bucket_bytes = 20000;  // many buckets
  expect_sharded_as_data_parallel(training);
}

TEST(ShardedTraining, EqualsDataParallelOnFourRanks) {
  Training training{.ranks = 4, .train = adamw()};
  training.parallel.bucket_bytes = 20000;
  expect_sharded_as_data_parallel(training);
}

TEST(ShardedTraining, ClipsByTheNormOfTheWholeModel) {
  expect_sharded_as_data_parallel({.ranks = 2, .train = adamw(0.05)});
}

TEST(ShardedTraining, AccumulatesAndRecomputes) {
  TrainConfig train = adamw();
  train.gradient_accumulation = 2;
  train.activation_checkpointing.blocks = 1;
  expect_sharded_as_data_parallel({.ranks = 2, .train = train});
}

TEST(ShardedTraining, BucketsHaveOneNumberTypeEach) {
  run_ranks(2, [](RankGroup& group) {
    std::vector<torch::Tensor> parameters;
    for (const auto dtype : {torch::kFloat, torch::kDouble, torch::kFloat}) {
      parameters.push_back(torch::full({3}, 0.1, dtype).set_requires_grad(true));
    }
    ShardedTraining sharded(group, 1 << 20, parameters);
    EXPECT_EQ(sharded.updated(parameters).size(), 3u);
    EXPECT_EQ(parameters[1].scalar_type(), torch::kDouble);
    EXPECT_EQ(parameters[1][0].item<double>(), 0.1);
  });
}

TEST(ShardedTraining, RefusesParametersWithGaps) {
  run_ranks(2, [](RankGroup& group) {
    const auto half = torch::zeros({4, 4}).narrow(1, 0, 2).set_requires_grad(true);
    EXPECT_THROW(ShardedTraining(group, 1 << 20, {half}), Error);
  });
}

}  // namespace
}  // namespace flopmark::test
