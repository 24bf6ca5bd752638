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

/// The same with four experts, two for each token.
inline ModelShape tiny_mixtral() {
  ModelShape shape = tiny_llama();
  shape.type = "mixtral";
  shape.experts = 4;
  shape.experts_per_token = 2;
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

/// Two blocks of four heads on 16 positions, a vocabulary of 100.
inline ModelShape tiny_bert() {
  ModelShape shape = gpt2(100, 32, 2, 4, 16);
  shape.type = "bert";
  return shape;
}

/// Two layers 12 wide, a vocabulary of 100.
inline ModelShape tiny_lstm() {
  ModelShape shape;
  shape.type = "lstm";
  shape.vocab_size = 100;
  shape.hidden_size = 12;
  shape.layers = 2;
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

/// Two blocks of four heads on images of 3 x 8 x 8 in patches of 4.
inline ModelShape tiny_vit() {
  ModelShape shape;
  shape.type = "vit";
  shape.hidden_size = 16;
  shape.layers = 2;
  shape.heads = 4;
  shape.ffn_size = 24;
  shape.classes = 10;
  shape.image_size = 8;
  shape.image_channels = 3;
  shape.patch_size = 4;
  return shape;
}

/// Stages of 2, 1, 1, 1 blocks on images of 3 x 32 x 32, 4 channels wide at first.
inline ModelShape tiny_resnet(bool bottleneck) {
  ModelShape shape;
  shape.type = "resnet";
  shape.hidden_size = 4;
  shape.classes = 10;
  shape.image_size = 32;
  shape.image_channels = 3;
  shape.stage_blocks = {2, 1, 1, 1};
  shape.bottleneck = bottleneck;
  return shape;
}

/// Stages of 1, 1, 2, 1 blocks on images of 3 x 32 x 32, 4 channels wide at first.
inline ModelShape tiny_convnet() {
  ModelShape shape = tiny_resnet(false);
  shape.type = "convnet";
  shape.stage_blocks = {1, 1, 2, 1};
  return shape;
}

/// Random images and labels, the same for the same seed.
inline Batch random_images(int64_t batch, const ModelShape& shape, uint64_t seed = 1) {
  const auto generator = at::detail::createCPUGenerator(seed);
  return {{torch::randn({batch, shape.image_channels, shape.image_size, shape.image_size}, generator),
           torch::randint(shape.classes, {batch}, generator, torch::kLong)},
          batch,
          0,
          batch};
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
