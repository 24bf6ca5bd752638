#include "models/torchscript_model.h"

#include <ATen/ops/cross_entropy_loss.h>
#include <ATen/ops/mse_loss.h>
#include <c10/core/GradMode.h>
#include <fmt/format.h>

#include <algorithm>
#include <unordered_set>

#include "flopmark/error.h"
#include "models/torchscript_file.h"

namespace flopmark {
namespace {

std::string sizes_text(const torch::Tensor& tensor) {
  return fmt::format("{} {}", c10::toString(tensor.scalar_type()), c10::str(tensor.sizes()));
}

/// What a model gave back, in words.
std::string output_text(const c10::IValue& output) {
  if (output.isTensor()) {
    return output.toTensor().defined() ? "a tensor " + sizes_text(output.toTensor()) : "an undefined tensor";
  }
  return "a value of type " + output.type()->str().substr(0, 100);
}

/// Module::to() would cast whole numbers as well.
void cast_floating(torch::Tensor tensor, torch::Dtype dtype) {
  if (tensor.defined() && tensor.is_floating_point() && tensor.scalar_type() != dtype) {
    tensor.set_data(tensor.to(dtype));
  }
}

/// Classes last, as [B, T, classes] with targets [B, T]; or second, as torch's own cross entropy wants them.
torch::Tensor cross_entropy(const torch::Tensor& scores, const torch::Tensor& target) {
  const bool classes_last = scores.dim() > 1 && target.sizes() == scores.sizes().slice(0, scores.dim() - 1);
  if (classes_last) {
    return at::cross_entropy_loss(scores.reshape({-1, scores.size(-1)}).to(torch::kFloat),
                                  target.reshape(-1));
  }
  const bool same_batch = scores.dim() > 1 && target.dim() > 0 && target.size(0) == scores.size(0);
  const bool classes_second =
      same_batch && target.dim() == scores.dim() - 1 && target.sizes().slice(1) == scores.sizes().slice(2);
  if (!classes_second && target.sizes() != scores.sizes()) {
    throw usage_error(fmt::format(
        "model.loss \"cross_entropy\": forward returned {}, which does not go with the target {} (the "
        "last of data.inputs): expected its sizes and one more, the classes",
        sizes_text(scores), sizes_text(target)));
  }
  return at::cross_entropy_loss(scores.to(torch::kFloat), target);
}

torch::Tensor mean_square(const torch::Tensor& output, const torch::Tensor& target) {
  if (output.sizes() != target.sizes()) {
    throw usage_error(fmt::format(
        "model.loss \"mse\": forward returned {}, but the target (the last of data.inputs) is {}; "
        "make the sizes equal",
        sizes_text(output), sizes_text(target)));
  }
  return at::mse_loss(output.to(torch::kFloat), target.to(torch::kFloat));
}

bool is_tensor_type(const c10::TypePtr& type) {
  return c10::TensorType::get()->isSubtypeOf(*type);  // Tensor, Optional[Tensor], Any
}

}  // namespace

TorchScriptModel::TorchScriptModel(const ModelShape& shape, const ModelOptions& options)
    : path_(shape.torchscript),
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
    cast_floating(buffer, dtype_);
  }
  std::unordered_set<const c10::TensorImpl*> seen;
  for (const torch::Tensor& parameter : module_.parameters()) {
    cast_floating(parameter, dtype_);
    const bool is_new = seen.insert(parameter.unsafeGetTensorImpl()).second;
    if (is_new && parameter.requires_grad()) parameters_.push_back(parameter);
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

torch::Tensor TorchScriptModel::loss(const Batch& batch) {
  std::vector<c10::IValue> arguments;
  arguments.reserve(batch.inputs.size());
  for (const torch::Tensor& input : batch.inputs) {
    arguments.emplace_back(input.scalar_type() == torch::kFloat ? input.to(dtype_) : input);
  }
  if (!loss_.empty()) arguments.pop_back();
  const c10::IValue output = module_.forward(std::move(arguments));
  if (!output.isTensor() || !output.toTensor().defined() ||
      (loss_.empty() && output.toTensor().numel() != 1)) {
    throw usage_error(fmt::format("model.torchscript {}: forward returned {}, expected {}", path_,
                                  output_text(output),
                                  loss_.empty() ? "the loss, a tensor with one value (or set model.loss)"
                                                : "a tensor to take the loss of"));
  }
  const torch::Tensor& result = output.toTensor();
  torch::Tensor value = loss_.empty()              ? result.reshape({}).to(torch::kFloat)
                        : loss_ == "cross_entropy" ? cross_entropy(result, batch.inputs.back())
                                                   : mean_square(result, batch.inputs.back());
  if (!value.requires_grad()) {
    throw usage_error(
        fmt::format("model.torchscript {}: forward returned {} without a gradient: no parameter that "
                    "requires one reaches it; "
                    "save the model without no_grad or detach",
                    path_, output_text(output)));
  }
  return value;
}

}  // namespace flopmark
