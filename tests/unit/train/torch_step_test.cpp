#include "train/torch_step.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <thread>

#include "unit/train/operator_log.h"
#include "unit/train/trainer.h"

namespace flopmark {
namespace {

using test::kLength;
using test::StepSetup;
using test::Trainer;

class TorchStepTest : public ::testing::Test {
 protected:
  void TearDown() override { apply_precision({}, torch::kCPU); }
  StepSetup setup_;
};

TEST_F(TorchStepTest, LearnsARepeatingText) {
  setup_.train.optimizer.lr = 1e-2;
  setup_.train.gradient_clip = 1.0;
  const auto facts = Trainer(setup_).train(40);
  ASSERT_EQ(facts.losses.size(), 40U);
  EXPECT_NEAR(facts.losses.front(), std::log(256.0), 0.1);
  EXPECT_LT(facts.losses.back(), 0.2);  // the next token follows from the present one
}

TEST_F(TorchStepTest, CountsWhatItProcessed) {
  setup_.train.gradient_accumulation = 2;
  const auto facts = Trainer(setup_).train(3);
  EXPECT_EQ(facts.samples, 3 * 2 * 2);
  EXPECT_EQ(facts.tokens, 3 * 2 * 2 * kLength);
  EXPECT_EQ(facts.images, 0);
  EXPECT_EQ(facts.losses.size(), 3U);
  EXPECT_GE(facts.data_wait_host_s, 0);
  EXPECT_EQ(Trainer(setup_).step->parameters(), 125'248);
}

TEST_F(TorchStepTest, TheLoaderStandsStillBetweenBlocks) {
  setup_.loader_workers = 2;
  Trainer trainer(setup_);
  const auto made = [&] { return trainer.text->made.load(); };
  trainer.train(1);
  trainer.step->pause_between_blocks();
  for (int turn = 0; turn < 3; ++turn) {
    const int64_t before = made();
    const auto depth = trainer.step->queue_depth();
    ASSERT_TRUE(depth);
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    EXPECT_EQ(made(), before) << "made a batch between blocks";
    EXPECT_EQ(trainer.step->queue_depth(), depth);
    trainer.train(20);
    EXPECT_GE(made(), before + 20 - 4) << "the loader did not go on";
  }
  EXPECT_FALSE(Trainer({}).step->queue_depth()) << "without workers";
}

// Eight sequences in batches of 3, the short one of 2 kept: 3, 3, 2, 3, ...
TEST_F(TorchStepTest, AShortBatchCountsItsSamplesAndIsNeverTheCountedOne) {
  setup_.batch_size = 3;
  setup_.drop_last = false;
  Trainer trainer(setup_);
  EXPECT_EQ(trainer.train(3).samples, 8);
  trainer.train(2);
  const FlopTotals whole = trainer.step->count();  // the next batch of the loader would be the short one
  EXPECT_EQ(trainer.step->counted_samples(), 3);
  StepSetup other;
  other.batch_size = 3;
  EXPECT_EQ(whole.forward_flop, Trainer(other).step->count().forward_flop);
  trainer.train(1);
  trainer.step->keep_batch();
  EXPECT_EQ(trainer.train(4).samples, 4 * 3);
}

TEST_F(TorchStepTest, AccumulatesToTheSameStepAsOneLargeBatch) {
  setup_.train.optimizer = {.type = "sgd", .lr = 0.5, .weight_decay = 0};
  StepSetup large = setup_;
  large.batch_size = 8;
  setup_.train.gradient_accumulation = 4;
  Trainer four(setup_), one(large);
  const auto start = one.parameters.back().detach().clone();
  const auto four_facts = four.train(2), one_facts = one.train(2);
  for (size_t i = 0; i < 2; ++i) {
    EXPECT_NEAR(four_facts.losses[i], one_facts.losses[i], 1e-6 * one_facts.losses[i]);
  }
  EXPECT_GT((one.parameters.back() - start).abs().max().item<double>(), 1e-3);
  for (size_t i = 0; i < one.parameters.size(); ++i) {
    EXPECT_LT((four.parameters[i] - one.parameters[i]).abs().max().item<double>(), 1e-6) << i;
  }
}

TEST_F(TorchStepTest, GivesTheSameBitsFromTheSameSeed) {
  setup_.train.seed = 5;
  const auto first = Trainer(setup_).train(4), second = Trainer(setup_).train(4);
  EXPECT_EQ(first.losses, second.losses);
  setup_.train.seed = 6;
  EXPECT_NE(Trainer(setup_).train(4).losses, first.losses);
}

TEST_F(TorchStepTest, ReportsFinishedStepsOnly) {
  setup_.train.gradient_accumulation = 2;
  Trainer trainer(setup_);
  trainer.step->begin_block(5);
  trainer.whole_step();
  trainer.whole_step();
  trainer.micro_batch();  // stopped in the middle of the third
  const auto facts = trainer.step->end_block();
  EXPECT_EQ(facts.losses.size(), 2U);
  EXPECT_EQ(facts.samples, 8);
  EXPECT_EQ(facts.tokens, 8 * kLength);

  EXPECT_TRUE(trainer.parameters.front().grad().defined());
  const auto next = trainer.train(1);
  EXPECT_EQ(next.losses.size(), 1U);
  EXPECT_EQ(next.samples, 4);
}

TEST_F(TorchStepTest, ForgetsTheGradientsOfAnUnfinishedStep) {
  Trainer trainer(setup_);
  trainer.step->begin_block(1);
  trainer.micro_batch();
  trainer.step->begin_block(1);
  EXPECT_FALSE(trainer.parameters.front().grad().defined());
}

TEST_F(TorchStepTest, HasNoFactsOfAnEmptyBlock) {
  Trainer trainer(setup_);
  const auto facts = trainer.train(0);
  EXPECT_TRUE(facts.losses.empty());
  EXPECT_EQ(facts.samples, 0);
}

TEST_F(TorchStepTest, ShowsALossThatIsNotANumber) {
  setup_.train.optimizer.lr = 1e30;
  const auto facts = Trainer(setup_).train(3);
  EXPECT_TRUE(std::isfinite(facts.losses.front()));
  EXPECT_TRUE(std::isnan(facts.losses.back()));
}

TEST_F(TorchStepTest, MultipliesInTheChosenPrecision) {
  for (const auto& [precision, dtype] :
       {std::pair{"fp32", torch::kFloat}, std::pair{"bf16-mixed", torch::kBFloat16},
        std::pair{"bf16", torch::kBFloat16}, std::pair{"fp16-mixed", torch::kHalf}}) {
    setup_.train.precision = precision;
    Trainer trainer(setup_);
    const test::OperatorLog log;
    const auto facts = trainer.train(2);
    EXPECT_NEAR(facts.losses.front(), std::log(256.0), 0.1) << precision;
    EXPECT_EQ(log.dtypes("aten::mm"), std::set<torch::Dtype>{dtype}) << precision;
    EXPECT_EQ(trainer.parameters.front().scalar_type(), parameter_dtype(precision)) << precision;
  }
}

TEST_F(TorchStepTest, ScalesAndSkipsInFp16) {
  setup_.train.optimizer.lr = 1e-2;
  setup_.train.gradient_clip = 1.0;
  const auto fp32 = Trainer(setup_).train(6);
  EXPECT_EQ(fp32.skipped_steps, std::nullopt);
  setup_.train.precision = "fp16-mixed";
  const auto facts = Trainer(setup_).train(6);
  EXPECT_EQ(facts.skipped_steps, 0);
  ASSERT_EQ(facts.losses.size(), 6U);
  for (size_t i = 0; i < 6; ++i) EXPECT_NEAR(facts.losses[i], fp32.losses[i], 0.05) << i;
}

TEST_F(TorchStepTest, AnOverflowSkipsTheUpdateAndHalvesTheScale) {
  setup_.train.precision = "fp16-mixed";
  setup_.train.optimizer = {.type = "sgd", .lr = 0.5};
  setup_.loss_scaling = {.initial = 0x1p60};  // far beyond what fp16 holds, 2 to the 16
  Trainer trainer(setup_);
  const auto before = trainer.parameters.back().detach().clone();
  const auto first = trainer.train(3);
  EXPECT_EQ(first.skipped_steps, 3);
  EXPECT_EQ(first.losses.size(), 3U) << "a skipped step is a step";
  EXPECT_EQ(first.samples, 6);
  EXPECT_TRUE(trainer.parameters.back().equal(before));
  for (const double loss : first.losses) EXPECT_TRUE(std::isfinite(loss));
  const auto later = trainer.train(60);  // the scale halves until it fits
  EXPECT_GT(*later.skipped_steps, 30);
  EXPECT_LT(*later.skipped_steps, 60);
  EXPECT_FALSE(trainer.parameters.back().equal(before));
  EXPECT_LE(*trainer.train(5).skipped_steps, 1);
}

TEST_F(TorchStepTest, TheScaleDoesNotChangeTheGradients) {
  setup_.train.precision = "fp16-mixed";
  setup_.train.gradient_accumulation = 2;
  setup_.train.optimizer = {.type = "sgd", .lr = 0.5};
  setup_.loss_scaling = {.initial = 1};
  Trainer plain(setup_);
  setup_.loss_scaling = {.initial = 1024};
  Trainer scaled(setup_);
  const auto one = plain.train(1), other = scaled.train(1);
  EXPECT_EQ(one.losses, other.losses);
  for (size_t i = 0; i < plain.parameters.size(); ++i) {
    EXPECT_LT((plain.parameters[i] - scaled.parameters[i]).abs().max().item<double>(), 2e-3) << i;
  }
}

TEST_F(TorchStepTest, LosesTheSameWithEitherAttentionKernel) {
  const auto losses = [this](const char* kernel) {
    setup_.train.attention_kernel = kernel;
    return Trainer(setup_).train(3).losses;
  };
  const auto fused = losses("fused"), unfused = losses("unfused");
  for (size_t i = 0; i < fused.size(); ++i) {
    EXPECT_NEAR(fused[i], unfused[i], 1e-5);
  }
}

}  // namespace
}  // namespace flopmark
