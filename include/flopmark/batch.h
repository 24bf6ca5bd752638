#pragma once

#include <torch/types.h>

#include <cstdint>
#include <vector>

namespace flopmark {

/// One micro-batch, on the host until transferred. `inputs` go to the model in order, targets last.
/// Language models: inputs[0] ids int64 [B, T], inputs[1] next ids int64 [B, T]; bert: the tokens that were
/// masked in inputs[0], -100 everywhere else.
/// Classifiers: inputs[0] images float32 [B, C, H, W], inputs[1] labels int64 [B].
struct Batch {
  std::vector<torch::Tensor> inputs;
  int64_t samples = 0;  ///< sequences or images really in this batch
  int64_t tokens = 0;   ///< 0 where there are none
  int64_t images = 0;
};

}  // namespace flopmark
