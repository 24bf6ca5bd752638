#pragma once

#include <cstdint>
#include <vector>

#include "flopmark/model_shape.h"

namespace flopmark {

/// FLOPs of one micro-batch.
struct StepFlop {
  int64_t forward = 0;
  int64_t backward = 0;
  int64_t scores = 0;             ///< Q K^T of all layers; P V costs the same
  std::vector<int64_t> blocks{};  ///< forward of each block, in order
};

/// Closed forms of the models that read images, used by closed_form.cpp. The first layer reads data, which
/// needs no gradient: backward is twice the forward less that layer's share.
int64_t mlp_parameters(const ModelShape& shape);
StepFlop mlp_flop(const ModelShape& shape, int64_t batch_size);

/// He et al. 2015, arXiv:1512.03385, as torchvision's resnet18 to resnet152 (the stride in the 3x3).
int64_t resnet_parameters(const ModelShape& shape);
StepFlop resnet_flop(const ModelShape& shape, int64_t batch_size);

/// Howard et al. 2017, arXiv:1704.04861, table 1: depthwise separable blocks.
int64_t convnet_parameters(const ModelShape& shape);
StepFlop convnet_flop(const ModelShape& shape, int64_t batch_size);

/// Weights in the matrices of a block of a vit or bert: query, key, value and output, and the two of the
/// feed-forward part.
int64_t encoder_block_matrices(const ModelShape& shape);

/// Dosovitskiy et al. 2020, arXiv:2010.11929, with the biases and norms of torchvision's vit_b_16.
int64_t vit_parameters(const ModelShape& shape);
StepFlop vit_flop(const ModelShape& shape, int64_t batch_size);

}  // namespace flopmark
