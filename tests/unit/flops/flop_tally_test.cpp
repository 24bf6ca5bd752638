#include "flops/flop_tally.h"

#include <gtest/gtest.h>

#include <limits>
#include <stdexcept>

namespace flopmark {
namespace {

TEST(FlopTally, KeepsThePartsApartAndTheSumsEqual) {
  FlopTally tally;
  tally.count({.part = FlopPart::forward, .name = "aten::mm", .flop = {10, 10}});
  tally.count({.part = FlopPart::recompute, .name = "aten::mm", .flop = {10, 10}});
  tally.count({.part = FlopPart::backward, .name = "aten::mm", .flop = {20, 20}});
  tally.count({.part = FlopPart::backward, .name = "aten::attention_backward", .flop = {4, 5}});
  tally.count({.part = FlopPart::optimizer, .name = "aten::mm", .flop = {1000, 1000}});
  const FlopTotals totals = tally.totals();
  EXPECT_EQ(totals.forward_flop, 10);
  EXPECT_EQ(totals.backward_flop, 24);
  EXPECT_EQ(totals.backward_hardware_flop, 25);
  EXPECT_EQ(totals.recompute_flop, 10);
  EXPECT_EQ(totals.optimizer_flop, 1000);
  EXPECT_EQ(totals.model_flop(), 34);
  EXPECT_EQ(totals.hardware_flop(), 45);
  ASSERT_EQ(totals.by_operator.size(), 2u);
  EXPECT_EQ(totals.by_operator[0].name, "aten::attention_backward");
  EXPECT_EQ(totals.by_operator[1].calls, 3);
  EXPECT_EQ(totals.by_operator[0].model_flop + totals.by_operator[1].model_flop, totals.model_flop());
  EXPECT_EQ(totals.by_operator[0].hardware_flop + totals.by_operator[1].hardware_flop,
            totals.hardware_flop());
}

TEST(FlopTally, UncountedOperatorsMakeALowerBoundExceptInTheOptimizer) {
  FlopTally tally;
  tally.list_uncounted(FlopPart::optimizer, "aten::linalg_qr");
  EXPECT_FALSE(tally.totals().lower_bound);
  tally.list_uncounted(FlopPart::forward, "aten::_fft_r2c");
  tally.list_uncounted(FlopPart::backward, "aten::_fft_r2c");
  const FlopTotals totals = tally.totals();
  EXPECT_TRUE(totals.lower_bound);
  ASSERT_EQ(totals.uncounted.size(), 2u);
  EXPECT_EQ(totals.uncounted[0].name, "aten::_fft_r2c");
  EXPECT_EQ(totals.uncounted[0].calls, 2);
}

TEST(FlopTally, SumsByPrecisionAndByModuleInOrderOfFirstCall) {
  FlopTally tally;
  tally.count(
      {.part = FlopPart::forward, .name = "aten::mm", .flop = {10, 10}, .precision = "bf16", .module = "b"});
  tally.count(
      {.part = FlopPart::forward, .name = "aten::mm", .flop = {1, 1}, .precision = "fp32", .module = "a"});
  tally.count({.part = FlopPart::recompute,
               .name = "aten::mm",
               .flop = {10, 10},
               .precision = "bf16",
               .module = "b"});
  tally.count(
      {.part = FlopPart::backward, .name = "aten::at", .flop = {20, 25}, .precision = "bf16", .module = "b"});
  tally.count({.part = FlopPart::optimizer,
               .name = "aten::mm",
               .flop = {99, 99},
               .precision = "fp32",
               .module = "a"});
  const FlopTotals totals = tally.totals();
  ASSERT_EQ(totals.by_precision.size(), 2u);
  EXPECT_EQ(totals.by_precision[0].precision, "bf16");
  EXPECT_EQ(totals.by_precision[0].model_flop, 30);
  EXPECT_EQ(totals.by_precision[0].hardware_flop, 45);
  EXPECT_EQ(totals.by_precision[1].hardware_flop, 1);
  ASSERT_EQ(totals.by_module.size(), 2u);
  EXPECT_EQ(totals.by_module[0].path, "b");
  EXPECT_EQ(totals.by_module[0].forward_flop, 10);
  EXPECT_EQ(totals.by_module[0].recompute_flop, 10);
  EXPECT_EQ(totals.by_module[0].model_flop(), 30);
  EXPECT_EQ(totals.by_module[0].hardware_flop(), 45);
  EXPECT_EQ(totals.by_module[1].hardware_flop(), 1);
}

TEST(FlopTally, TheCausalConventionHalvesCausalCallsAndNothingElse) {
  const CountedCall causal{.part = FlopPart::backward, .name = "aten::attention", .flop = {40, 50, true}};
  const CountedCall square{.part = FlopPart::backward, .name = "aten::attention", .flop = {40, 50, false}};
  FlopTally full, half(AttentionConvention::causal);
  for (FlopTally* tally : {&full, &half}) {
    tally->count(causal);
    tally->count(square);
  }
  EXPECT_EQ(full.totals().backward_flop, 80);
  EXPECT_EQ(full.totals().attention_convention, "full");
  EXPECT_EQ(half.totals().backward_flop, 60);
  EXPECT_EQ(half.totals().backward_hardware_flop, 75);
  EXPECT_EQ(half.totals().attention_convention, "causal");
  EXPECT_EQ(attention_convention("causal"), AttentionConvention::causal);
  EXPECT_THROW(attention_convention("Causal"), std::invalid_argument);
}

TEST(FlopTally, RepeatedMultipliesEveryCount) {
  FlopTally tally;
  tally.count({.part = FlopPart::forward, .name = "aten::mm", .flop = {10, 10}, .module = "a"});
  tally.count({.part = FlopPart::backward, .name = "aten::mm", .flop = {20, 25}, .module = "a"});
  tally.list_uncounted(FlopPart::forward, "aten::_fft_r2c");
  const FlopTotals four = repeated(tally.totals(), 4);
  EXPECT_EQ(four.model_flop(), 120);
  EXPECT_EQ(four.hardware_flop(), 140);
  EXPECT_EQ(four.by_operator[0].calls, 8);
  EXPECT_EQ(four.by_operator[0].hardware_flop, 140);
  EXPECT_EQ(four.by_precision[0].model_flop, 120);
  EXPECT_EQ(four.by_module[0].hardware_flop(), 140);
  EXPECT_EQ(four.uncounted[0].calls, 4);
  EXPECT_THROW(repeated(four, std::numeric_limits<int64_t>::max()), std::overflow_error);
}

TEST(FlopTally, RefusesOverflow) {
  FlopTally tally;
  tally.count(
      {.part = FlopPart::forward, .name = "aten::mm", .flop = {std::numeric_limits<int64_t>::max(), 1}});
  EXPECT_THROW(tally.count({.part = FlopPart::forward, .name = "aten::mm", .flop = {1, 1}}),
               std::overflow_error);
}

}  // namespace
}  // namespace flopmark
