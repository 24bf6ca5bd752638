#include "models/checkpoint.h"

#include <gtest/gtest.h>
#include <torch/torch.h>

#include "flops/observe/observer.h"
#include "models/autocast.h"
#include "models/gpt2.h"
#include "models/llama.h"
#include "models/mlp.h"
#include "models/resnet.h"
#include "models/vit.h"
#include "unit/models/shapes.h"

namespace flopmark {
namespace {

/// Loss and gradients of one step from the same random state.
struct StepResult {
  double loss = 0;
  std::vector<torch::Tensor> gradients;
  FlopTotals flops;
};

StepResult step_of(BuiltInModel& model, const Batch& batch, bool bf16_mixed = false) {
  torch::manual_seed(5);
  FlopObserver observer;
  torch::Tensor loss;
  {
    const AutocastGuard autocast({torch::kCPU, bf16_mixed});
    loss = model.loss(batch);
  }
  observer.enter(FlopObserver::Part::backward);
  loss.backward();
  StepResult result{loss.item<double>(), {}, observer.totals()};
  for (const auto& parameter : model.parameters()) result.gradients.push_back(parameter.grad().clone());
  return result;
}

template <typename Model>
StepResult run_model(const ModelShape& shape, int64_t interval, const Batch& batch, bool bf16_mixed = false) {
  Model model(shape, {.tensor = {}, .seed = 3, .checkpoint_interval = interval});
  return step_of(model, batch, bf16_mixed);
}

void expect_same_training(const StepResult& a, const StepResult& b) {
  EXPECT_EQ(a.loss, b.loss);
  ASSERT_EQ(a.gradients.size(), b.gradients.size());
  for (size_t i = 0; i < a.gradients.size(); ++i) {
    EXPECT_TRUE(a.gradients[i].equal(b.gradients[i])) << "parameter " << i;
  }
  EXPECT_EQ(a.flops.model_flop(), b.flops.model_flop());
}

// Public case A07: re-running both blocks of the tiny LLaMA whole is 12,845,056.
TEST(Checkpoint, TinyLlamaRunsItsBlocksAgain) {
  const Batch batch = test::random_tokens(2, 32, 256);
  const StepResult none = run_model<Llama>(test::tiny_llama(), 0, batch);
  const StepResult full = run_model<Llama>(test::tiny_llama(), 1, batch);
  const StepResult second = run_model<Llama>(test::tiny_llama(), 2, batch);
  expect_same_training(none, full);
  expect_same_training(none, second);
  EXPECT_EQ(none.flops.model_flop(), 44'826'624);
  EXPECT_EQ(none.flops.recompute_flop, 0);
  EXPECT_EQ(full.flops.recompute_flop, 12'845'056);
  EXPECT_EQ(second.flops.recompute_flop, 12'845'056 / 2);  // block 0 of 0 and 1
  EXPECT_EQ(full.flops.hardware_flop(), 45'350'912 + 12'845'056);
}

TEST(Checkpoint, UnfusedTinyLlamaExecutes57671680) {
  at::globalContext().setSDPUseFlash(false);
  const StepResult full = run_model<Llama>(test::tiny_llama(), 1, test::random_tokens(2, 32, 256));
  at::globalContext().setSDPUseFlash(true);
  EXPECT_EQ(full.flops.model_flop(), 44'826'624);
  EXPECT_EQ(full.flops.hardware_flop(), 57'671'680);
}

TEST(Checkpoint, DrawsTheSameDropoutAgain) {
  ModelShape shape = test::gpt2(100, 32, 3, 4, 16);
  shape.dropout = 0.2;
  const Batch batch = test::random_tokens(2, 16, 100);
  const StepResult none = run_model<Gpt2>(shape, 0, batch);
  expect_same_training(none, run_model<Gpt2>(shape, 1, batch));
  expect_same_training(none, run_model<Gpt2>(shape, 2, batch));
  // and leaves the generator where plain training leaves it
  torch::manual_seed(5);
  run_model<Gpt2>(shape, 0, batch);
  const auto after_plain = torch::rand({4});
  torch::manual_seed(5);
  run_model<Gpt2>(shape, 1, batch);
  EXPECT_TRUE(torch::rand({4}).equal(after_plain));
}

TEST(Checkpoint, RunsAgainUnderTheSameAutocast) {
  const Batch batch = test::random_tokens(2, 32, 256);
  const StepResult none = run_model<Llama>(test::tiny_llama(), 0, batch, true);
  const StepResult full = run_model<Llama>(test::tiny_llama(), 1, batch, true);
  expect_same_training(none, full);
  ASSERT_EQ(full.flops.by_precision.size(), 1u);
  EXPECT_EQ(full.flops.by_precision[0].precision, "bf16");
}

TEST(Checkpoint, ABlockThatReadsDataTrainsToo) {
  const Batch batch{{torch::randn({8, 1, 28, 28}), torch::randint(10, {8}, torch::kLong)}, 8, 0, 8};
  const StepResult none = run_model<Mlp>(test::mnist_mlp(), 0, batch);
  const StepResult full = run_model<Mlp>(test::mnist_mlp(), 1, batch);
  expect_same_training(none, full);
  EXPECT_EQ(full.flops.recompute_flop, 2 * 8 * (784 * 512 + 512 * 512));
}

TEST(Checkpoint, ImageModelsTrainAlikeAndStatisticsMoveOnce) {
  const Batch images{{torch::randn({2, 3, 32, 32}), torch::randint(10, {2}, torch::kLong)}, 2, 0, 2};
  expect_same_training(run_model<Resnet>(test::tiny_resnet(true), 0, images),
                       run_model<Resnet>(test::tiny_resnet(true), 1, images));
  ModelShape vit = test::tiny_vit();
  vit.dropout = 0.1;
  const Batch patches{{torch::randn({2, vit.image_channels, vit.image_size, vit.image_size}),
                       torch::randint(vit.classes, {2}, torch::kLong)},
                      2,
                      0,
                      2};
  expect_same_training(run_model<Vit>(vit, 0, patches), run_model<Vit>(vit, 1, patches));

  ParameterSet parameters{torch::TensorOptions()};
  const BatchNorm norm = make_batch_norm(parameters, "norm", 3);
  const auto x = torch::randn({4, 3, 2, 2}).requires_grad_();
  checkpoint([&](const torch::Tensor& input) { return norm(input); }, x, {parameters.below("norm"), false})
      .sum()
      .backward();
  EXPECT_TRUE(norm.running_mean.allclose(0.1 * x.detach().mean({0, 2, 3})));
}

TEST(Checkpoint, FrozenParametersStayWithoutAGradient) {
  const auto w = torch::randn({4, 4}), v = torch::randn({4, 4}).requires_grad_();
  const auto x = torch::randn({2, 4}).requires_grad_();
  const auto block = [&](const torch::Tensor& input) { return input.mm(w).mm(v); };
  checkpoint(block, x, {{w, v}, false}).sum().backward();
  const auto expected = torch::autograd::grad({block(x).sum()}, {x, v});
  EXPECT_TRUE(x.grad().equal(expected[0]));
  EXPECT_TRUE(v.grad().equal(expected[1]));
  EXPECT_FALSE(w.grad().defined());
}

}  // namespace
}  // namespace flopmark
