#pragma once

#include <torch/types.h>

#include <functional>
#include <vector>

namespace flopmark {

/// A part of a model: one tensor in, one out.
using BlockFunction = std::function<torch::Tensor(const torch::Tensor&)>;

struct CheckpointOptions {
  /// All parameters that `block` reads: their gradients are computed here and handed to autograd.
  std::vector<torch::Tensor> parameters;
  /// The block draws random numbers (dropout): the re-run draws the same.
  bool random = false;
};

/// block(x), keeping nothing for backward but x: there the block runs forward again, under the same autocast
/// and with the same random numbers (Chen et al. 2016, arXiv:1604.06174). Gradients are those of block(x).
torch::Tensor checkpoint(BlockFunction block, const torch::Tensor& x, CheckpointOptions options);

/// Whether this thread runs a checkpointed block for the second time: what a forward does once per step
/// (running statistics) is left out then.
bool is_running_again();

}  // namespace flopmark
