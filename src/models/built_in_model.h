#pragma once

#include <string>
#include <utility>
#include <vector>

#include "flopmark/model.h"
#include "flops/observe/module_scope.h"
#include "models/checkpoint.h"
#include "models/models.h"
#include "models/parameter_set.h"

namespace flopmark {

/// One of a model's repeated parts: what activation checkpointing re-runs.
struct BlockPlace {
  std::string path;  ///< layers.3
  int64_t index = 0;
  std::vector<torch::Tensor> parameters;  ///< all below `path`
  bool random = false;                    ///< it draws random numbers
};

/// What all built-in models share: parameters with names, and the mean cross entropy of their logits.
class BuiltInModel : public TrainableModel {
 public:
  /// Cross entropy of logits(inputs[0]) with inputs[1], in float32 whatever the model computes in.
  torch::Tensor loss(const Batch& batch) final;
  std::vector<torch::Tensor> parameters() final;
  /// In the order of parameters().
  const std::vector<NamedParameter>& named_parameters() const { return parameters_.all(); }

  /// Token ids [B, T] to [B, T, vocabulary], or images [B, C, H, W] to [B, classes].
  virtual torch::Tensor logits(const torch::Tensor& input) = 0;

 protected:
  explicit BuiltInModel(const ModelOptions& options)
      : parameters_(options.tensor, options.channels_last),
        checkpoint_interval_(options.checkpoint_interval) {}

  /// The place of a block whose parameters were all created, below `path`.
  BlockPlace place_block(const std::string& path, int64_t index, bool random = false) const {
    return {path, index, parameters_.below(path), random};
  }
  /// forward(x) as the block at `place`, checkpointed if the options say so. `forward` must stay valid until
  /// backward is over.
  template <typename Forward>
  torch::Tensor run_block(const BlockPlace& place, const torch::Tensor& x, Forward forward) const {
    if (checkpoint_interval_ > 0 && place.index % checkpoint_interval_ == 0) {
      return run_checkpointed(place, x, std::move(forward));
    }
    const ModuleScope scope(place.path);
    return forward(x);
  }

  ParameterSet parameters_;

 private:
  static torch::Tensor run_checkpointed(const BlockPlace& place, const torch::Tensor& x,
                                        BlockFunction forward);

  int64_t checkpoint_interval_;
};

}  // namespace flopmark
