#pragma once

#include <optional>
#include <string>
#include <vector>

#include "models/built_in_model.h"
#include "models/feed_forward.h"
#include "models/layers.h"
#include "models/rotary.h"

namespace flopmark {

/// LLaMA (Touvron et al. 2023, arXiv:2302.13971; grouped queries as in LLaMA 2): RMSNorm before each part,
/// rotary positions, SwiGLU, no biases; a head of its own or the embedding's weight. With model.experts it is
/// Mixtral: a mixture of them in place of each feed-forward part.
class Llama : public BuiltInModel {
 public:
  /// @throws Error 200 if the shape does not divide into heads, or for more experts per token than experts.
  Llama(const ModelShape& shape, const ModelOptions& options);
  torch::Tensor logits(const torch::Tensor& ids) override;

 private:
  struct Block {
    BlockPlace place;
    std::string attention_path;
    RmsNorm attention_norm, ffn_norm;
    Linear wq, wk, wv, wo;
    FeedForward feed_forward;  ///< unused where there is a mixture
    std::optional<Mixture> mixture;
  };
  Block make_block(int64_t index, const ModelShape& shape);
  torch::Tensor forward(const Block& block, const torch::Tensor& x, const torch::Tensor& rotations) const;
  torch::Tensor attention(const Block& block, const torch::Tensor& x, const torch::Tensor& rotations) const;

  int64_t head_size_;
  bool grouped_;
  Rotary rotary_;
  torch::Tensor embedding_;
  std::vector<Block> blocks_;
  RmsNorm norm_;
  Linear head_;
};

}  // namespace flopmark
