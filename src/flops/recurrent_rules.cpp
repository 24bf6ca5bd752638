#include <fmt/format.h>

#include <stdexcept>

#include "flops/checked_math.h"
#include "flops/rules.h"

// LSTM, GRU and RNN kernels that do whole layers (Hochreiter and Schmidhuber 1997; Cho et al.,
// arXiv:1406.1078): every weight matrix (input, recurrent, projection) meets every position of every sequence
// once, so forward is 2 x positions x values of the matrices; gates and activations are not counted. Backward
// computes for each the gradient of the matrix, of the same size, and the gradient of what it was multiplied
// with. Left out of that, as unfused execution does: the network's input where it needs no gradient, and the
// initial state where it needs none, which leaves the recurrent matrix one position per sequence less.
// Kernels may compute these too; the count does not follow them.

namespace flopmark {
namespace {

/// FLOPs of one matrix over `positions`.
int64_t product(int64_t positions, const TensorShape& matrix) {
  return checked_product({2, positions, checked_product(matrix.sizes)});
}

/// Positions of all sequences: [T, B, in] (or [B, T, in]), or [T B, in] where sequences of different lengths
/// are packed.
int64_t positions_of(const TensorShape& input) {
  if (input.sizes.size() != 2 && input.sizes.size() != 3) {
    throw std::invalid_argument(
        fmt::format("a recurrent layer with an input of {} dimensions", input.sizes.size()));
  }
  return checked_product(std::span(input.sizes).first(input.sizes.size() - 1));
}

struct Gradients {
  bool input = true, initial_state = true, weights = true;
};

/// Where a kernel that runs all layers keeps its arguments. The weights come as one list: per layer and
/// direction input matrix, recurrent matrix, their biases, projection matrix; `weight_stride` tensors each.
struct RecurrentPlaces {
  size_t input = 0, weights = 1, weight_stride = 2;
  size_t initial_state = 0, bidirectional = 0, mask = 0;
};

OperatorFlop stacked_forward(const OperatorCall& call) {
  const int64_t positions = positions_of(tensor_at(call, 0));
  int64_t flop = 0;
  for (const TensorShape& weight : tensors_at(call, 1)) {
    if (weight.sizes.size() == 2) {
      flop = checked_add(flop, product(positions, weight));
    }
  }
  return {flop, flop};
}

/// FLOPs of the gradient that one matrix passes on, by its place in its layer.
int64_t passed_on(const TensorShape& matrix, int64_t positions, int64_t sequences, size_t place,
                  bool first_layer, const Gradients& wanted) {
  if (place == 0 && first_layer && !wanted.input) {
    return 0;
  }
  return product(place == 1 && !wanted.initial_state ? positions - sequences : positions, matrix);
}

template <RecurrentPlaces At>
OperatorFlop stacked_backward(const OperatorCall& call) {
  const auto& mask = bools_at(call, At.mask);
  const Gradients wanted = {mask.at(0), mask.at(1), mask.at(3)};
  const int64_t positions = positions_of(tensor_at(call, At.input));
  const int64_t sequences = sizes_at(call, At.initial_state, 3)[1];
  const auto stride = static_cast<size_t>(int_at(call, At.weight_stride));
  const size_t first_layer_weights = stride * (bool_at(call, At.bidirectional) ? 2 : 1);
  const auto& weights = tensors_at(call, At.weights);
  if (stride == 0) {
    throw std::invalid_argument(fmt::format("{}: no weights", call.name));
  }
  int64_t flop = 0;
  for (size_t i = 0; i < weights.size(); ++i) {
    if (weights[i].sizes.size() != 2) {
      continue;
    }
    flop = checked_add(
        flop, passed_on(weights[i], positions, sequences, i % stride, i < first_layer_weights, wanted));
    flop = checked_add(flop, wanted.weights ? product(positions, weights[i]) : 0);
  }
  return {flop, flop};
}

/// mkldnn_rnn_layer: one layer, one direction; input, input matrix, recurrent matrix, biases.
OperatorFlop layer_forward(const OperatorCall& call) {
  const int64_t positions = positions_of(tensor_at(call, 0));
  const int64_t flop =
      checked_add(product(positions, tensor_at(call, 1)), product(positions, tensor_at(call, 2)));
  return {flop, flop};
}

/// It has no output mask: the marks on input, matrices and hidden state (5) say what is wanted.
OperatorFlop layer_backward(const OperatorCall& call) {
  const TensorShape& input = tensor_at(call, 0);
  const TensorShape& state = tensor_at(call, 5);
  const Gradients wanted = {input.needs_grad, state.needs_grad, true};
  const int64_t positions = positions_of(input), sequences = state.sizes.at(state.sizes.size() - 2);
  int64_t flop = 0;
  for (const size_t place : {size_t{0}, size_t{1}}) {
    const TensorShape& matrix = tensor_at(call, place + 1);
    flop = checked_add(flop, passed_on(matrix, positions, sequences, place, true, wanted));
    flop = checked_add(flop, matrix.needs_grad ? product(positions, matrix) : 0);
  }
  return {flop, flop};
}

constexpr RecurrentPlaces kCudnnPlaces = {.initial_state = 4, .bidirectional = 17, .mask = 21};
constexpr RecurrentPlaces kMiopen = {.initial_state = 4, .bidirectional = 16, .mask = 20};

}  // namespace

std::vector<FlopRule> recurrent_rules() {
  return {
      {"aten::_cudnn_rnn", stacked_forward},
      {"aten::_cudnn_rnn_backward", stacked_backward<kCudnnPlaces>},
      {"aten::miopen_rnn", stacked_forward},
      {"aten::miopen_rnn_backward", stacked_backward<kMiopen>},
      {"aten::mkldnn_rnn_layer", layer_forward},
      {"aten::mkldnn_rnn_layer_backward", layer_backward},
  };
}

}  // namespace flopmark
