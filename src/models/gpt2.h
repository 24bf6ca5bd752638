#pragma once

#include <vector>

#include "models/built_in_model.h"
#include "models/layers.h"

namespace flopmark {

/// GPT-2 (Radford et al. 2019): learned positions, LayerNorm before each part, tanh GELU, biases; the head
/// usually shares the embedding's weight.
class Gpt2 : public BuiltInModel {
 public:
  /// @throws Error 200 if the shape does not divide into heads.
  Gpt2(const ModelShape& shape, const ModelOptions& options);
  /// @throws Error 200 if the sequence is longer than the position embedding.
  torch::Tensor logits(const torch::Tensor& ids) override;

 private:
  struct Block {
    BlockPlace place;
    std::string attention_path;
    LayerNorm ln_1, ln_2;
    Linear attention, attention_projection, mlp, mlp_projection;
  };
  Block make_block(int64_t index, const ModelShape& shape);
  torch::Tensor forward(const Block& block, const torch::Tensor& x) const;
  torch::Tensor attention(const Block& block, const torch::Tensor& x) const;

  int64_t heads_;
  Dropout drop_;
  torch::Tensor embedding_, positions_;
  std::vector<Block> blocks_;
  LayerNorm ln_f_;
  Linear head_;
};

}  // namespace flopmark
