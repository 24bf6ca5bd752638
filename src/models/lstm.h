#pragma once

#include <string>
#include <vector>

#include "models/built_in_model.h"
#include "models/layers.h"

namespace flopmark {

/// Language model of stacked LSTM layers (Hochreiter and Schmidhuber 1997) as in Zaremba et al. 2014,
/// arXiv:1409.2329: embedding, layers of the same width, linear head; dropout on every connection that is not
/// recurrent. LibTorch's lstm runs all layers as one operator, so there are no blocks to checkpoint; every
/// sequence starts from a state of zeros.
class Lstm : public BuiltInModel {
 public:
  Lstm(const ModelShape& shape, const ModelOptions& options);
  torch::Tensor logits(const torch::Tensor& ids) override;

 private:
  int64_t hidden_size_, layers_;
  Dropout drop_;
  torch::Tensor embedding_;
  std::string path_ = "lstm";
  /// Of each layer [4 hidden, in], [4 hidden, hidden] and two biases; gates in LibTorch's order: input,
  /// forget, cell, output.
  std::vector<torch::Tensor> weights_;
  Linear head_;
};

}  // namespace flopmark
