#include "flops/observe/call_reader.h"

#include <ATen/core/dispatch/Dispatcher.h>

#include "unit/flops/observe/counting.h"

namespace flopmark {
namespace {

TEST(CallReader, ReadsOffsetsOfGroups) {
  const auto x = torch::randn({10, 16}).to(torch::kBFloat16),
             w = torch::randn({3, 16, 8}).to(torch::kBFloat16);
  const auto ends = torch::tensor({2, 2, 8}, torch::kInt);
  const FlopTotals totals = count_forward([&] { at::_grouped_mm(x, w, ends); });
  EXPECT_EQ(totals.forward_flop, 2 * 8 * 16 * 8);  // rows 8 and 9 are in no group
}

TEST(CallReader, FindsTheArgumentsOfABoxedCallOnALongerStack) {
  const auto mm = c10::Dispatcher::singleton().findSchemaOrThrow("aten::mm", "");
  torch::jit::Stack stack = {torch::randn({9, 9}), int64_t{1}, torch::randn({3, 5}), torch::randn({5, 7})};
  EXPECT_EQ(count_forward([&] { mm.callBoxed(stack); }).forward_flop, 210);
  EXPECT_EQ(stack.size(), 3u);
}

TEST(CallReader, ComplexProductsAreFourReal) {
  const auto x = torch::randn({3, 5}, torch::kComplexFloat);
  EXPECT_EQ(count_forward([&] { x.mm(x.t()); }).forward_flop, 4 * 2 * 3 * 5 * 3);
}

TEST(CallReader, SparseProductsAreListedNotGuessed) {
  const auto sparse = torch::eye(8).to_sparse();
  const FlopTotals totals = count_forward([&] { torch::mm(sparse, torch::randn({8, 4})); });
  EXPECT_EQ(totals.forward_flop, 0);
  EXPECT_TRUE(totals.lower_bound);
  EXPECT_EQ(totals.uncounted.size(), 1u);
}

TEST(CallReader, NestedTensorsAreListedOrCountedByWhatTheyRun) {
  const auto left = at::_nested_tensor_from_tensor_list({torch::randn({2, 4}), torch::randn({3, 4})});
  const auto right = at::_nested_tensor_from_tensor_list({torch::randn({4, 5}), torch::randn({4, 5})});
  const FlopTotals totals = count_forward([&] { at::bmm(left, right); });
  EXPECT_TRUE(totals.lower_bound || totals.forward_flop == 200);  // 2 x (2 + 3) x 4 x 5
}

}  // namespace
}  // namespace flopmark
