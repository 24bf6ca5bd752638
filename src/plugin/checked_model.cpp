#include "plugin/checked_model.h"

#include <fmt/format.h>

#include <unordered_set>
#include <utility>

#include "plugin/option_reader.h"
#include "plugin/plugin_library.h"

namespace flopmark {
namespace {

std::string what_it_is(const torch::Tensor& tensor) {
  return fmt::format("{} {} on {}", c10::toString(tensor.scalar_type()), c10::str(tensor.sizes()),
                     tensor.device().str());
}

}  // namespace

CheckedModel::CheckedModel(PluginPlace place, std::string type, std::unique_ptr<TrainableModel> model,
                           const torch::TensorOptions& tensor)
    : place_(std::move(place)),
      type_(std::move(type)),
      loss_call_(place_, "loss() of " + type_),
      model_(std::move(model)) {
  collect_parameters(tensor);
}

void CheckedModel::check_parameter(const torch::Tensor& parameter, size_t index,
                                   const torch::TensorOptions& tensor) const {
  const std::string name = fmt::format("parameters()[{}] of {}", index, type_);
  if (!parameter.is_leaf() || !parameter.is_floating_point()) {
    refuse_plugin(place_, fmt::format("{} ({}) cannot be trained: {}", name, what_it_is(parameter),
                                      parameter.is_leaf() ? "it is not of a floating type"
                                                          : "it was computed, so it is no leaf"));
  }
  // The fused optimizers take parameters of one type and device.
  const bool is_there = parameter.device().type() == tensor.device().type() &&
                        (!tensor.device().has_index() || parameter.device() == tensor.device());
  if (!is_there || parameter.dtype() != tensor.dtype()) {
    refuse_plugin(
        place_, fmt::format("{} is {}, and this run trains {} on {}; make parameters with the request's "
                            "tensor options",
                            name, what_it_is(parameter),
                            c10::toString(c10::typeMetaToScalarType(tensor.dtype())), tensor.device().str()));
  }
}

void CheckedModel::collect_parameters(const torch::TensorOptions& tensor) {
  const PluginCall call(place_, "parameters() of " + type_);
  const std::vector<torch::Tensor> all = call([&] { return model_->parameters(); });
  std::unordered_set<const c10::TensorImpl*> seen;
  for (size_t i = 0; i < all.size(); ++i) {
    if (!all[i].defined()) {
      refuse_plugin(place_, fmt::format("parameters()[{}] of {} is an undefined tensor", i, type_));
    }
    if (!seen.insert(all[i].unsafeGetTensorImpl()).second || !all[i].requires_grad()) continue;
    check_parameter(all[i], i, tensor);
    parameters_.push_back(all[i]);
  }
  if (parameters_.empty()) {
    throw usage_error(
        fmt::format("{}: none of the {} parameters of {} requires a gradient, so there is nothing "
                    "to train",
                    place_.text(), seen.size(), type_));
  }
}

torch::Tensor CheckedModel::loss(const Batch& batch) {
  torch::Tensor loss = loss_call_([&] { return model_->loss(batch); });
  const bool is_one_value = loss.defined() && loss.numel() == 1 && loss.is_floating_point();
  if (!is_one_value || !loss.requires_grad()) {
    refuse_plugin(place_,
                  fmt::format("loss() of {} returned {}, expected one floating value with a gradient", type_,
                              !loss.defined() ? "an undefined tensor"
                              : is_one_value  ? what_it_is(loss) + " without a gradient"
                                              : what_it_is(loss)));
  }
  if (loss.dim() != 0) loss = loss.reshape({});
  return loss.scalar_type() == torch::kFloat ? loss : loss.to(torch::kFloat);
}

std::unique_ptr<TrainableModel> make_plugin_model(const ModelShape& shape, const torch::TensorOptions& tensor,
                                                  int64_t seed) {
  const PluginLibrary library({"model.plugin", shape.plugin});
  const OptionReader options(shape.options.json, "model.options");
  return std::make_unique<CheckedModel>(library.place(), shape.plugin_type,
                                        library.make_model(shape.plugin_type, options, tensor, seed), tensor);
}

}  // namespace flopmark
