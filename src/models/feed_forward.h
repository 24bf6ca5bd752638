#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "models/layers.h"

namespace flopmark {

/// SwiGLU (Shazeer 2020, arXiv:2002.05202) as in LLaMA: w2(silu(w1 x) * w3 x), no biases.
struct FeedForward {
  Linear w1, w2, w3;
  torch::Tensor operator()(const torch::Tensor& x) const;
};

/// Width of the residual stream, inner width, and how w2 starts.
struct FeedForwardOptions {
  int64_t hidden = 0, inner = 0;
  InitialValue residual = InitialValue::normal(0.02);
};

/// Its parameters are `path`.w1.weight, `path`.w2.weight and `path`.w3.weight.
FeedForward make_feed_forward(ParameterSet& parameters, const std::string& path,
                              const FeedForwardOptions& options);

/// Sparse mixture of experts as in Mixtral (Jiang et al. 2024, arXiv:2401.04088, section 2.1): a linear
/// router gives every token a probability for each expert; the `per_token` best ones work on it, and their
/// outputs are added, weighted with their probabilities scaled to a sum of 1. No token is dropped; there is
/// no loss that balances the experts.
///
/// Tokens are sorted by expert and every expert runs once, on no rows where no token chose it; the host reads
/// how many chose each, which waits for the device once per call. On meta, where nothing can be chosen, the
/// rows are spread evenly: tokens x per_token rows in all, so that FLOPs are those of any routing.
struct Mixture {
  Linear router;
  std::vector<FeedForward> experts;
  int64_t per_token = 1;
  torch::Tensor operator()(const torch::Tensor& x) const;
};

struct MixtureOptions {
  int64_t experts = 1, per_token = 1;
  FeedForwardOptions expert;
};

/// Its parameters are `path`.gate.weight and those of `path`.experts.0, ... @throws Error 200 unless
/// 1 <= per_token <= experts.
Mixture make_mixture(ParameterSet& parameters, const std::string& path, const MixtureOptions& options);

}  // namespace flopmark
