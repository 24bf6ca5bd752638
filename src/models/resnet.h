#pragma once

#include <string>
#include <vector>

#include "models/built_in_model.h"
#include "models/layers.h"

namespace flopmark {

/// Residual network (He et al. 2015, arXiv:1512.03385) as torchvision's resnet18 to resnet152: stem of 7x7
/// and pooling, four stages of blocks, mean over positions, linear head. Of a bottleneck block the 3x3 has
/// the stride ("v1.5").
class Resnet : public BuiltInModel {
 public:
  /// @throws Error 200 for a shape without blocks.
  Resnet(const ModelShape& shape, const ModelOptions& options);
  /// @throws Error 200 for images with another number of channels.
  torch::Tensor logits(const torch::Tensor& images) override;

 private:
  struct Block {
    BlockPlace place;
    std::vector<NormedConvolution> body;      ///< a ReLU between them
    std::vector<NormedConvolution> shortcut;  ///< one, or none where the input is added as it is
  };
  /// `width`: channels inside; `stride`: of the block as a whole.
  struct BlockShape {
    int64_t in = 0, width = 0, stride = 1;
    bool bottleneck = false;
    int64_t out() const { return bottleneck ? 4 * width : width; }
  };
  NormedConvolution make_part(const std::string& path, const std::string& number,
                              const ConvolutionOptions& options);
  Block make_block(const std::string& path, const BlockShape& shape);
  torch::Tensor block(const Block& layer, const torch::Tensor& x) const;

  int64_t image_channels_;
  NormedConvolution stem_;
  std::vector<Block> blocks_;
  Linear head_;
};

}  // namespace flopmark
