#include "models/shape_checks.h"

#include <fmt/format.h>

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

}  // namespace flopmark
