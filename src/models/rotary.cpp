#include "models/rotary.h"

#include <ATen/ops/arange.h>
#include <ATen/ops/pow.h>
#include <ATen/ops/stack.h>
#include <ATen/ops/view_as_complex.h>
#include <ATen/ops/view_as_real.h>
#include <c10/core/GradMode.h>

namespace flopmark {

torch::Tensor Rotary::rotations(int64_t length, const torch::Device& device) {
  if (!table_.defined() || table_.size(0) < length || table_.device() != device) {
    const c10::AutoGradMode no_grad(false);
    const auto options = torch::TensorOptions(device).dtype(torch::kFloat);
    const auto exponents = at::arange(0, head_size_, 2, options) / static_cast<double>(head_size_);
    const auto angles = at::arange(length, options).unsqueeze(1) * at::pow(10000.0, -exponents);
    table_ = at::view_as_complex(at::stack({angles.cos(), angles.sin()}, -1)).unsqueeze(1);
  }
  return table_.narrow(0, 0, length);
}

torch::Tensor Rotary::apply(const torch::Tensor& x, const torch::Tensor& rotations) {
  const auto paired = x.to(torch::kFloat).view({x.size(0), x.size(1), x.size(2), -1, 2});
  return at::view_as_real(at::view_as_complex(paired) * rotations).view(x.sizes()).to(x.scalar_type());
}

}  // namespace flopmark
