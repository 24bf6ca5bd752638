// Several ranks against one rank with the global batch: the ranks are threads of this process over Gloo.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "flopmark/error.h"
#include "unit/train/rank_training.h"

namespace flopmark::test {
namespace {

/// Plain SGD: its steps are the gradients, so that equal parameters mean equal gradients.
TrainConfig sgd(int64_t accumulation = 1) {
  TrainConfig train;
  train.optimizer = {.type = "sgd", .lr = 0.1, .weight_decay = 0};
  train.gradient_accumulation = accumulation;
  return train;
}

void expect_as_one_rank(const Training& training) {
  const Trained one = train(training, nullptr, training.batch * training.ranks);
  ASSERT_GT(largest_change(one, training), 1e-3);
  for (const Trained& rank : train_ranks(training)) {
    EXPECT_LT(largest_difference(rank.parameters, one.parameters), 1e-6);
    ASSERT_EQ(rank.losses.size(), one.losses.size());
    for (size_t i = 0; i < one.losses.size(); ++i) EXPECT_NEAR(rank.losses[i], one.losses[i], 1e-5) << i;
  }
}

TEST(RankTraining, TwoRanksTrainAsOneWithTheGlobalBatch) {
  expect_as_one_rank({.ranks = 2, .train = sgd()});
}

TEST(RankTraining, FourRanksTrainAsOneWithTheGlobalBatch) {
  expect_as_one_rank({.ranks = 4, .train = sgd()});
}

TEST(RankTraining, AccumulationExchangesOncePerUpdate) {
  Training training{.ranks = 2, .train = sgd(3)};
  expect_as_one_rank(training);
  const int64_t bytes = train_ranks(training).front().times.bytes;
  training.train.gradient_accumulation = 1;
  EXPECT_EQ(train_ranks(training).front().times.bytes, bytes);
}

TEST(RankTraining, ClippingSeesTheWholeGradient) {
  TrainConfig clipped = sgd();
  clipped.gradient_clip = 0.1;
  expect_as_one_rank({.ranks = 2, .steps = 20, .train = clipped});
}

TEST(RankTraining, RecomputedBlocksExchangeAsOthers) {
  TrainConfig recomputing = sgd();
  recomputing.activation_checkpointing.blocks = 1;
  expect_as_one_rank({.ranks = 2, .train = recomputing});
}

// 4 bytes per parameter, whatever the buckets.
TEST(RankTraining, BytesAreTheGradients) {
  for (const int64_t bucket_bytes : {int64_t{10000}, int64_t{1} << 20}) {
    Training training{.ranks = 2, .train = sgd()};
    training.parallel.bucket_bytes = bucket_bytes;
    const Trained rank = train_ranks(training).front();
    int64_t values = 0;
    for (const auto& parameter : rank.parameters) values += parameter.numel();
    EXPECT_EQ(rank.times.bytes, 4 * values);
  }
}

constexpr std::chrono::milliseconds kDelay{100};

TEST(RankTraining, ADelayedRankIsTheOneThatComputesLongest) {
  Training training{.ranks = 2, .train = sgd()};
  const auto ranks = train_ranks(training, /*delayed_rank=*/1, {.before_forward = kDelay});
  EXPECT_GT(ranks[1].times.compute_s, 0.100);
  EXPECT_LT(ranks[0].times.compute_s, 0.100);
  EXPECT_GT(ranks[0].times.exposed_s, 0.050) << "it waits for the other";
  EXPECT_LT(ranks[1].times.exposed_s, 0.050);
  EXPECT_GE(ranks[0].times.total_s, 0.050);
}

TEST(RankTraining, ARankThatIsSlowInTheUpdateComputesLongest) {
  for (const char* sharding : {"none", "zero2"}) {
    Training training{.ranks = 2, .train = sgd()};
    training.train.gradient_clip = 1;
    training.parallel.sharding = sharding;
    const auto ranks = train_ranks(training, /*delayed_rank=*/1, {.before_update = kDelay});
    EXPECT_GT(ranks[1].times.compute_s, 0.100) << sharding;
    EXPECT_LT(ranks[0].times.compute_s, 0.100) << sharding;
  }
}

/// Uses its second parameter on even ranks only, and its third never, or from a step on.
class PartlyUsed : public TrainableModel {
 public:
  explicit PartlyUsed(bool second, int third_from = -1) : second_(second), third_from_(third_from) {
    for (int64_t i = 0; i < 3; ++i) parameters_.push_back(torch::ones({4}).set_requires_grad(true));
  }
  torch::Tensor loss(const Batch&) override {
    auto sum = parameters_[0].sum();
    if (third_from_ >= 0 && ++step_ >= third_from_) sum = sum + parameters_[2].sum();
    return second_ ? sum + 2 * parameters_[1].sum() : sum;
  }
  std::vector<torch::Tensor> parameters() override { return parameters_; }

 private:
  bool second_;
  int third_from_, step_ = 0;
  std::vector<torch::Tensor> parameters_;
};

TEST(RankTraining, ParametersUsedBySomeRanksOrByNoneAreHandled) {
  run_ranks(2, [](RankGroup& group) {
    auto model = std::make_unique<PartlyUsed>(group.rank() == 0);
    const auto parameters = model->parameters();
    LoaderOptions options;
    options.workers = 0;
    auto exchange = make_exchange(group, {}, sgd(), parameters);
    TorchStep step(std::move(model), std::make_unique<Loader>(std::make_shared<ShiftedText>(), options),
                   StepOptions{.device = torch::kCPU, .train = sgd()}, std::move(exchange));
    step.begin_block(3);
    for (int i = 0; i < 3; ++i) {
      step.next_batch();
      step.transfer();
      step.forward();
      step.backward();
      step.update();
    }
    EXPECT_NEAR(parameters[0][0].item<double>(), 1 - 3 * 0.1, 1e-6);
    EXPECT_NEAR(parameters[1][0].item<double>(), 1 - 3 * 0.1, 1e-6) << "half of 2, since one rank uses it";
    EXPECT_EQ(parameters[2][0].item<double>(), 1);
  });
}

TEST(RankTraining, AGradientThatComesLaterThanTheFirstStepEndsTheJob) {
  run_ranks(2, [](RankGroup& group) {
    auto model = std::make_unique<PartlyUsed>(true, /*third_from=*/2);
    LoaderOptions options;
    options.workers = 0;
    auto exchange = make_exchange(group, {}, sgd(), model->parameters());
    TorchStep step(std::move(model), std::make_unique<Loader>(std::make_shared<ShiftedText>(), options),
                   StepOptions{.device = torch::kCPU, .train = sgd()}, std::move(exchange));
    step.begin_block(2);
    try {
      for (int i = 0; i < 2; ++i) {
        step.next_batch();
        step.transfer();
        step.forward();
        step.backward();
        step.update();
      }
      ADD_FAILURE() << "the third parameter is not exchanged";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ExitCode::cannot_judge);
      EXPECT_THAT(error.what(), ::testing::HasSubstr("no gradient in the first step"));
    }
  });
}

TEST(RankTraining, WithoutExchangeRanksDriftApartAndBack) {
  run_ranks(2, [](RankGroup& group) {
    Training training{.train = sgd()};
    auto model = make_model(training.shape, {torch::kFloat, 0});
    LoaderOptions options;
    options.workers = 0;
    options.rank = group.rank();
    options.ranks = 2;
    const auto parameters = model->parameters();
    auto exchange = make_exchange(group, {}, sgd(), parameters);
    TorchStep step(std::move(model), std::make_unique<Loader>(std::make_shared<ShiftedText>(), options),
                   StepOptions{.device = torch::kCPU, .train = sgd()}, std::move(exchange));
    const auto one_step = [&] {
      step.begin_block(1);
      step.next_batch();
      step.transfer();
      step.forward();
      step.backward();
      step.update();
      step.end_block();
    };
    const auto spread = [&] {
      const double sum = parameters[0].detach().abs().sum().item<double>();
      return group.combined(sum, Combine::max) - group.combined(sum, Combine::min);
    };
    for (int i = 0; i < 3; ++i) one_step();
    EXPECT_EQ(spread(), 0);
    step.set_exchange(false);
    one_step();
    EXPECT_GT(spread(), 0);
    EXPECT_EQ(step.exchange_times().total_s, 0);
    step.set_exchange(true);
    one_step();
    EXPECT_GT(step.exchange_times().total_s, 0);
  });
}

}  // namespace
}  // namespace flopmark::test
