#include <gtest/gtest.h>

#include <stdexcept>

#include "unit/flops/calls.h"

namespace flopmark {
namespace {

TEST(MatmulRules, MatrixTimesMatrix) {
  const Argument a = tensor({3, 5}), b = tensor({5, 7}), bias = tensor({7}), scale = tensor({});
  EXPECT_EQ(flop("aten::mm", {a, b}), 210);  // 2 x 3 x 5 x 7
  EXPECT_EQ(flop("aten::addmm", {bias, a, b, int64_t{1}, int64_t{1}}), 210);
  EXPECT_EQ(flop("aten::addmm_", {tensor({3, 7}), a, b}), 210);
  EXPECT_EQ(flop("aten::_addmm_activation", {bias, a, b}), 210);
  EXPECT_EQ(flop("aten::_int_mm", {a, b}), 210);
  EXPECT_EQ(flop("aten::_scaled_mm", {a, b, scale, scale}), 210);
  EXPECT_EQ(flop("aten::_scaled_mm_v2", {a, b}), 210);
}

TEST(MatmulRules, PairsOfFourBitFloatsAreTwoValues) {
  const Argument a = TensorShape{.sizes = {3, 5}, .packed = 2};
  const Argument b = TensorShape{.sizes = {5, 7}, .packed = 2};
  EXPECT_EQ(flop("aten::_scaled_mm", {a, b}), 420);  // 2 x 3 x 10 x 7
}

TEST(MatmulRules, Batches) {
  const Argument a = tensor({4, 3, 5}), b = tensor({4, 5, 7});
  EXPECT_EQ(flop("aten::bmm", {a, b}), 840);  // 4 x 210
  EXPECT_EQ(flop("aten::baddbmm", {tensor({4, 3, 7}), a, b}), 840);
  EXPECT_EQ(flop("aten::baddbmm_", {tensor({4, 3, 7}), a, b}), 840);
  EXPECT_EQ(flop("aten::addbmm", {tensor({3, 7}), a, b}), 840);
  EXPECT_EQ(flop("aten::addbmm_", {tensor({3, 7}), a, b}), 840);
}

TEST(MatmulRules, Vectors) {
  EXPECT_EQ(flop("aten::mv", {tensor({3, 5}), tensor({5})}), 30);
  EXPECT_EQ(flop("aten::addmv", {tensor({3}), tensor({3, 5}), tensor({5})}), 30);
  EXPECT_EQ(flop("aten::addmv_", {tensor({3}), tensor({3, 5}), tensor({5})}), 30);
  EXPECT_EQ(flop("aten::dot", {tensor({5}), tensor({5})}), 10);
  EXPECT_EQ(flop("aten::vdot", {tensor({5}), tensor({5})}), 10);
  EXPECT_EQ(flop("aten::outer", {tensor({3}), tensor({5})}), 30);  // as mm of 3 x 1 and 1 x 5
  EXPECT_EQ(flop("aten::ger", {tensor({3}), tensor({5})}), 30);
  EXPECT_EQ(flop("aten::addr", {tensor({3, 5}), tensor({3}), tensor({5})}), 30);
  EXPECT_EQ(flop("aten::addr_", {tensor({3, 5}), tensor({3}), tensor({5})}), 30);
}

TEST(MatmulRules, LinearOfAnyRank) {
  EXPECT_EQ(flop("aten::linear", {tensor({2, 3, 5}), tensor({7, 5}), kNone}), 420);  // 2 x 6 x 5 x 7
  EXPECT_EQ(flop("aten::linear", {tensor({5}), tensor({7, 5})}), 70);
  EXPECT_EQ(flop("aten::linear", {tensor({3, 5}), tensor({5})}), 30);
  EXPECT_EQ(flop("aten::mkldnn_linear", {tensor({2, 3, 5}), tensor({7, 5})}), 420);
  EXPECT_TRUE(built_in_rules().find("aten::linear")->only_if_undecomposed);
}

TEST(MatmulRules, LinearBackwardByItsMask) {
  const Argument x = tensor({2, 3, 5}), g = tensor({2, 3, 7}), w = tensor({7, 5});
  for (const char* name : {"aten::linear_backward", "aten::mkldnn_linear_backward"}) {
    EXPECT_EQ(flop(name, {x, g, w, Bools{true, true, true}}), 840);
    EXPECT_EQ(flop(name, {x, g, w, Bools{false, true, true}}), 420);
    EXPECT_EQ(flop(name, {x, g, w, Bools{false, false, true}}), 0);
  }
  EXPECT_EQ(flop("aten::mkldnn_linear_backward_input", {Ints{2, 3, 5}, g, w}), 420);
  EXPECT_EQ(flop("aten::mkldnn_linear_backward_weights", {g, x, w, true}), 420);
}

TEST(MatmulRules, GroupsDivideOneDimension) {
  const Argument ends = offsets({2, 2, 8});  // three groups: 2, 0 and 6
  EXPECT_EQ(flop("aten::_grouped_mm", {tensor({8, 5}), tensor({3, 5, 7}), ends}), 560);  // 2 x 8 x 5 x 7
  EXPECT_EQ(flop("aten::_grouped_mm", {tensor({3, 7, 5}), tensor({5, 8}), ends}), 560);  // 2 x 7 x 5 x 8
  EXPECT_EQ(flop("aten::_grouped_mm", {tensor({5, 8}), tensor({8, 7}), ends}), 560);     // 2 x 5 x 8 x 7
  EXPECT_EQ(flop("aten::_grouped_mm", {tensor({3, 4, 5}), tensor({3, 5, 7}), kNone}), 840);
  EXPECT_EQ(flop("aten::_grouped_mm", {tensor({10, 5}), tensor({3, 5, 7}), ends}),
            560);  // rows 8 and 9: no group
  EXPECT_EQ(flop("aten::_grouped_mm", {tensor({10, 5}), tensor({3, 5, 7}), tensor({3})}),
            700);  // content unknown
  const Argument scale = tensor({1});
  EXPECT_EQ(flop("aten::_scaled_grouped_mm", {tensor({8, 5}), tensor({3, 5, 7}), scale, scale, ends}), 560);
  EXPECT_EQ(flop("aten::_scaled_grouped_mm_v2",
                 {tensor({9, 5}), tensor({3, 5, 7}), kNone, kNone, kNone, kNone, kNone, kNone, ends}),
            560);
}

TEST(MatmulRules, RefuseShapesThatDoNotFit) {
  EXPECT_THROW(flop("aten::mm", {tensor({3, 5}), tensor({6, 7})}), std::invalid_argument);
  EXPECT_THROW(flop("aten::mm", {tensor({3, 5})}), std::invalid_argument);
  EXPECT_THROW(flop("aten::bmm", {tensor({3, 5}), tensor({5, 7})}), std::invalid_argument);
  EXPECT_THROW(flop("aten::_grouped_mm", {tensor({3}), tensor({3})}), std::invalid_argument);
}

TEST(MatmulRules, ListsArePairs) {
  const std::vector<TensorShape> left = {{.sizes = {2, 3}}, {.sizes = {5, 7}}};
  const std::vector<TensorShape> right = {{.sizes = {3, 4}}, {.sizes = {7, 1}}};
  EXPECT_EQ(flop("aten::_foreach_mm", {left, right}), 2 * 2 * 3 * 4 + 2 * 5 * 7);
  EXPECT_EQ(flop("aten::_scaled_addmm", {tensor({2, 4}), tensor({2, 3}), tensor({3, 4})}), 48);
}

}  // namespace
}  // namespace flopmark
