#pragma once

#include <string>
#include <vector>

#include "models/built_in_model.h"
#include "models/layers.h"

namespace flopmark {

/// Vision transformer (Dosovitskiy et al. 2020, arXiv:2010.11929) as torchvision's vit_b_16: a token per
/// patch and a class token in front, learned positions, LayerNorm (eps 1e-6) before each part, exact GELU;
/// the head reads the class token.
class Vit : public BuiltInModel {
 public:
  /// @throws Error 200 if heads or patches do not divide what they must.
  Vit(const ModelShape& shape, const ModelOptions& options);
  /// @throws Error 200 for images of another size than the positions are for.
  torch::Tensor logits(const torch::Tensor& images) override;

 private:
  struct Block {
    BlockPlace place;
    std::string attention_path;
    LayerNorm ln_1, ln_2;
    Linear attention, attention_projection, mlp, mlp_projection;
  };
  Block make_block(int64_t index, const ModelShape& shape);
  torch::Tensor tokens(const torch::Tensor& images) const;
  torch::Tensor block(const Block& layer, const torch::Tensor& x) const;
  torch::Tensor attention(const Block& layer, const torch::Tensor& x) const;

  int64_t heads_, patch_size_, image_size_, image_channels_;
  Dropout drop_;
  Linear patches_;  ///< weight [hidden, channels, patch, patch]
  torch::Tensor class_token_, positions_;
  std::vector<Block> blocks_;
  LayerNorm norm_;
  Linear head_;
};

}  // namespace flopmark
