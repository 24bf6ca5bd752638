#include "models/model_loss.h"

#include <ATen/ops/cross_entropy_loss.h>
#include <ATen/ops/mse_loss.h>
#include <fmt/format.h>

#include "flopmark/error.h"

namespace flopmark {
namespace {

/// What a model gave back, in words.
std::string output_text(const c10::IValue& output) {
  if (output.isTensor()) {
    return output.toTensor().defined() ? "a tensor " + sizes_text(output.toTensor()) : "an undefined tensor";
  }
  return "a value of type " + output.type()->str().substr(0, 100);
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

}  // namespace

std::string sizes_text(const torch::Tensor& tensor) {
  return fmt::format("{} {}", c10::toString(tensor.scalar_type()), c10::str(tensor.sizes()));
}

void cast_floating(torch::Tensor tensor, torch::Dtype dtype) {
  if (tensor.defined() && tensor.is_floating_point() && tensor.scalar_type() != dtype) {
    tensor.set_data(tensor.to(dtype));
  }
}

torch::Tensor loss_of(const c10::IValue& output, const std::string& loss, const Batch& batch,
                      const std::string& place) {
  if (!output.isTensor() || !output.toTensor().defined() ||
      (loss.empty() && output.toTensor().numel() != 1)) {
    throw usage_error(fmt::format("{}: forward returned {}, expected {}", place, output_text(output),
                                  loss.empty() ? "the loss, a tensor with one value (or set model.loss)"
                                               : "a tensor to take the loss of"));
  }
  const torch::Tensor& result = output.toTensor();
  torch::Tensor value = loss.empty()              ? result.reshape({}).to(torch::kFloat)
                        : loss == "cross_entropy" ? cross_entropy(result, batch.inputs.back())
                                                  : mean_square(result, batch.inputs.back());
  if (!value.requires_grad()) {
    throw usage_error(
        fmt::format("{}: forward returned {} without a gradient: no parameter that requires one reaches it; "
                    "save the model without no_grad or detach",
                    place, output_text(output)));
  }
  return value;
}

}  // namespace flopmark
