#pragma once

#include <torch/types.h>

#include "flopmark/model_shape.h"

namespace flopmark {

/// Attention heads. @throws Error 200 where they do not divide the hidden size.
int64_t checked_heads(const ModelShape& shape);

/// Tokens of each sequence of `ids`, [B, T]. @throws Error 200 where they are more than `positions`, the rows
/// of a learned position embedding.
int64_t checked_length(const torch::Tensor& ids, const torch::Tensor& positions);

/// `shape` itself. @throws Error 200 where one of its four stages has no block.
const ModelShape& checked_stages(const ModelShape& shape);

/// @throws Error 200 for anything but images [B, `channels`, H, W].
void check_images(const torch::Tensor& images, int64_t channels);

}  // namespace flopmark
