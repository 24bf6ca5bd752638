#pragma once

#include <torch/types.h>

#include <vector>

namespace flopmark {

/// Scales `gradients` so that their total 2-norm is at most `max_norm`, as torch.nn.utils.clip_grad_norm_:
/// by min(1, max_norm / (norm + 1e-6)). The factor stays on the device: nothing waits for it. Returns the
/// norm before.
torch::Tensor clip_gradients(at::TensorList gradients, double max_norm);

}  // namespace flopmark
