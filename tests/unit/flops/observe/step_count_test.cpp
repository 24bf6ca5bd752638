#include "unit/flops/observe/counting.h"

// Whole steps of small models: what is counted, against numbers worked out by hand.

namespace flopmark {
namespace {

namespace nn = torch::nn;
using Calls = std::map<std::string, int64_t>;

void expect_counts(const FlopTotals& totals, int64_t forward, int64_t backward) {
  EXPECT_EQ(totals.forward_flop, forward);
  EXPECT_EQ(totals.backward_flop, backward);
  EXPECT_EQ(totals.recompute_flop, 0);
  EXPECT_FALSE(totals.lower_bound);
}

TEST(StepCount, MlpNeedsNoGradientOfItsInput) {  // public case A01
  nn::Sequential mlp(nn::Linear(784, 512), nn::ReLU(), nn::Linear(512, 512), nn::ReLU(), nn::Linear(512, 10));
  expect_counts(count_step([&] { return mlp->forward(torch::randn({1, 784})); }), 1'337'344, 1'871'872);
  const FlopTotals four = count_step([&] { return mlp->forward(torch::randn({4, 784})); });
  expect_counts(four, 5'349'376, 7'487'488);
  EXPECT_EQ(four.model_flop(), 12'836'864);
  EXPECT_EQ(calls_of(four), (Calls{{"aten::addmm", 3}, {"aten::mm", 5}}));
}

TEST(StepCount, LinearOfAnyRankWithAndWithoutBias) {
  // 6 rows, 5 to 7: 2 x 6 x 5 x 7, and twice that back
  const auto weight = leaf({7, 5}), bias = leaf({7});
  for (const auto& sizes : {std::vector<int64_t>{6, 5}, {2, 3, 5}}) {
    expect_counts(count_step([&] { return torch::linear(leaf(sizes), weight, bias); }), 420, 840);
    expect_counts(count_step([&] { return torch::linear(leaf(sizes), weight); }), 420, 840);
  }
  expect_counts(count_step([&] { return torch::linear(leaf({5}), weight, bias); }), 70, 140);
}

TEST(StepCount, AutocastCountsTheProductNotItsWrappers) {
  const auto x = leaf({6, 5}), weight = leaf({7, 5});
  at::autocast::set_autocast_enabled(at::kCPU, true);
  at::autocast::set_autocast_dtype(at::kCPU, at::kBFloat16);
  at::autocast::increment_nesting();
  const FlopTotals totals = count_step([&] { return torch::linear(x, weight); });
  at::autocast::decrement_nesting();
  at::autocast::clear_cache();
  at::autocast::set_autocast_enabled(at::kCPU, false);
  expect_counts(totals, 420, 840);
  EXPECT_EQ(calls_of(totals), (Calls{{"aten::mm", 3}}));
}

TEST(StepCount, FusedAttentionRecomputesInItsBackward) {  // public case A02
  const auto attend = [] {
    return at::scaled_dot_product_attention(leaf({1, 12, 64, 64}), leaf({1, 12, 64, 64}),
                                            leaf({1, 12, 64, 64}));
  };
  const FlopTotals fused = count_step(attend);
  expect_counts(fused, 12'582'912, 25'165'824);
  EXPECT_EQ(fused.backward_hardware_flop, 31'457'280);
  EXPECT_EQ(calls_of(fused), (Calls{{"aten::_scaled_dot_product_flash_attention_for_cpu", 1},
                                    {"aten::_scaled_dot_product_flash_attention_for_cpu_backward", 1}}));
  at::globalContext().setSDPUseFlash(false);
  const FlopTotals unfused = count_step(attend);
  at::globalContext().setSDPUseFlash(true);
  expect_counts(unfused, 12'582'912, 25'165'824);
  EXPECT_EQ(unfused.backward_hardware_flop, 25'165'824);
  EXPECT_EQ(calls_of(unfused), (Calls{{"aten::bmm", 6}}));
}

TEST(StepCount, FrozenKeysCostNothingFusedOrNot) {
  const auto attend = [] {
    return at::scaled_dot_product_attention(leaf({1, 2, 8, 4}), torch::randn({1, 2, 8, 4}),
                                            leaf({1, 2, 8, 4}));
  };
  // one product is 2 x 2 heads x 64 pairs x 4; back: dV, dP and dQ, no dK
  expect_counts(count_step(attend), 2 * 1'024, 3 * 1'024);
  at::globalContext().setSDPUseFlash(false);
  expect_counts(count_step(attend), 2 * 1'024, 3 * 1'024);
  at::globalContext().setSDPUseFlash(true);
}

TEST(StepCount, GroupedQueryAttentionCountsQueryHeads) {  // public case A04
  nn::Linear q(nn::LinearOptions(128, 128).bias(false)), k(nn::LinearOptions(128, 32).bias(false)),
      v(nn::LinearOptions(128, 32).bias(false));
  const auto x = torch::randn({1, 64, 128});
  const auto heads = [&](nn::Linear& projection, int64_t count) {
    return projection->forward(x).view({1, 64, count, 16}).transpose(1, 2);
  };
  const auto attend = [&] {
    return at::scaled_dot_product_attention(heads(q, 8), heads(k, 2), heads(v, 2), {}, 0.0, false, {}, true);
  };
  expect_counts(count_step(attend), 5'242'880, 7'340'032);
  at::globalContext().setSDPUseFlash(false);
  expect_counts(count_step(attend), 5'242'880, 7'340'032);
  at::globalContext().setSDPUseFlash(true);
}

TEST(StepCount, TransposedConvolution) {  // public case A03, the small twin
  nn::ConvTranspose2d up(nn::ConvTranspose2dOptions(4, 6, 2).stride(2));
  nn::Conv2d before(nn::Conv2dOptions(4, 4, 1));
  expect_counts(count_step([&] { return up->forward(torch::randn({2, 4, 5, 6})); }), 11'520, 11'520);
  expect_counts(count_step([&] {
                  return up->forward(before->forward(torch::randn({2, 4, 5, 6})));
                }),
                13'440, 24'960);
}

TEST(StepCount, ConvolutionsCountOnceForAllTheirLayers) {
  nn::Conv2d grouped(nn::Conv2dOptions(8, 12, 3).groups(2));
  const FlopTotals totals = count_step([&] { return grouped->forward(leaf({1, 8, 6, 6})); });
  expect_counts(totals, 13'824, 27'648);
  EXPECT_EQ(calls_of(totals), (Calls{{"aten::convolution", 1}, {"aten::convolution_backward", 1}}));
  nn::Conv1d line(
      nn::Conv1dOptions(3, 8, 3).stride(2).padding(1).dilation(2));  // 11 + 2 - 4 - 1 = 8: 5 positions
  expect_counts(count_step([&] {
                  return line->forward(torch::randn({2, 3, 11}));
                }),
                2 * 2 * 5 * 72, 2 * 2 * 5 * 72);
  nn::Conv3d space(nn::Conv3dOptions(2, 3, 2));
  expect_counts(count_step([&] {
                  return space->forward(leaf({1, 2, 3, 3, 3}));
                }),
                2 * 8 * 48, 2 * 2 * 8 * 48);
  const auto weight = leaf({6, 4, 3, 3});  // padding given as "same": as many outputs as inputs
  const auto same = [&] {
    return at::conv2d(torch::randn({2, 4, 9, 9}), weight, {}, at::IntArrayRef{1}, "same", at::IntArrayRef{1},
                      1);
  };
  expect_counts(count_step(same), 2 * 2 * 81 * 216, 2 * 2 * 81 * 216);
}

TEST(StepCount, AModuleCountsOncePerUse) {  // public case A05
  nn::Linear shared(100, 100);
  const auto apply = [&] {
    std::vector<torch::Tensor> parts;
    for (const auto& part : torch::randn({1, 300}).chunk(3, 1)) {
      parts.push_back(shared->forward(part));
    }
    return torch::cat(parts, 1);
  };
  expect_counts(count_step(apply), 60'000, 60'000);
}

TEST(StepCount, TiedHeadIsCountedAndTheLookupIsNot) {
  nn::Embedding embedding(20, 8);
  const auto ids = torch::randint(20, {2, 3}, torch::kLong);
  const auto tied = [&] { return torch::linear(embedding->forward(ids), embedding->weight); };
  expect_counts(count_step(tied), 2 * 6 * 8 * 20, 2 * 2 * 6 * 8 * 20);
}

TEST(StepCount, FrozenLayersHaveNoWeightGradient) {
  nn::Linear first(8, 8), second(8, 8);
  first->weight.set_requires_grad(false);
  const auto x = leaf({4, 8});
  // one product is 2 x 4 x 8 x 8; back: through the second twice, through the first once
  expect_counts(count_step([&] { return second->forward(first->forward(x)); }), 1'024, 3 * 512);
}

TEST(StepCount, RecurrentLayersFusedOrNot) {
  nn::LSTM lstm(nn::LSTMOptions(3, 5).num_layers(2).bidirectional(true));
  const auto run = [&] { return std::get<0>(lstm->forward(torch::randn({4, 2, 3}))); };
  // 8 positions; input matrices 20 x 3 and 20 x 10, recurrent ones 20 x 5, in both directions of both layers.
  // Back: twice, without the gradient of the input and of the initial state (one position of each of 2
  // sequences)
  const int64_t forward = 2 * 8 * (120 + 400 + 400), backward = 2 * forward - 2 * 8 * 120 - 2 * 2 * 400;
  expect_counts(count_step(run), forward, backward);
  at::globalContext().setUserEnabledMkldnn(false);
  const FlopTotals unfused = count_step(run);
  at::globalContext().setUserEnabledMkldnn(true);
  expect_counts(unfused, forward, backward);
}

TEST(StepCount, GruAndRnnCountThroughTheirProducts) {
  nn::GRU gru(3, 5);
  nn::RNN rnn(3, 5);
  const auto x = torch::randn({4, 2, 3});
  const int64_t gates = 2 * 8 * (45 + 75), cell = 2 * 8 * (15 + 25);
  expect_counts(count_step([&] { return std::get<0>(gru->forward(x)); }), gates,
                2 * gates - 2 * 8 * 45 - 2 * 2 * 75);
  expect_counts(count_step([&] { return std::get<0>(rnn->forward(x)); }), cell,
                2 * cell - 2 * 8 * 15 - 2 * 2 * 25);
}

TEST(StepCount, TheFusedEncoderLayerIsCountedByItsProducts) {
  constexpr int64_t kBatch = 2, kLength = 5, kWidth = 8, kInner = 12, kHeads = 2;
  const auto weight = [](at::IntArrayRef sizes) { return torch::randn(sizes); };
  const auto x = weight({kBatch, kLength, kWidth});
  const torch::NoGradGuard inference;
  FlopObserver observer;
  at::_transformer_encoder_layer_fwd(x, kWidth, kHeads, weight({3 * kWidth, kWidth}), weight({3 * kWidth}),
                                     weight({kWidth, kWidth}), weight({kWidth}), /*use_gelu=*/true,
                                     /*norm_first=*/false, 1e-5, weight({kWidth}), weight({kWidth}),
                                     weight({kWidth}), weight({kWidth}), weight({kInner, kWidth}),
                                     weight({kInner}), weight({kWidth, kInner}), weight({kWidth}));
  const int64_t rows = kBatch * kLength;
  const int64_t linears = 2 * rows * (3 * kWidth * kWidth + kWidth * kWidth + 2 * kWidth * kInner);
  EXPECT_EQ(checked_totals(observer).forward_flop, linears + 2 * 2 * rows * kLength * kWidth);
  EXPECT_FALSE(observer.totals().lower_bound);
}

TEST(StepCount, DistancesAreCountedWhereTheyMultiply) {
  // |x|^2 + |y|^2 - 2 x y as one product of 30 x (5 + 2) x 40; below 26 rows it subtracts
  EXPECT_EQ(count_forward([] {
              torch::cdist(torch::randn({30, 5}), torch::randn({40, 5}));
            }).forward_flop,
            2 * 30 * 7 * 40);
  const FlopTotals few = count_forward([] { torch::cdist(torch::randn({3, 5}), torch::randn({4, 5})); });
  EXPECT_EQ(few.forward_flop, 0);
  EXPECT_FALSE(few.lower_bound);
}

TEST(StepCount, BilinearIsTheProductThatRuns) {
  const auto x = leaf({4, 5}), y = leaf({4, 6}), weight = leaf({3, 5, 6});
  const FlopTotals totals = count_step([&] { return torch::bilinear(x, y, weight); });
  // x W is 4 x 5 with 5 x 6, three times; then a row of 6 with y for each of the 4 x 3 results
  EXPECT_EQ(totals.forward_flop, 2 * 4 * 3 * 5 * 6 + 2 * 4 * 3 * 6);
  EXPECT_EQ(totals.backward_flop, 3 * 2 * 4 * 3 * 5 * 6);  // of x, y and the weight
}

TEST(StepCount, CompositesCountThroughTheirProducts) {
  expect_counts(count_step([] {
                  return torch::einsum("bij,bjk->bik", {leaf({2, 3, 4}), leaf({2, 4, 5})});
                }),
                240, 480);
  expect_counts(count_step([] { return torch::matmul(leaf({2, 3, 4}), leaf({4, 5})); }), 240, 480);
  expect_counts(count_step([] { return torch::tensordot(leaf({3, 4}), leaf({4, 5}), {1}, {0}); }), 120, 240);
  expect_counts(count_step([] { return torch::mv(leaf({3, 4}), leaf({4})); }), 24, 48);
  expect_counts(count_step([] {
                  return torch::addbmm(leaf({3, 7}), leaf({4, 3, 5}), leaf({4, 5, 7}));
                }),
                840, 1'680);
}

}  // namespace
}  // namespace flopmark
