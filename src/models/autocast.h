#pragma once

#include <torch/types.h>

namespace flopmark {

struct AutocastOptions {
  torch::DeviceType device = torch::kCPU;
  bool enabled = false;
  torch::Dtype dtype = torch::kBFloat16;

  /// What this thread has now; off for a device that has no autocast, such as meta.
  static AutocastOptions current(torch::DeviceType device);
};

/// Autocast in this thread while it is alive, as Python's `torch.autocast`: to be left before backward, which
/// drops the cached casts of the parameters (they would be stale after the optimizer).
class AutocastGuard {
 public:
  explicit AutocastGuard(const AutocastOptions& options);
  ~AutocastGuard();
  AutocastGuard(const AutocastGuard&) = delete;
  AutocastGuard& operator=(const AutocastGuard&) = delete;

 private:
  torch::DeviceType device_;
  bool enabled_before_;
  torch::Dtype dtype_before_;
};

}  // namespace flopmark
