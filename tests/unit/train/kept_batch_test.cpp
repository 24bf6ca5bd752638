// TorchStep::keep_batch: the second pass of measure.loader both.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fakes/allocation_count.h"
#include "flopmark/error.h"
#include "unit/train/trainer.h"

namespace flopmark {
namespace {

using test::StepSetup;
using test::Trainer;
using ::testing::AllOf;
using ::testing::HasSubstr;

class KeptBatch : public ::testing::Test {
 protected:
  void TearDown() override { apply_precision({}, torch::kCPU); }
  StepSetup setup_;
};

TEST_F(KeptBatch, IsTrainedOnAgainAndAgain) {
  setup_.loader_workers = 1;
  Trainer trainer(setup_);
  trainer.train(1);
  trainer.step->keep_batch();
  const int64_t made = trainer.text->made;
  const BlockFacts facts = trainer.train(5);
  EXPECT_EQ(trainer.text->made, made) << "the loader stands still";
  EXPECT_EQ(facts.samples, 5 * 2);
  EXPECT_EQ(facts.losses.size(), 5U);
  EXPECT_LT(facts.losses.back(), facts.losses.front());
  EXPECT_EQ(trainer.step->count().optimizer_flop, trainer.step->count().optimizer_flop);
  EXPECT_GT(trainer.text->made, made) << "counting takes batches of the loader again";
}

TEST_F(KeptBatch, IsNotCopiedWhileTheClockRuns) {
  Trainer trainer(setup_);
  trainer.step->keep_batch();
  trainer.step->begin_block(2);
  for (int step = 0; step < 2; ++step) {
    const int64_t before = allocation_count();
    trainer.step->next_batch();
    EXPECT_EQ(allocation_count() - before, 0);
    trainer.step->transfer();
    trainer.step->forward();
    trainer.step->backward();
    trainer.step->update();
  }
  EXPECT_EQ(trainer.step->end_block().samples, 2 * 2);
}

/// Writes to its second input in the forward of step `from`, and later.
class InPlaceModel : public TrainableModel {
 public:
  explicit InPlaceModel(int from) : from_(from) {}
  torch::Tensor loss(const Batch& batch) override {
    torch::Tensor targets = batch.inputs.at(1);
    if (++calls_ >= from_) targets.add_(1);
    return (targets.to(torch::kFloat) * weight_).mean();
  }
  std::vector<torch::Tensor> parameters() override { return {weight_}; }

 private:
  int from_, calls_ = 0;
  torch::Tensor weight_ = torch::ones({1}).requires_grad_();
};

TEST_F(KeptBatch, AModelThatChangesItsInputsTrainsOnNoKeptBatch) {
  for (const int from : {1, 4, 100}) {
    setup_.train.optimizer.lr = 1e-3;
    Trainer trainer(setup_);
    trainer.step = std::make_unique<TorchStep>(
        std::make_unique<InPlaceModel>(from),
        std::make_unique<Loader>(trainer.text, LoaderOptions{.batch_size = 2, .workers = 0}),
        StepOptions{.device = torch::kCPU, .train = setup_.train});
    EXPECT_NO_THROW(trainer.train(2)) << "every batch is a new one";
    trainer.step->keep_batch();
    if (from == 100) {
      EXPECT_EQ(trainer.train(3).samples, 3 * 2);
      continue;
    }
    try {
      trainer.train(3);
      FAIL() << from;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ExitCode::cannot_judge);
      EXPECT_THAT(error.what(), AllOf(HasSubstr("the model changes inputs[1] of its batch in place"),
                                      HasSubstr("set measure.loader to normal")));
    }
  }
}

}  // namespace
}  // namespace flopmark
