#pragma once

#include <vector>

#include "flopmark/model.h"
#include "models/models.h"
#include "models/parameter_set.h"

namespace flopmark {

/// What all built-in models share: parameters with names, and the mean cross entropy of their logits.
class BuiltInModel : public TrainableModel {
 public:
  /// Cross entropy of logits(inputs[0]) with inputs[1], in float32 whatever the model computes in.
  torch::Tensor loss(const Batch& batch) final;
  std::vector<torch::Tensor> parameters() final;
  /// In the order of parameters().
  const std::vector<NamedParameter>& named_parameters() const { return parameters_.all(); }

  /// Token ids [B, T] to [B, T, vocabulary], or images [B, C, H, W] to [B, classes].
  virtual torch::Tensor logits(const torch::Tensor& input) = 0;

 protected:
  explicit BuiltInModel(const ModelOptions& options) : parameters_(options.tensor) {}
  ParameterSet parameters_;
};

}  // namespace flopmark
