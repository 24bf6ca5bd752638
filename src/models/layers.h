#pragma once

#include <ATen/ops/layer_norm.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/rms_norm.h>

#include <optional>
#include <string>

#include "flops/observe/module_scope.h"
#include "models/parameter_set.h"

namespace flopmark {

/// y = x W^T + b, W of shape [out, in]; b may be undefined.
struct Linear {
  torch::Tensor weight, bias;
  std::string path;  ///< in the model: layers.0.attention.wq
  torch::Tensor operator()(const torch::Tensor& x) const {
    const ModuleScope scope(path);
    return bias.defined() ? at::linear(x, weight, bias) : at::linear(x, weight);
  }
};

/// Sizes and initial values of a Linear. The bias starts at `bias` where there is one.
struct LinearOptions {
  int64_t in = 0, out = 0;
  InitialValue weight = InitialValue::normal(0.02);
  std::optional<InitialValue> bias = std::nullopt;
};

inline Linear make_linear(ParameterSet& parameters, const std::string& path, const LinearOptions& options) {
  Linear linear;
  linear.path = path;
  linear.weight = parameters.create(path + ".weight", {options.out, options.in}, options.weight);
  if (options.bias) {
    linear.bias = parameters.create(path + ".bias", {options.out}, *options.bias);
  }
  return linear;
}

/// Root-mean-square norm with a learned gain, eps 1e-5.
struct RmsNorm {
  torch::Tensor weight;
  torch::Tensor operator()(const torch::Tensor& x) const {
    return at::rms_norm(x, weight.sizes(), weight, 1e-5);
  }
};

inline RmsNorm make_rms_norm(ParameterSet& parameters, const std::string& path, int64_t size) {
  return {parameters.create(path + ".weight", {size}, InitialValue::constant(1))};
}

/// Layer norm with learned gain and bias.
struct LayerNorm {
  torch::Tensor weight, bias;
  double eps = 1e-5;
  torch::Tensor operator()(const torch::Tensor& x) const {
    return at::layer_norm(x, weight.sizes(), weight, bias, eps);
  }
};

inline LayerNorm make_layer_norm(ParameterSet& parameters, const std::string& path, int64_t size,
                                 double eps = 1e-5) {
  return {parameters.create(path + ".weight", {size}, InitialValue::constant(1)),
          parameters.create(path + ".bias", {size}, InitialValue::constant(0)), eps};
}

}  // namespace flopmark
