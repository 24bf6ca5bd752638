#pragma once

#include <ATen/ops/batch_norm.h>
#include <ATen/ops/conv2d.h>
#include <ATen/ops/dropout.h>
#include <ATen/ops/layer_norm.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/rms_norm.h>

#include <cmath>
#include <optional>
#include <string>

#include "flops/observe/module_scope.h"
#include "models/checkpoint.h"
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

/// Convolution over images [B, C, H, W] without bias, reaching over the border by half its size.
struct Convolution2d {
  torch::Tensor weight;  ///< [out, in / groups, kernel, kernel]
  int64_t stride = 1, groups = 1;
  std::string path;
  torch::Tensor operator()(const torch::Tensor& x) const {
    const ModuleScope scope(path);
    return at::conv2d(x, weight, /*bias=*/{}, stride, weight.size(2) / 2, /*dilation=*/1, groups);
  }
};

/// Channels in and out, height and width of the kernel, stride; groups of channels that do not see each other
/// (as many as channels: depthwise).
struct ConvolutionOptions {
  int64_t in = 0, out = 0, kernel = 1, stride = 1, groups = 1;
};

/// Starts as He et al. 2015, arXiv:1502.01852: normal with a deviation of sqrt(2 / (out / groups x
/// kernel^2)).
inline Convolution2d make_convolution(ParameterSet& parameters, const std::string& path,
                                      const ConvolutionOptions& options) {
  const auto fan_out = static_cast<double>(options.out / options.groups * options.kernel * options.kernel);
  return {parameters.create(path + ".weight",
                            {options.out, options.in / options.groups, options.kernel, options.kernel},
                            InitialValue::normal(std::sqrt(2.0 / fan_out))),
          options.stride, options.groups, path};
}

/// Batch norm over images in train mode (Ioffe and Szegedy 2015, arXiv:1502.03167): normalises with the
/// batch's own mean and variance, and moves the running ones a tenth of the way towards them, once per step:
/// not when a checkpointed block runs again. eps 1e-5.
struct BatchNorm {
  torch::Tensor weight, bias;
  torch::Tensor running_mean, running_variance;  ///< no parameters
  torch::Tensor operator()(const torch::Tensor& x) const {
    const bool again = is_running_again();
    return at::batch_norm(x, weight, bias, again ? torch::Tensor() : running_mean,
                          again ? torch::Tensor() : running_variance, /*training=*/true,
                          /*momentum=*/0.1, /*eps=*/1e-5, /*cudnn_enabled=*/true);
  }
};

inline BatchNorm make_batch_norm(ParameterSet& parameters, const std::string& path, int64_t size) {
  const auto statistics = parameters.options().requires_grad(false);
  return {parameters.create(path + ".weight", {size}, InitialValue::constant(1)),
          parameters.create(path + ".bias", {size}, InitialValue::constant(0)),
          torch::zeros({size}, statistics), torch::ones({size}, statistics)};
}

/// A convolution and the batch norm behind it.
struct NormedConvolution {
  Convolution2d convolution;
  BatchNorm norm;
  torch::Tensor operator()(const torch::Tensor& x) const { return norm(convolution(x)); }
};

inline NormedConvolution make_normed_convolution(ParameterSet& parameters, const std::string& path,
                                                 const std::string& norm_path,
                                                 const ConvolutionOptions& options) {
  NormedConvolution part;
  part.convolution = make_convolution(parameters, path, options);
  part.norm = make_batch_norm(parameters, norm_path, options.out);
  return part;
}

/// Dropout in train mode (Srivastava et al. 2014); of probability 0 it draws nothing.
struct Dropout {
  double probability = 0;
  torch::Tensor operator()(const torch::Tensor& x) const {
    return probability > 0 ? at::dropout(x, probability, /*train=*/true) : x;
  }
};

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
