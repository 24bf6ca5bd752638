#pragma once

#include <cstdint>
#include <string>

namespace flopmark {

/// Shape of a built-in model: what its parameters, memory and FLOPs follow from. All counts, no units.
/// Fields that do not apply to `type` are 0 (or false) and absent from the resolved config.
struct ModelShape {
  std::string type;    ///< llama, gpt2, mlp
  std::string preset;  ///< the preset the shape started from; empty for none

  // llama and gpt2
  int64_t vocab_size = 0;
  int64_t hidden_size = 0;  ///< also the width of an mlp's hidden layers
  int64_t layers = 0;       ///< blocks; hidden layers of an mlp
  int64_t heads = 0;
  int64_t kv_heads = 0;             ///< llama only; divides heads
  int64_t ffn_size = 0;             ///< inner width of the feed-forward part
  bool tied_embeddings = false;     ///< the head shares the input embedding's weight
  int64_t max_sequence_length = 0;  ///< gpt2 only: rows of the learned position embedding
  double dropout = 0.0;             ///< gpt2 only, [0, 1)

  // mlp
  int64_t input_size = 0;  ///< features per sample
  int64_t classes = 0;
};

}  // namespace flopmark
