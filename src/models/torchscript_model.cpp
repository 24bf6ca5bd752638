#include "models/torchscript_model.h"

#include <c10/core/GradMode.h>
#include <fmt/format.h>

#include <algorithm>
#include <unordered_set>

#include "flopmark/error.h"
#include "models/model_loss.h"
#include "models/torchscript_file.h"

namespace flopmark {
namespace {

bool is_tensor_type(const c10::TypePtr& type) {
  return c10::TensorType::get()->isSubtypeOf(*type);  // Tensor, Optional[Tensor], Any
}

}  // namespace

TorchScriptModel::TorchScriptModel(const ModelShape& shape, const ModelOptions& options)
    : path_(shape.torchscript),
      place_("model.torchscript " + path_),
      loss_(shape.loss),
      dtype_(c10::typeMetaToScalarType(options.tensor.dtype())),
      module_(load_torchscript(shape.torchscript, options.tensor.device())) {
  check_forward(options.inputs - (loss_.empty() ? 0 : 1));
  collect_parameters();
}

/// Casts, sets train mode, and keeps what is to be trained.
void TorchScriptModel::collect_parameters() {
  const c10::AutoGradMode no_grad(false);
  module_.train();
  for (const torch::Tensor& buffer : module_.buffers()) {
    types_.add(buffer);
    cast_floating(buffer, dtype_);
  }
  std::unordered_set<const c10::TensorImpl*> seen;
  for (const torch::Tensor& parameter : module_.parameters()) {
    const bool is_new = seen.insert(parameter.unsafeGetTensorImpl()).second;
    if (is_new) types_.add(parameter);  // the second time it is cast already
    cast_floating(parameter, dtype_);
    if (!is_new || !parameter.requires_grad()) continue;
    check_trainable_type(parameter, place_);
    parameters_.push_back(parameter);
  }
  if (parameters_.empty()) {
    throw usage_error(fmt::format(
        "model.torchscript {}: none of its {} parameters requires a gradient, so there is nothing to "
        "train; save it unfrozen, with requires_grad",
        path_, seen.size()));
  }
}

void TorchScriptModel::check_forward(int64_t inputs) const {
  const auto forward = module_.find_method("forward");
  if (!forward) {
    throw usage_error(fmt::format("model.torchscript {}: has no forward to train; save a module", path_));
  }
  const auto& arguments = forward->function().getSchema().arguments();  // the first is self
  const auto most = static_cast<int64_t>(arguments.size()) - 1;
  const int64_t least = std::count_if(arguments.begin() + 1, arguments.end(),
                                      [](const c10::Argument& a) { return !a.default_value(); });
  if (inputs < least || inputs > most) {
    const std::string takes = least == most ? fmt::format("{}", most) : fmt::format("{} to {}", least, most);
    throw usage_error(
        fmt::format("data.inputs: {} of them go to forward{}, but that of {} takes {}; give one entry "
                    "per argument",
                    inputs, loss_.empty() ? "" : " (the last is the target of model.loss)", path_, takes));
  }
  for (size_t i = 1; i <= static_cast<size_t>(inputs); ++i) {
    if (is_tensor_type(arguments[i].type())) continue;
    throw usage_error(
        fmt::format("data.inputs[{}]: forward of {} wants {} for its argument {}, not a tensor; save a "
                    "module that takes tensors",
                    i - 1, path_, arguments[i].type()->str(), arguments[i].name()));
  }
}

/// Says what fails where parameters of several types were made one.
c10::IValue TorchScriptModel::run_forward(std::vector<c10::IValue> arguments) try {
  return module_.forward(std::move(arguments));
} catch (const std::exception& error) {
  const std::string complaint = types_.mixed() ? type_complaint(error) : "";
  if (complaint.empty()) throw;
  throw judge_error(fmt::format(
      "{}: its parameters and buffers were saved as {}, and all were made {}, the type of train.precision, "
      "which casts in its code do not go with: {}; save it in one type and without such casts, or name what "
      "torch.export.save writes with model.exported, which keeps types",
      place_, types_.text(), c10::toString(dtype_), complaint));
}

torch::Tensor TorchScriptModel::loss(const Batch& batch) {
  std::vector<c10::IValue> arguments;
  arguments.reserve(batch.inputs.size());
  for (const torch::Tensor& input : batch.inputs) {
    arguments.emplace_back(input.scalar_type() == torch::kFloat ? input.to(dtype_) : input);
  }
  if (!loss_.empty()) arguments.pop_back();
  const c10::IValue output = run_forward(std::move(arguments));
  return loss_of(output, loss_, batch, place_);
}

}  // namespace flopmark
