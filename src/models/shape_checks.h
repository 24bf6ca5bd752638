#pragma once

#include <torch/types.h>

#include "flopmark/model_shape.h"

namespace flopmark {

/// Attention heads. @throws Error 200 where they do not divide the hidden size.
int64_t checked_heads(const ModelShape& shape);

/// Tokens of each sequence of `ids`, [B, T]. @throws Error 200 where they are more than `positions`, the rows
/// of a learned position embedding.
int64_t checked_length(const torch::Tensor& ids, const torch::Tensor& positions);

}  // namespace flopmark
