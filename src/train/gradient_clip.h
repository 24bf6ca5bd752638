#pragma once

#include <torch/types.h>

#include <functional>
#include <vector>

namespace flopmark {

/// Scales `gradients` so that their total 2-norm is at most `max_norm`, as torch.nn.utils.clip_grad_norm_:
/// by min(1, max_norm / (norm + 1e-6)). The factor stays on the device: nothing waits for it. Where the
/// gradients are a share of the model's, `whole_square_sum` makes the sum of their squares, a tensor of one
/// value, that of all. Returns the norm before.
torch::Tensor clip_gradients(at::TensorList gradients, double max_norm,
                             const std::function<void(torch::Tensor&)>& whole_square_sum = nullptr);

}  // namespace flopmark
