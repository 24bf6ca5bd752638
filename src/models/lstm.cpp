#include "models/lstm.h"

#include <ATen/Context.h>
#include <ATen/ops/_cudnn_rnn_flatten_weight.h>
#include <ATen/ops/_use_cudnn_rnn_flatten_weight.h>
#include <ATen/ops/embedding.h>
#include <ATen/ops/lstm.h>
#include <ATen/ops/zeros.h>
#include <c10/core/GradMode.h>
#include <fmt/format.h>

#include <cmath>

namespace flopmark {
namespace {

constexpr int64_t kGates = 4, kTensorsPerLayer = 4;

/// Moves the weights into one piece of memory, where cuDNN reads them without copying; torch.nn.LSTM does the
/// same.
void flatten_for_cudnn(const std::vector<torch::Tensor>& weights, int64_t hidden_size, int64_t layers) {
  constexpr int64_t kCudnnLstm = 2;
  if (!weights.front().is_cuda() || !at::globalContext().userEnabledCuDNN() ||
      !at::_use_cudnn_rnn_flatten_weight()) {
    return;
  }
  const c10::AutoGradMode no_grad(false);
  at::_cudnn_rnn_flatten_weight(weights, kTensorsPerLayer, hidden_size, kCudnnLstm, hidden_size,
                                /*proj_size=*/0, layers, /*batch_first=*/true, /*bidirectional=*/false);
}

}  // namespace

Lstm::Lstm(const ModelShape& shape, const ModelOptions& options)
    : BuiltInModel(options), hidden_size_(shape.hidden_size), layers_(shape.layers), drop_{shape.dropout} {
  const int64_t hidden = hidden_size_;
  const auto within = InitialValue::uniform(0.1);
  const auto recurrent = InitialValue::uniform(1.0 / std::sqrt(static_cast<double>(hidden)));
  embedding_ = parameters_.create("embedding.weight", {shape.vocab_size, hidden}, within);
  for (int64_t layer = 0; layer < layers_; ++layer) {
    for (const char* part : {"weight_ih", "weight_hh"}) {
      weights_.push_back(
          parameters_.create(fmt::format("lstm.{}_l{}", part, layer), {kGates * hidden, hidden}, recurrent));
    }
    for (const char* part : {"bias_ih", "bias_hh"}) {
      weights_.push_back(
          parameters_.create(fmt::format("lstm.{}_l{}", part, layer), {kGates * hidden}, recurrent));
    }
  }
  head_.path = "decoder";
  head_.weight = shape.tied_embeddings
                     ? embedding_
                     : parameters_.create("decoder.weight", {shape.vocab_size, hidden}, within);
  head_.bias = parameters_.create("decoder.bias", {shape.vocab_size}, InitialValue::constant(0));
  parameters_.initialise(options.seed);
  flatten_for_cudnn(weights_, hidden, layers_);
}

torch::Tensor Lstm::logits(const torch::Tensor& ids) {
  const auto x = drop_(at::embedding(embedding_, ids));
  const auto start = at::zeros({layers_, ids.size(0), hidden_size_}, x.options());
  torch::Tensor states;
  {
    const ModuleScope scope(path_);
    states =
        std::get<0>(at::lstm(x, {start, start}, weights_, /*has_biases=*/true, layers_, drop_.probability,
                             /*train=*/true, /*bidirectional=*/false, /*batch_first=*/true));
  }
  return head_(drop_(states).contiguous());
}

}  // namespace flopmark
