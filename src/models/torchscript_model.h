#pragma once

#include <torch/csrc/jit/api/module.h>

#include <string>
#include <vector>

#include "flopmark/model.h"
#include "models/models.h"
#include "models/saved_types.h"

namespace flopmark {

/// A model from a file of torch.jit.save, in train mode. Without `shape.loss`, forward gets all inputs of a
/// batch and returns the scalar loss; with it, forward gets all but the last, and the loss is that of its
/// output and the last. Floating parameters and buffers are cast to the type of `options.tensor`, as
/// Module.to() does, and so are float32 inputs.
class TorchScriptModel : public TrainableModel {
 public:
  /// @throws Error 125 as load_torchscript() and check_trainable_type(); 200 if nothing is to be trained, or
  /// forward does not take `options.inputs` tensors.
  TorchScriptModel(const ModelShape& shape, const ModelOptions& options);
  /// @throws Error 200 if forward returns something else than is said above; 125 if its parameters were saved
  /// in several types, and it fails of their being one.
  torch::Tensor loss(const Batch& batch) override;
  /// Those that require a gradient; each once, however many names it has.
  std::vector<torch::Tensor> parameters() override { return parameters_; }

 private:
  void collect_parameters();
  void check_forward(int64_t inputs) const;
  c10::IValue run_forward(std::vector<c10::IValue> arguments);

  std::string path_, place_, loss_;
  torch::Dtype dtype_;
  torch::jit::Module module_;
  SavedTypes types_;
  std::vector<torch::Tensor> parameters_;
};

}  // namespace flopmark
