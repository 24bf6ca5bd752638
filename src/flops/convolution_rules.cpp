#include <fmt/format.h>

#include <stdexcept>

#include "flops/checked_math.h"
#include "flops/rules.h"

// Convolutions: 2 x output elements x (C_in / groups) x kernel elements (Dumoulin and Visin,
// arXiv:1603.07285, for the output size); the padding is multiplied like the rest. The weight is [C_out, C_in
// / groups, kernel...], so the number of its values times the output positions is the count for any number of
// groups and dimensions. A transposed convolution is the input gradient of one: its weight is [C_in, C_out /
// groups, kernel...] and it costs 2 x input positions x values of the weight. Each gradient, input's and
// weight's, costs the forward once more.

namespace flopmark {
namespace {

constexpr size_t kAbsent = 999;

/// Where an operator keeps its arguments.
struct Places {
  size_t input = 0, weight = 1;
  size_t stride = kAbsent, padding = kAbsent, dilation = kAbsent, transposed = kAbsent;
};

/// Element i of an attribute: the operator may give one value for all dimensions; `missing` where it has
/// none.
int64_t attribute(const OperatorCall& call, size_t place, size_t i, int64_t missing) {
  if (place == kAbsent) {
    return missing;
  }
  const auto& values = ints_at(call, place);
  return values.size() == 1 ? values[0] : values.at(i);
}

/// Positions of the kernel along one dimension.
int64_t output_size(int64_t input, int64_t kernel, int64_t stride, int64_t padding, int64_t dilation) {
  const int64_t room = input + 2 * padding - dilation * (kernel - 1) - 1;
  return room < 0 ? 0 : room / stride + 1;
}

/// The batch size, 1 where the input has none; and the first spatial dimension of the input.
std::pair<int64_t, size_t> batch_of(const OperatorCall& call, const TensorShape& input,
                                    const TensorShape& weight) {
  if (weight.sizes.size() < 3 ||
      (input.sizes.size() != weight.sizes.size() && input.sizes.size() + 1 != weight.sizes.size())) {
    throw std::invalid_argument(fmt::format("{}: input of {} and weight of {} dimensions", call.name,
                                            input.sizes.size(), weight.sizes.size()));
  }
  const bool batched = input.sizes.size() == weight.sizes.size();
  return {batched ? input.sizes[0] : 1, batched ? 2 : 1};
}

/// FLOPs of one pass; `positions` are those of the side on which the kernel slides, spatial only.
int64_t pass_flop(int64_t batch, int64_t positions, const TensorShape& weight) {
  return checked_product({2, batch, positions, checked_product(weight.sizes)});
}

int64_t transposed_flop(const OperatorCall& call, const TensorShape& input, const TensorShape& weight) {
  const auto [batch, first] = batch_of(call, input, weight);
  return pass_flop(batch, checked_product(std::span(input.sizes).subspan(first)), weight);
}

int64_t forward_flop(const OperatorCall& call, const Places& at) {
  const TensorShape &input = tensor_at(call, at.input), &weight = tensor_at(call, at.weight);
  if (at.transposed != kAbsent && bool_at(call, at.transposed)) {
    return transposed_flop(call, input, weight);
  }
  const auto [batch, first] = batch_of(call, input, weight);
  int64_t positions = 1;
  for (size_t i = 0; i + 2 < weight.sizes.size(); ++i) {
    const int64_t size =
        output_size(input.sizes[first + i], weight.sizes[i + 2], attribute(call, at.stride, i, 1),
                    attribute(call, at.padding, i, 0), attribute(call, at.dilation, i, 1));
    positions = checked_multiply(positions, size);
  }
  return pass_flop(batch, positions, weight);
}

template <Places At>
OperatorFlop convolution(const OperatorCall& call) {
  const int64_t flop = forward_flop(call, At);
  return {flop, flop};
}

OperatorFlop transposed_convolution(const OperatorCall& call) {
  const int64_t flop = transposed_flop(call, tensor_at(call, 0), tensor_at(call, 1));
  return {flop, flop};
}

/// The mask says whether the gradients of input, weight and bias are wanted.
template <Places At, size_t Mask>
OperatorFlop convolution_backward(const OperatorCall& call) {
  const auto& mask = bools_at(call, Mask);
  const int64_t gradients = int64_t{mask.at(0)} + int64_t{mask.at(1)};
  const int64_t flop = checked_multiply(gradients, forward_flop(call, At));
  return {flop, flop};
}

// convolution, _convolution: input, weight, bias, stride, padding, dilation, transposed
constexpr Places kGeneral = {.stride = 3, .padding = 4, .dilation = 5, .transposed = 6};
// cudnn_convolution: self, weight, padding, stride, dilation
constexpr Places kCudnn = {.stride = 3, .padding = 2, .dilation = 4};
// mkldnn, miopen: self, weight, bias, padding, stride, dilation
constexpr Places kWithBias = {.stride = 4, .padding = 3, .dilation = 5};
// cudnn_convolution_relu: self, weight, bias, stride, padding, dilation
constexpr Places kRelu = {.stride = 3, .padding = 4, .dilation = 5};
// cudnn_convolution_add_relu: self, weight, z, alpha, bias, stride, padding, dilation
constexpr Places kAddRelu = {.stride = 5, .padding = 6, .dilation = 7};
// thnn and depthwise: self, weight, kernel_size, bias, stride, padding[, dilation]
constexpr Places kThnn = {.stride = 4, .padding = 5};
constexpr Places kThnnDilated = {.stride = 4, .padding = 5, .dilation = 6};
constexpr Places kNnpack = {.stride = 4, .padding = 3};
// convolution_backward: grad_output, input, weight, bias_sizes, stride, padding, dilation, transposed, ...,
// mask at 10
constexpr Places kBackward = {
    .input = 1, .weight = 2, .stride = 4, .padding = 5, .dilation = 6, .transposed = 7};
// convolution_backward_overrideable: the same without bias_sizes, mask at 9
constexpr Places kOverride = {
    .input = 1, .weight = 2, .stride = 3, .padding = 4, .dilation = 5, .transposed = 6};
// _slow_conv2d_backward: grad_output, self, weight, kernel_size, stride, padding, mask
constexpr Places kSlowBackward = {.input = 1, .weight = 2, .stride = 4, .padding = 5};

}  // namespace

std::vector<FlopRule> convolution_rules() {
  return {
      {"aten::convolution", convolution<kGeneral>},
      {"aten::convolution_overrideable", convolution<kGeneral>},
      {"aten::_convolution", convolution<kGeneral>},
      {"aten::cudnn_convolution", convolution<kCudnn>},
      {"aten::cudnn_convolution_relu", convolution<kRelu>},
      {"aten::cudnn_convolution_add_relu", convolution<kAddRelu>},
      {"aten::cudnn_convolution_transpose", transposed_convolution},
      {"aten::miopen_convolution", convolution<kWithBias>},
      {"aten::miopen_depthwise_convolution", convolution<kWithBias>},
      {"aten::miopen_convolution_relu", convolution<kRelu>},
      {"aten::miopen_convolution_add_relu", convolution<kAddRelu>},
      {"aten::miopen_convolution_transpose", transposed_convolution},
      {"aten::mkldnn_convolution", convolution<kWithBias>},
      {"aten::_nnpack_spatial_convolution", convolution<kNnpack>},
      {"aten::thnn_conv2d", convolution<kThnn>},
      {"aten::_slow_conv2d_forward", convolution<kThnn>},
      {"aten::slow_conv3d", convolution<kThnn>},
      {"aten::slow_conv3d_forward", convolution<kThnn>},
      {"aten::slow_conv_dilated2d", convolution<kThnnDilated>},
      {"aten::slow_conv_dilated3d", convolution<kThnnDilated>},
      {"aten::_conv_depthwise2d", convolution<kThnnDilated>},
      {"aten::conv_depthwise3d", convolution<kThnnDilated>},
      {"aten::slow_conv_transpose2d", transposed_convolution},
      {"aten::slow_conv_transpose3d", transposed_convolution},
      {"aten::convolution_backward", convolution_backward<kBackward, 10>},
      {"aten::convolution_backward_overrideable", convolution_backward<kOverride, 9>},
      {"aten::_slow_conv2d_backward", convolution_backward<kSlowBackward, 6>},
  };
}

}  // namespace flopmark
