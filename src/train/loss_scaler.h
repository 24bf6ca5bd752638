#pragma once

#include <torch/types.h>

#include <cstdint>
#include <vector>

namespace flopmark {

/// Keeps small gradients out of fp16's underflow: backward starts from a large number instead of 1, and the
/// gradients are divided by it before the update (Micikevicius et al. 2018, arXiv:1710.03740, section 3.2).
/// The scale grows after `interval` updates in a row without an overflow, and is cut after each with one, as
/// torch.amp.GradScaler does, with its operators and defaults. Everything stays on the device: nothing here
/// waits for it but scale().
class LossScaler {
 public:
  struct Options {
    double initial = 65536, growth = 2, backoff = 0.5;  ///< the last two: factors of the scale
    int64_t interval = 2000;
  };
  LossScaler(const torch::Device& device, const Options& options);

  /// `start`, a float32 scalar, times the scale.
  torch::Tensor scaled(const torch::Tensor& start) const { return start * scale_; }
  /// Divides `gradients` by the scale in place. Returns 1 where a value of them is not finite, else 0: a
  /// float32 scalar on the device. `gradients` must not be empty.
  torch::Tensor unscale(at::TensorList gradients) const;
  /// The next step's scale, from what unscale() returned for this one.
  void update(const torch::Tensor& overflow);
  /// Waits for the device.
  double scale() const { return scale_.item<double>(); }
  /// What update() changes.
  std::vector<torch::Tensor> state() const { return {scale_, growth_tracker_}; }

 private:
  Options options_;
  torch::Tensor scale_, growth_tracker_;
};

}  // namespace flopmark
