#pragma once

#include <string>
#include <vector>

#include "models/built_in_model.h"
#include "models/layers.h"

namespace flopmark {

/// BERT (Devlin et al. 2018, arXiv:1810.04805) for masked-language training, with the parameters of Hugging
/// Face's BertForMaskedLM: words, learned positions and token types, attention over the whole sequence,
/// LayerNorm (eps 1e-12) after each part, exact GELU; the head is a linear layer with GELU and LayerNorm
/// before the embedding's weight and a bias. All tokens are of the first type, and no sequence is padded.
/// Targets of -100 are left out of the loss.
class Bert : public BuiltInModel {
 public:
  /// @throws Error 200 if the shape does not divide into heads.
  Bert(const ModelShape& shape, const ModelOptions& options);
  /// @throws Error 200 if the sequence is longer than the position embedding.
  torch::Tensor logits(const torch::Tensor& ids) override;

 private:
  struct Block {
    BlockPlace place;
    std::string attention_path;
    Linear query, key, value, attention_output;
    LayerNorm attention_norm;
    Linear intermediate, output;
    LayerNorm output_norm;
  };
  Block make_block(int64_t index, const ModelShape& shape);
  Linear make_part(const std::string& path, int64_t in, int64_t out);
  torch::Tensor forward(const Block& block, const torch::Tensor& x) const;
  torch::Tensor attention(const Block& block, const torch::Tensor& x) const;

  int64_t heads_;
  Dropout drop_;
  torch::Tensor embedding_, positions_, token_types_;
  LayerNorm embedding_norm_;
  std::vector<Block> blocks_;
  Linear transform_;
  LayerNorm transform_norm_;
  Linear decoder_;
};

}  // namespace flopmark
