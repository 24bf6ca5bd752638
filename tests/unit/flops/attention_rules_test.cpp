#include <gtest/gtest.h>

#include <stdexcept>

#include "unit/flops/calls.h"

namespace flopmark {
namespace {

void expect_flop(const OperatorFlop& flop, int64_t model, int64_t hardware) {
  EXPECT_EQ(flop.model_flop, model);
  EXPECT_EQ(flop.hardware_flop, hardware);
}

const std::vector<std::string> kForward = {"_scaled_dot_product_flash_attention",
                                           "_scaled_dot_product_flash_attention_for_cpu",
                                           "_scaled_dot_product_efficient_attention",
                                           "_scaled_dot_product_cudnn_attention",
                                           "_scaled_dot_product_fused_attention_overrideable",
                                           "_scaled_dot_product_attention_math_for_mps"};

TEST(AttentionRules, EveryFusedForward) {
  const Argument t = tensor({1, 12, 64, 64});  // public case A02
  // 6 query heads on 2 key heads, 3 queries on 5 keys, head sizes 4 and 7: 2 x 2 x 6 x 3 x 5 x 11
  const Argument q = tensor({2, 6, 3, 4}), k = tensor({2, 2, 5, 4}), v = tensor({2, 2, 5, 7});
  for (const auto& name : kForward) {
    EXPECT_EQ(flop("aten::" + name, {t, t, t}), 12'582'912) << name;
    EXPECT_EQ(flop("aten::" + name, {q, k, v}), 3'960) << name;
  }
}

TEST(AttentionRules, BackwardIsFourProductsAndFiveInTheKernel) {
  const Argument t = tensor({1, 12, 64, 64}), q = tensor({2, 6, 3, 4}), k = tensor({2, 2, 5, 4}),
                 v = tensor({2, 2, 5, 7});
  for (const char* name : {"aten::_scaled_dot_product_flash_attention_backward",
                           "aten::_scaled_dot_product_flash_attention_for_cpu_backward",
                           "aten::_scaled_dot_product_cudnn_attention_backward"}) {
    expect_flop(flop_of(name, {t, t, t, t}), 25'165'824, 31'457'280);
    expect_flop(flop_of(name, {v, q, k, v}), 7'920, 360 * (3 * 4 + 2 * 7));  // 2 x B H S_q S_k = 360
  }
}

TEST(AttentionRules, BackwardNeedsFewerProductsWhereAnInputIsFrozen) {
  const char* name = "aten::_scaled_dot_product_flash_attention_backward";
  const Ints q{2, 6, 3, 4}, k{2, 2, 5, 4}, v{2, 2, 5, 7};
  const int64_t hardware = 360 * 26;
  expect_flop(flop_of(name, {kNone, tensor(q), frozen(k), tensor(v)}), 360 * (4 + 14), hardware);
  expect_flop(flop_of(name, {kNone, tensor(q), tensor(k), frozen(v)}), 360 * (8 + 7), hardware);
  expect_flop(flop_of(name, {kNone, frozen(q), frozen(k), tensor(v)}), 360 * 7, hardware);
  expect_flop(flop_of(name, {kNone, frozen(q), frozen(k), frozen(v)}), 360 * 22, hardware);  // marks lost
}

TEST(AttentionRules, BackwardByItsMask) {
  const Argument q = tensor({2, 6, 3, 4}), k = tensor({2, 2, 5, 4}), v = tensor({2, 2, 5, 7});
  const auto efficient = [&](const Bools& mask) {
    return flop_of("aten::_scaled_dot_product_efficient_attention_backward",
                   {v, q, k, v, kNone, v, kNone, kNone, kNone, 0.0, mask, false});
  };
  expect_flop(efficient({true, true, true, false}), 360 * 22, 360 * 26);
  expect_flop(efficient({true, false, false, false}), 360 * 11, 360 * 26);
  expect_flop(efficient({false, false, true, true}), 360 * 14, 360 * 26);  // the bias needs dP
  expect_flop(flop_of("aten::_scaled_dot_product_fused_attention_overrideable_backward",
                      {v, q, k, v, kNone, Bools{false, true, true, false}}),
              360 * (4 + 14), 360 * 26);
}

TEST(AttentionRules, DenseKernelsWithPositionsBeforeHeads) {
  const Argument q = tensor({2, 3, 6, 4}), k = tensor({2, 5, 2, 4}), v = tensor({2, 5, 2, 7});
  EXPECT_EQ(flop("aten::_flash_attention_forward", {q, k, v, kNone, kNone, int64_t{3}, int64_t{5}}), 3'960);
  EXPECT_EQ(flop("aten::_flash_attention_forward_no_dropout_inplace", {v, q, k, v, kNone, kNone}), 3'960);
  EXPECT_EQ(flop("aten::_efficient_attention_forward", {q, k, v, kNone, kNone, kNone}), 3'960);
  expect_flop(flop_of("aten::_flash_attention_backward", {v, q, k, v, v, kNone, kNone, kNone}), 7'920, 9'360);
  expect_flop(flop_of("aten::_efficient_attention_backward", {v, q, k, v, kNone, v, kNone, kNone}), 7'920,
              9'360);
  // cuDNN keeps heads before positions
  const Argument hq = tensor({2, 6, 3, 4}), hk = tensor({2, 2, 5, 4}), hv = tensor({2, 2, 5, 7});
  EXPECT_EQ(flop("aten::_cudnn_attention_forward", {hq, hk, hv, kNone, kNone, kNone}), 3'960);
  expect_flop(flop_of("aten::_cudnn_attention_backward", {hv, hq, hk, hv}), 7'920, 9'360);
}

TEST(AttentionRules, PackedSequencesAttendToThemselves) {
  // Queries of 2 and 3 positions on keys of 4 and 1: 2 x 4 + 3 x 1 = 11 pairs; 2 x 11 x 6 heads x (4 + 7)
  const Argument q = tensor({5, 6, 4}), k = tensor({5, 2, 4}), v = tensor({5, 2, 7});
  const Argument of_q = offsets({0, 2, 5}), of_k = offsets({0, 4, 5});
  EXPECT_EQ(flop("aten::_flash_attention_forward", {q, k, v, of_q, of_k}), 1'452);
  EXPECT_EQ(flop("aten::_flash_attention_forward_no_dropout_inplace", {v, q, k, v, of_q, of_k}), 1'452);
  EXPECT_EQ(flop("aten::_cudnn_attention_forward", {q, k, v, kNone, of_q, of_k}), 1'452);
  const Argument q4 = tensor({1, 5, 6, 4}), k4 = tensor({1, 5, 2, 4}), v4 = tensor({1, 5, 2, 7});
  EXPECT_EQ(flop("aten::_efficient_attention_forward", {q4, k4, v4, kNone, of_q, of_k}), 1'452);
  const int64_t model = 2'904, hardware = 2 * 66 * 26;
  expect_flop(flop_of("aten::_flash_attention_backward", {v, q, k, v, v, kNone, of_q, of_k}), model,
              hardware);
  expect_flop(flop_of("aten::_efficient_attention_backward", {v4, q4, k4, v4, kNone, v4, of_q, of_k}), model,
              hardware);
  expect_flop(
      flop_of("aten::_cudnn_attention_backward", {v, q, k, v, v, kNone, kNone, kNone, kNone, of_q, of_k}),
      model, hardware);
}

TEST(AttentionRules, KnowTheCausalCallsOnSquareShapes) {
  const Argument q = tensor({2, 6, 5, 4}), k = tensor({2, 2, 5, 4}), v = tensor({2, 2, 5, 7});
  const Argument longer = tensor({2, 2, 8, 4});
  const char* forward = "aten::_scaled_dot_product_flash_attention";
  EXPECT_TRUE(flop_of(forward, {q, k, v, 0.0, true}).causal);
  EXPECT_FALSE(flop_of(forward, {q, k, v, 0.0, false}).causal);
  EXPECT_FALSE(flop_of(forward, {q, k, v}).causal);
  EXPECT_FALSE(flop_of(forward, {q, longer, longer, 0.0, true}).causal);
  EXPECT_TRUE(flop_of(forward, {q, k, v, kNone, kNone, kNone, 0.0, true, false}).causal);  // scales before
  EXPECT_TRUE(flop_of("aten::_scaled_dot_product_efficient_attention_backward",
                      {v, q, k, v, kNone, v, kNone, kNone, kNone, 0.0, Bools{true, true, true, false}, true})
                  .causal);
  // efficient attention has a kind of mask: 0 none, 1 and 2 causal
  const Argument pq = tensor({1, 5, 6, 4}), pk = tensor({1, 5, 2, 4}), pv = tensor({1, 5, 2, 7});
  const auto efficient = [&](int64_t mask, const Argument& of_q, const Argument& of_k) {
    return flop_of("aten::_efficient_attention_forward",
                   {pq, pk, pv, kNone, of_q, of_k, int64_t{3}, int64_t{3}, 0.0, mask})
        .causal;
  };
  EXPECT_FALSE(efficient(0, offsets({0, 2, 5}), offsets({0, 2, 5})));
  EXPECT_TRUE(efficient(1, offsets({0, 2, 5}), offsets({0, 2, 5})));
  EXPECT_FALSE(efficient(1, offsets({0, 2, 5}), offsets({0, 3, 5})));
}

TEST(AttentionRules, CudnnInPlace) {
  const Argument q = tensor({5, 6, 4}), k = tensor({5, 2, 4}), v = tensor({5, 2, 7});
  std::vector<Argument> call = {
      v, q, k, v, offsets({0, 2, 5}), offsets({0, 4, 5}), int64_t{3}, int64_t{4}, true, 1.0, kNone, kNone};
  const char* name = "aten::_cudnn_attention_forward_no_dropout_inplace";
  EXPECT_EQ(flop(name, call), 1'452);
  call[10] = tensor({2});  // seqused_k
  EXPECT_THROW(flop(name, call), std::invalid_argument);
}

TEST(AttentionRules, PaddedHeadsAreCountedAsTheyWere) {
  const auto scope = attention_scope(
      {.name = "aten::scaled_dot_product_attention",
       .arguments = {tensor({2, 6, 5, 12}), tensor({2, 2, 5, 12}), tensor({2, 2, 5, 20}), kNone, 0.0, true}});
  ASSERT_TRUE(scope);
  EXPECT_TRUE(scope->causal);
  const char* name = "aten::_scaled_dot_product_flash_attention_backward";
  const FlopRule& rule = *built_in_rules().find(name);
  const Argument q = tensor({2, 6, 5, 16}), k = tensor({2, 2, 5, 16}), v = tensor({2, 2, 5, 24});
  const OperatorCall padded{.name = name, .arguments = {v, q, k, v}};
  const OperatorFlop flop = count_call(rule, without_padding(padded, rule, *scope));
  expect_flop(flop, 2 * 2 * 6 * 25 * (2 * 12 + 2 * 20), 2 * 2 * 6 * 25 * (3 * 12 + 2 * 20));
  EXPECT_FALSE(
      attention_scope({.name = "aten::scaled_dot_product_attention", .arguments = {kNone, kNone, kNone}}));
}

TEST(AttentionRules, RefuseWhatTheShapesDoNotTell) {
  const Argument q = tensor({5, 6, 4}), unknown = tensor({3});
  EXPECT_THROW(flop("aten::_flash_attention_forward", {q, q, q, unknown, unknown}), std::invalid_argument);
  EXPECT_THROW(flop("aten::_flash_attention_forward", {q, q, q, offsets({0, 5}), offsets({0, 2, 5})}),
               std::invalid_argument);
  std::vector<Argument> paged = {tensor({1, 3, 6, 4}), tensor({1, 5, 6, 4}), tensor({1, 5, 6, 4}), kNone,
                                 kNone};
  paged.resize(16, kNone);
  EXPECT_EQ(flop("aten::_flash_attention_forward", paged), 2 * 6 * 3 * 5 * 8);
  paged[13] = tensor({1});  // seqused_k
  EXPECT_THROW(flop("aten::_flash_attention_forward", paged), std::invalid_argument);
}

}  // namespace
}  // namespace flopmark
