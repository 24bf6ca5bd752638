#pragma once

#include <vector>

#include "models/built_in_model.h"
#include "models/layers.h"

namespace flopmark {

/// Fully connected classifier: flattened images, hidden layers with ReLU, one output per class.
class Mlp : public BuiltInModel {
 public:
  Mlp(const ModelShape& shape, const ModelOptions& options);
  /// @throws Error 200 if an image has not model.input_size values.
  torch::Tensor logits(const torch::Tensor& images) override;

 private:
  int64_t input_size_;
  struct Block {
    BlockPlace place;
    Linear linear;
  };
  std::vector<Block> hidden_;
  Linear head_;
};

}  // namespace flopmark
