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
