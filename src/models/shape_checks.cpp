#include "models/shape_checks.h"

#include <fmt/format.h>

#include <algorithm>

#include "flopmark/error.h"

namespace flopmark {

int64_t checked_heads(const ModelShape& shape) {
  if (shape.heads < 1 || shape.hidden_size % shape.heads != 0) {
    throw usage_error(
        fmt::format("model.heads: {} does not divide model.hidden_size = {}; use a divisor of it",
                    shape.heads, shape.hidden_size));
  }
  return shape.heads;
}

int64_t checked_length(const torch::Tensor& ids, const torch::Tensor& positions) {
  const int64_t length = ids.size(1);
  if (length > positions.size(0)) {
    throw usage_error(
        fmt::format("data.sequence_length: {} is longer than model.max_sequence_length = {}; lower "
                    "the first or raise the second",
                    length, positions.size(0)));
  }
  return length;
}

const ModelShape& checked_stages(const ModelShape& shape) {
  const auto& blocks = shape.stage_blocks;
  if (std::any_of(blocks.begin(), blocks.end(), [](int64_t count) { return count < 1; })) {
    throw usage_error(fmt::format(
        "model.preset: a {} takes its blocks from a preset; use one of its own: flopmark list", shape.type));
  }
  return shape;
}

void check_images(const torch::Tensor& images, int64_t channels) {
  if (images.dim() != 4 || images.size(1) != channels) {
    throw usage_error(
        fmt::format("data.image_channels: the model is made for images [B, {}, H, W], found {}; make the two "
                    "equal",
                    channels, c10::str(images.sizes())));
  }
}

}  // namespace flopmark
