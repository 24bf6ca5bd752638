#pragma once

#include <torch/types.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "flopmark/batch.h"

namespace flopmark {

/// A model that can be trained: parameters and a scalar loss.
class TrainableModel {
 public:
  virtual ~TrainableModel() = default;
  /// Forward pass: the mean loss of a batch already on the device; a scalar with a gradient.
  virtual torch::Tensor loss(const Batch& batch) = 0;
  /// Every trainable parameter once, in a fixed order; shared ones are not repeated.
  virtual std::vector<torch::Tensor> parameters() = 0;
};

}  // namespace flopmark
