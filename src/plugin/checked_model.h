#pragma once

#include <torch/types.h>

#include <memory>
#include <string>
#include <vector>

#include "flopmark/model.h"
#include "flopmark/model_shape.h"
#include "plugin/plugin_call.h"

namespace flopmark {

/// A plug-in's model that answers for what it does: whatever it throws, or gives back that cannot be trained,
/// ends the run with a text that names the plug-in.
class CheckedModel : public TrainableModel {
 public:
  /// `tensor`: device and type that every trainable parameter must have.
  /// @throws Error 200 if no parameter requires a gradient; 125 for one that is undefined, no leaf, not
  /// floating, of another type or elsewhere; as rethrow_from_plugin().
  CheckedModel(PluginPlace place, std::string type, std::unique_ptr<TrainableModel> model,
               const torch::TensorOptions& tensor);
  /// Float32, without dimensions. @throws Error 125 for anything but one value with a gradient; as
  /// rethrow_from_plugin().
  torch::Tensor loss(const Batch& batch) override;
  /// Those that require a gradient; each once, however often the model lists it.
  std::vector<torch::Tensor> parameters() override { return parameters_; }

 private:
  void collect_parameters(const torch::TensorOptions& tensor);
  void check_parameter(const torch::Tensor& parameter, size_t index,
                       const torch::TensorOptions& tensor) const;

  PluginPlace place_;
  std::string type_;
  PluginCall loss_call_;
  std::unique_ptr<TrainableModel> model_;
  std::vector<torch::Tensor> parameters_;
};

/// The model that `shape` names, from the library it names. @throws as PluginLibrary and CheckedModel.
std::unique_ptr<TrainableModel> make_plugin_model(const ModelShape& shape, const torch::TensorOptions& tensor,
                                                  int64_t seed);

}  // namespace flopmark
