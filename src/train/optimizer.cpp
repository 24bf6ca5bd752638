#include "train/optimizer.h"

#include <ATen/ops/_fused_adamw.h>
#include <ATen/ops/_fused_sgd.h>
#include <ATen/ops/maximum.h>
#include <ATen/ops/zeros.h>
#include <ATen/ops/zeros_like.h>
#include <c10/core/GradMode.h>
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <unordered_set>

#include "flopmark/error.h"
#include "train/gradient_clip.h"

namespace flopmark {

const std::vector<torch::Tensor>& require_dense(const std::vector<torch::Tensor>& parameters) {
  for (const auto& parameter : parameters) {
    if (parameter.is_non_overlapping_and_dense()) continue;
    throw judge_error(
        "a parameter of the model overlaps itself or has gaps in memory, and cannot be trained in place; "
        "save the model with contiguous parameters");
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

/// One step counter in as many entries as the operator wants: all parameters of one number type share it.
TensorVector shared_counters(const TensorVector& parameters) {
  std::map<torch::Dtype, torch::Tensor> counters;
  TensorVector entries;
  for (const auto& parameter : parameters) {
    torch::Tensor& counter = counters[parameter.scalar_type()];
    if (!counter.defined()) {
      counter = at::zeros({}, torch::TensorOptions(parameter.device()).dtype(torch::kFloat));
    }
    entries.push_back(counter);
  }
  return entries;
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
                  {zeros_like_each(parameters), zeros_like_each(parameters), shared_counters(parameters)}),
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
  gradients_.reserve(all_.parameters.size());
  group_by_type();
}

void Optimizer::group_by_type() {
  std::map<torch::Dtype, size_t> places;
  for (const auto& parameter : all_.parameters) {
    const size_t place = places.emplace(parameter.scalar_type(), places.size()).first->second;
    group_of_.push_back(place);
  }
  now_.resize(places.size());
  for (size_t place = 0; place < now_.size(); ++place) {
    const auto members = static_cast<size_t>(std::count(group_of_.begin(), group_of_.end(), place));
    now_[place].parameters.reserve(members);
    now_[place].gradients.reserve(members);
    now_[place].state.resize(all_.state.size());
    for (auto& column : now_[place].state) column.reserve(members);
  }
}

void Optimizer::collect_gradients() {
  gradients_.clear();
  for (auto& group : now_) {
    group.parameters.clear();
    group.gradients.clear();
    for (auto& column : group.state) column.clear();
  }
  for (size_t i = 0; i < all_.parameters.size(); ++i) {
    const auto& gradient = all_.parameters[i].grad();
    if (!gradient.defined()) {
      continue;  // not used by this batch
    }
    auto& group = now_[group_of_[i]];
    gradients_.push_back(gradient);
    group.parameters.push_back(all_.parameters[i]);
    group.gradients.push_back(gradient);
    for (size_t j = 0; j < group.state.size(); ++j) group.state[j].push_back(all_.state[j][i]);
  }
}

/// 1 where a gradient of any type is not finite.
torch::Tensor Optimizer::unscale(const LossScaler& scaler) const {
  torch::Tensor overflow;
  for (const auto& group : now_) {
    if (group.gradients.empty()) continue;
    const auto found = scaler.unscale(group.gradients);
    overflow = overflow.defined() ? at::maximum(overflow, found) : found;
  }
  return overflow;
}

torch::Tensor Optimizer::step(std::optional<double> clip_norm, LossScaler* scaler) {
  const c10::AutoGradMode no_grad(false);
  collect_gradients();
  if (gradients_.empty()) {
    return {};
  }
  std::optional<torch::Tensor> overflow;
  if (scaler != nullptr) {
    overflow = unscale(*scaler);
  }
  if (clip_norm) {
    clip_gradients(gradients_, *clip_norm, whole_square_sum_);
  }
  for (const auto& group : now_) {
    if (!group.gradients.empty()) update(group, overflow);
  }
  if (scaler == nullptr) {
    return {};
  }
  scaler->update(*overflow);
  return *overflow;
}

std::vector<torch::Tensor> Optimizer::state() const {
  std::vector<torch::Tensor> tensors;
  std::unordered_set<const c10::TensorImpl*> listed;  // counters are shared
  for (const auto& column : all_.state) {
    for (const auto& tensor : column) {
      if (listed.insert(tensor.unsafeGetTensorImpl()).second) tensors.push_back(tensor);
    }
  }
  return tensors;
}

void Optimizer::clear_gradients() {
  gradients_.clear();
  for (auto& group : now_) group.gradients.clear();
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
