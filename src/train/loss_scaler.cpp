#include "train/loss_scaler.h"

#include <ATen/ops/_amp_foreach_non_finite_check_and_unscale.h>
#include <ATen/ops/_amp_update_scale.h>
#include <ATen/ops/full.h>
#include <ATen/ops/zeros.h>

namespace flopmark {

LossScaler::LossScaler(const torch::Device& device, const Options& options)
    : options_(options),
      scale_(at::full({}, options.initial, torch::TensorOptions(device).dtype(torch::kFloat))),
      growth_tracker_(at::zeros({}, torch::TensorOptions(device).dtype(torch::kInt))) {}

torch::Tensor LossScaler::unscale(at::TensorList gradients) const {
  auto overflow = at::zeros({}, scale_.options());
  at::_amp_foreach_non_finite_check_and_unscale_(gradients, overflow, scale_.reciprocal());
  return overflow;
}

void LossScaler::update(const torch::Tensor& overflow) {
  at::_amp_update_scale_(scale_, growth_tracker_, overflow, options_.growth, options_.backoff,
                         options_.interval);
}

}  // namespace flopmark
