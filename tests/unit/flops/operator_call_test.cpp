#include "flops/operator_call.h"

#include <gtest/gtest.h>

#include <stdexcept>

#include "unit/flops/calls.h"

namespace flopmark {
namespace {

TEST(OperatorCall, GivesArgumentsByKind) {
  const OperatorCall call{
      .name = "aten::x",
      .arguments = {tensor({2, 3}), Ints{4, 5}, Bools{true, false}, int64_t{6}, true, 0.5, kNone}};
  EXPECT_EQ(sizes_at(call, 0, 2), (Ints{2, 3}));
  EXPECT_EQ(ints_at(call, 1), (Ints{4, 5}));
  EXPECT_EQ(bools_at(call, 2), (Bools{true, false}));
  EXPECT_EQ(int_at(call, 3), 6);
  EXPECT_TRUE(bool_at(call, 4));
  EXPECT_NE(find_tensor(call, 0), nullptr);
  EXPECT_EQ(find_tensor(call, 6), nullptr);
  EXPECT_EQ(find_tensor(call, 99), nullptr);
}

TEST(OperatorCall, RefusesAnotherKindRankOrPlaceAndSaysWhich) {
  const OperatorCall call{.name = "aten::x", .arguments = {tensor({2, 3}), kNone}};
  EXPECT_THROW(sizes_at(call, 0, 3), std::invalid_argument);
  EXPECT_THROW(ints_at(call, 0), std::invalid_argument);
  EXPECT_THROW(tensor_at(call, 1), std::invalid_argument);
  try {
    tensor_at(call, 7);
    FAIL() << "no error";
  } catch (const std::invalid_argument& error) {
    EXPECT_STREQ(error.what(), "aten::x: argument 7 is not a dense tensor");
  }
}

}  // namespace
}  // namespace flopmark
