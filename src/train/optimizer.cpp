#include "train/optimizer.h"

#include <ATen/ops/_fused_adamw.h>
#include <ATen/ops/_fused_sgd.h>
#include <ATen/ops/zeros.h>
#include <ATen/ops/zeros_like.h>
#include <c10/core/GradMode.h>
#include <fmt/format.h>

#include "flopmark/error.h"
#include "train/gradient_clip.h"

namespace flopmark {

const std::vector<torch::Tensor>& require_dense(const std::vector<torch::Tensor>& parameters) {
  for (const auto& parameter : parameters) {
    if (parameter.is_non_overlapping_and_dense()) continue;
    throw judge_error(
        "a parameter of the model overlaps itself or has gaps in memory, and cannot be trained in place; "
        "save "
        "the model with contiguous parameters");
  }
  return parameters;
}

namespace {

using TensorVector = std::vector<torch::Tensor>;

TensorVector zeros_like_each(const TensorVector& parameters) {
  const c10::AutoGradMode no_grad(false);
  TensorVector zeros;
  for (const auto& parameter : parameters) {
    zeros.push_back(at::zeros_like(parameter));
  }
  return zeros;
}

/// One step counter in as many entries as the operator wants: all parameters share it.
TensorVector shared_counter(const TensorVector& parameters) {
  const auto device = parameters.empty() ? torch::Device(torch::kCPU) : parameters.front().device();
  return TensorVector(parameters.size(), at::zeros({}, torch::TensorOptions(device).dtype(torch::kFloat)));
}

/// torch.optim.SGD: d = g + weight_decay w; m = momentum m + d; w -= lr m.
class Sgd : public Optimizer {
 public:
  Sgd(const OptimizerConfig& config, const TensorVector& parameters)
      : Optimizer(require_dense(parameters), momentum_state(config, parameters)), config_(config) {}

 private:
  static std::vector<TensorVector> momentum_state(const OptimizerConfig& config,
                                                  const TensorVector& parameters) {
    std::vector<TensorVector> state;
    if (config.momentum != 0) {
      state.push_back(zeros_like_each(parameters));
    }
    return state;
  }
  void update(const Columns& columns, const std::optional<torch::Tensor>& overflow) override {
    const auto momentum = columns.state.empty() ? at::TensorList() : at::TensorList(columns.state.front());
    // Buffers start as zeros, so the first step is no special case.
    at::_fused_sgd_(columns.parameters, columns.gradients, momentum, config_.weight_decay, config_.momentum,
                    config_.lr, /*dampening=*/0, /*nesterov=*/false, /*maximize=*/false,
                    /*is_first_step=*/false, /*grad_scale=*/{}, overflow);
  }

  OptimizerConfig config_;
};

/// torch.optim.AdamW (Loshchilov and Hutter 2019, arXiv:1711.05101), weight decay decoupled from the
/// gradient.
class AdamW : public Optimizer {
 public:
  AdamW(const OptimizerConfig& config, const TensorVector& parameters)
      : Optimizer(require_dense(parameters),
                  {zeros_like_each(parameters), zeros_like_each(parameters), shared_counter(parameters)}),
        config_(config) {}

 private:
  void update(const Columns& columns, const std::optional<torch::Tensor>& overflow) override {
    const auto& steps = columns.state[2];
    steps.front().add_(1);  // before the call: the operator divides by 1 - beta^step
    at::_fused_adamw_(columns.parameters, columns.gradients, columns.state[0], columns.state[1],
                      /*max_exp_avg_sqs=*/{}, steps, config_.lr, config_.beta1, config_.beta2,
                      config_.weight_decay, config_.eps, /*amsgrad=*/false, /*maximize=*/false,
                      /*grad_scale=*/{}, overflow);
    if (overflow) steps.front().sub_(*overflow);  // a step that was left out is none
  }

  OptimizerConfig config_;
};

}  // namespace

Optimizer::Optimizer(TensorVector parameters, std::vector<TensorVector> state) {
  all_.parameters = std::move(parameters);
  all_.state = std::move(state);
  now_.parameters.reserve(all_.parameters.size());
  now_.gradients.reserve(all_.parameters.size());
  now_.state.resize(all_.state.size());
  for (auto& column : now_.state) {
    column.reserve(all_.parameters.size());
  }
}

void Optimizer::collect_gradients() {
  now_.parameters.clear();
  now_.gradients.clear();
  for (auto& column : now_.state) {
    column.clear();
  }
  for (size_t i = 0; i < all_.parameters.size(); ++i) {
    const auto& gradient = all_.parameters[i].grad();
    if (!gradient.defined()) {
      continue;  // not used by this batch
    }
    now_.parameters.push_back(all_.parameters[i]);
    now_.gradients.push_back(gradient);
    for (size_t j = 0; j < now_.state.size(); ++j) {
      now_.state[j].push_back(all_.state[j][i]);
    }
  }
}

torch::Tensor Optimizer::step(std::optional<double> clip_norm, LossScaler* scaler) {
  const c10::AutoGradMode no_grad(false);
  collect_gradients();
  if (now_.gradients.empty()) {
    return {};
  }
  std::optional<torch::Tensor> overflow;
  if (scaler != nullptr) {
    overflow = scaler->unscale(now_.gradients);
  }
  if (clip_norm) {
    clip_gradients(now_.gradients, *clip_norm, whole_square_sum_);
  }
  update(now_, overflow);
  if (scaler == nullptr) {
    return {};
  }
  scaler->update(*overflow);
  return *overflow;
}

std::vector<torch::Tensor> Optimizer::state() const {
  std::vector<torch::Tensor> tensors;
  for (const auto& column : all_.state) {
    for (const auto& tensor : column) {
      if (tensors.empty() || !tensors.back().is_same(tensor))
        tensors.push_back(tensor);  // a counter is shared
    }
  }
  return tensors;
}

void Optimizer::clear_gradients() {
  now_.gradients.clear();
  for (auto& parameter : all_.parameters) {
    parameter.mutable_grad().reset();
  }
}

std::unique_ptr<Optimizer> make_optimizer(const OptimizerConfig& config, TensorVector parameters) {
  if (config.type == "sgd") {
    return std::make_unique<Sgd>(config, parameters);
  }
  if (config.type == "adamw") {
    return std::make_unique<AdamW>(config, parameters);
  }
  throw usage_error(fmt::format("train.optimizer.type: unknown \"{}\"; known are sgd, adamw", config.type));
}

}  // namespace flopmark
