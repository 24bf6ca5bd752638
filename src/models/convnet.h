#pragma once

#include <string>
#include <vector>

#include "models/built_in_model.h"
#include "models/layers.h"

namespace flopmark {

/// Convolution net of depthwise separable blocks: MobileNet (Howard et al. 2017, arXiv:1704.04861), table 1.
/// A 3x3 of stride 2, then blocks of a depthwise 3x3 and a 1x1, batch norm and ReLU after each; a first block
/// that doubles the width, and four stages whose first blocks halve the image and double the width; mean over
/// positions, linear head.
class Convnet : public BuiltInModel {
 public:
  /// @throws Error 200 for a shape without blocks.
  Convnet(const ModelShape& shape, const ModelOptions& options);
  /// @throws Error 200 for images with another number of channels.
  torch::Tensor logits(const torch::Tensor& images) override;

 private:
  struct Block {
    BlockPlace place;
    NormedConvolution depthwise, pointwise;
  };
  Block make_block(int64_t in, int64_t out, int64_t stride);

  int64_t image_channels_;
  NormedConvolution stem_;
  std::vector<Block> blocks_;
  Linear head_;
};

}  // namespace flopmark
