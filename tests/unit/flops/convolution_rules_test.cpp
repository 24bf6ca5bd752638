#include <gtest/gtest.h>

#include <stdexcept>

#include "unit/flops/calls.h"

namespace flopmark {
namespace {

struct Attributes {
  Ints stride = {1}, padding = {0}, dilation = {1};
  bool transposed = false;
  int64_t groups = 1;
};

int64_t forward(const Ints& input, const Ints& weight, const Attributes& a) {
  return flop("aten::convolution", {tensor(input), tensor(weight), kNone, a.stride, a.padding, a.dilation,
                                    a.transposed, Ints{0}, a.groups});
}

int64_t backward(const Ints& input, const Ints& weight, const Attributes& a, const Bools& mask) {
  return flop("aten::convolution_backward", {tensor({1}), tensor(input), tensor(weight), kNone, a.stride,
                                             a.padding, a.dilation, a.transposed, Ints{0}, a.groups, mask});
}

TEST(ConvolutionRules, ForwardByHand) {
  // Conv2d(3, 8, 3, stride 2, padding 1) on 2 x 3 x 9 x 7: output 5 x 4; 2 x 2 x 20 x (8 x 3 x 9)
  EXPECT_EQ(forward({2, 3, 9, 7}, {8, 3, 3, 3}, {.stride = {2, 2}, .padding = {1, 1}}), 17'280);
  // Dilation 2: the kernel spans 5; output 5 x 3
  EXPECT_EQ(forward({2, 3, 9, 7}, {8, 3, 3, 3}, {.dilation = {2, 2}}), 2 * 2 * 15 * 216);
  EXPECT_EQ(forward({2, 3, 9}, {8, 3, 3}, {}), 2 * 2 * 7 * 72);
  EXPECT_EQ(forward({2, 3, 4, 5, 6}, {8, 3, 2, 2, 2}, {}), 2 * 2 * (3 * 4 * 5) * 192);
  EXPECT_EQ(forward({3, 9, 7}, {8, 3, 3, 3}, {}), 2 * (7 * 5) * 216);  // no batch dimension
  EXPECT_EQ(forward({2, 3, 2, 2}, {8, 3, 3, 3}, {}), 0);               // the kernel does not fit once
}

TEST(ConvolutionRules, GroupsDivideTheInputChannels) {
  // Conv2d(8, 12, 3, groups 2) on 1 x 8 x 6 x 6: 2 x 16 positions x 12 x 4 x 9; its weight gradient is as
  // large
  const Ints input = {1, 8, 6, 6}, weight = {12, 4, 3, 3};
  EXPECT_EQ(forward(input, weight, {.groups = 2}), 13'824);
  EXPECT_EQ(backward(input, weight, {.groups = 2}, {false, true, false}), 13'824);
  EXPECT_EQ(backward(input, weight, {.groups = 2}, {true, true, true}), 27'648);
  EXPECT_EQ(backward({1, 8, 6, 6}, {8, 1, 3, 3}, {.groups = 8}, {false, true, true}),
            2 * 16 * 72);  // depthwise
}

TEST(ConvolutionRules, BackwardByItsMask) {
  const Ints input = {2, 3, 9, 7}, weight = {8, 3, 3, 3};
  const Attributes attributes = {.stride = {2, 2}, .padding = {1, 1}};
  EXPECT_EQ(backward(input, weight, attributes, {true, false, true}), 17'280);
  EXPECT_EQ(backward(input, weight, attributes, {false, true, false}), 17'280);
  EXPECT_EQ(backward(input, weight, attributes, {true, true, false}), 34'560);
  EXPECT_EQ(backward(input, weight, attributes, {false, false, true}), 0);  // the bias gradient is a sum
}

TEST(ConvolutionRules, TransposedCountsInputPositions) {
  // ConvTranspose2d(192, 384, 2, stride 2) on 6 x 192 x 30 x 96, public case A03
  const Ints input = {6, 192, 30, 96}, weight = {192, 384, 2, 2};
  const Attributes attributes = {.stride = {2, 2}, .transposed = true};
  EXPECT_EQ(forward(input, weight, attributes), 10'192'158'720);
  EXPECT_EQ(backward(input, weight, attributes, {false, true, true}), 10'192'158'720);
  EXPECT_EQ(backward(input, weight, attributes, {true, true, true}), 20'384'317'440);
  EXPECT_EQ(forward({2, 4, 5, 6}, {4, 6, 2, 2}, attributes), 11'520);
}

TEST(ConvolutionRules, EveryBackendAtItsOwnPlaces) {
  // Conv2d(3, 8, 3, stride 2, padding 1, dilation 2) on 2 x 3 x 12 x 14: output 5 x 6; 2 x 2 x 30 x 216
  const Argument x = tensor({2, 3, 12, 14}), w = tensor({8, 3, 3, 3});
  const Ints stride{2, 2}, padding{1, 1}, dilation{2, 2}, kernel{3, 3};
  const int64_t groups = 1, dilated = 25'920;
  for (const char* name : {"aten::convolution", "aten::_convolution", "aten::convolution_overrideable"}) {
    EXPECT_EQ(flop(name, {x, w, kNone, stride, padding, dilation, false, Ints{0, 0}, groups}), dilated)
        << name;
  }
  EXPECT_EQ(flop("aten::cudnn_convolution", {x, w, padding, stride, dilation, groups}), dilated);
  for (const char* name :
       {"aten::mkldnn_convolution", "aten::miopen_convolution", "aten::miopen_depthwise_convolution"}) {
    EXPECT_EQ(flop(name, {x, w, kNone, padding, stride, dilation, groups}), dilated) << name;
  }
  for (const char* name : {"aten::cudnn_convolution_relu", "aten::miopen_convolution_relu"}) {
    EXPECT_EQ(flop(name, {x, w, kNone, stride, padding, dilation, groups}), dilated) << name;
  }
  for (const char* name : {"aten::cudnn_convolution_add_relu", "aten::miopen_convolution_add_relu"}) {
    EXPECT_EQ(flop(name, {x, w, x, kNone, kNone, stride, padding, dilation, groups}), dilated) << name;
  }
  for (const char* name : {"aten::slow_conv_dilated2d", "aten::_conv_depthwise2d"}) {
    EXPECT_EQ(flop(name, {x, w, kernel, kNone, stride, padding, dilation}), dilated) << name;
  }
  // Without dilation the output is 6 x 7
  const int64_t plain = 2 * 2 * 42 * 216;
  for (const char* name : {"aten::thnn_conv2d", "aten::_slow_conv2d_forward"}) {
    EXPECT_EQ(flop(name, {x, w, kernel, kNone, stride, padding}), plain) << name;
  }
  EXPECT_EQ(flop("aten::_nnpack_spatial_convolution", {x, w, kNone, padding, stride}), plain);
  EXPECT_EQ(flop("aten::_slow_conv2d_backward", {x, x, w, kernel, stride, padding, Bools{true, true, false}}),
            2 * plain);
  EXPECT_EQ(flop("aten::convolution_backward_overrideable",
                 {x, x, w, stride, padding, dilation, false, Ints{0, 0}, groups, Bools{true, true, false}}),
            2 * dilated);
}

TEST(ConvolutionRules, ThreeDimensionalAndTransposedBackends) {
  // 2 x 3 x 6 x 7 x 8, kernel 2, stride 2, padding 1, dilation 3: span 4, output 3 x 3 x 4
  const Argument x = tensor({2, 3, 6, 7, 8}), w = tensor({5, 3, 2, 2, 2});
  const Ints kernel{2, 2, 2}, stride{2, 2, 2}, padding{1, 1, 1}, dilation{3, 3, 3};
  for (const char* name : {"aten::slow_conv_dilated3d", "aten::conv_depthwise3d"}) {
    EXPECT_EQ(flop(name, {x, w, kernel, kNone, stride, padding, dilation}), 2 * 2 * 36 * 120) << name;
  }
  for (const char* name : {"aten::slow_conv3d", "aten::slow_conv3d_forward"}) {  // output 4 x 4 x 5
    EXPECT_EQ(flop(name, {x, w, kernel, kNone, stride, padding}), 2 * 2 * 80 * 120) << name;
  }
  for (const char* name : {"aten::slow_conv_transpose2d", "aten::cudnn_convolution_transpose",
                           "aten::miopen_convolution_transpose"}) {
    EXPECT_EQ(flop(name, {tensor({2, 4, 5, 6}), tensor({4, 6, 2, 2})}), 11'520) << name;
  }
  EXPECT_EQ(flop("aten::slow_conv_transpose3d", {x, tensor({3, 5, 2, 2, 2})}), 2 * 2 * (6 * 7 * 8) * 120);
}

TEST(ConvolutionRules, RefuseShapesThatDoNotFit) {
  EXPECT_THROW(forward({2, 3}, {8, 3, 3, 3}, {}), std::invalid_argument);
  EXPECT_THROW(forward({2, 3}, {8, 3}, {}), std::invalid_argument);
  EXPECT_THROW(flop("aten::_slow_conv2d_backward", {tensor({1}), tensor({1, 1, 4, 4}), tensor({1, 1, 3, 3})}),
               std::invalid_argument);
}

}  // namespace
}  // namespace flopmark
