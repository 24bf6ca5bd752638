#pragma once

#include <torch/types.h>

#include "flopmark/batch.h"
#include "flopmark/model_shape.h"

namespace flopmark::test {

inline ModelShape tiny_llama() {
  ModelShape shape;
  shape.type = "llama";
  shape.vocab_size = 256;
  shape.hidden_size = 64;
  shape.layers = 2;
  shape.heads = 4;
  shape.kv_heads = 2;
  shape.ffn_size = 176;
  return shape;
}

inline ModelShape llama_3(int64_t hidden, int64_t layers, int64_t heads, int64_t ffn) {
  ModelShape shape = tiny_llama();
  shape.vocab_size = 128256;
  shape.hidden_size = hidden;
  shape.layers = layers;
  shape.heads = heads;
  shape.kv_heads = 8;
  shape.ffn_size = ffn;
  return shape;
}

inline ModelShape gpt2(int64_t vocab, int64_t hidden, int64_t layers, int64_t heads, int64_t length) {
  ModelShape shape;
  shape.type = "gpt2";
  shape.vocab_size = vocab;
  shape.hidden_size = hidden;
  shape.layers = layers;
  shape.heads = heads;
  shape.ffn_size = 4 * hidden;
  shape.max_sequence_length = length;
  shape.tied_embeddings = true;
  return shape;
}

inline ModelShape mnist_mlp() {
  ModelShape shape;
  shape.type = "mlp";
  shape.input_size = 784;
  shape.hidden_size = 512;
  shape.layers = 2;
  shape.classes = 10;
  return shape;
}

/// Random tokens below `vocab` and their successors, the same for the same seed.
inline Batch random_tokens(int64_t batch, int64_t length, int64_t vocab, uint64_t seed = 1) {
  const auto generator = at::detail::createCPUGenerator(seed);
  const auto ids = torch::randint(vocab, {batch, length + 1}, generator, torch::kLong);
  return {{ids.narrow(1, 0, length).contiguous(), ids.narrow(1, 1, length).contiguous()},
          batch,
          batch * length,
          0};
}

}  // namespace flopmark::test
