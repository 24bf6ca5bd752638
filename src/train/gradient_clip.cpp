#include "train/gradient_clip.h"

#include <ATen/ops/_foreach_mul.h>
#include <ATen/ops/_foreach_norm.h>
#include <ATen/ops/linalg_vector_norm.h>
#include <ATen/ops/stack.h>

namespace flopmark {

torch::Tensor clip_gradients(at::TensorList gradients, double max_norm,
                             const std::function<void(torch::Tensor&)>& whole_square_sum) {
  auto norm = at::linalg_vector_norm(at::stack(at::_foreach_norm(gradients, 2)), 2);
  if (whole_square_sum) {
    auto square_sum = norm.square().unsqueeze(0);
    whole_square_sum(square_sum);
    norm = square_sum.sqrt().squeeze();
  }
  at::_foreach_mul_(gradients, (max_norm / (norm + 1e-6)).clamp_max(1.0));
  return norm;
}

}  // namespace flopmark
