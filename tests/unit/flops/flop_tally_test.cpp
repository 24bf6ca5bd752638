#include "flops/flop_tally.h"

#include <gtest/gtest.h>

#include <limits>
#include <stdexcept>

namespace flopmark {
namespace {

TEST(FlopTally, KeepsThePartsApartAndTheSumsEqual) {
  FlopTally tally;
  tally.count(FlopPart::forward, "aten::mm", {10, 10});
  tally.count(FlopPart::recompute, "aten::mm", {10, 10});
  tally.count(FlopPart::backward, "aten::mm", {20, 20});
  tally.count(FlopPart::backward, "aten::attention_backward", {4, 5});
  tally.count(FlopPart::optimizer, "aten::mm", {1000, 1000});
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

TEST(FlopTally, RefusesOverflow) {
  FlopTally tally;
  tally.count(FlopPart::forward, "aten::mm", {std::numeric_limits<int64_t>::max(), 1});
  EXPECT_THROW(tally.count(FlopPart::forward, "aten::mm", {1, 1}), std::overflow_error);
}

}  // namespace
}  // namespace flopmark
