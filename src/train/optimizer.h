#pragma once

#include <torch/types.h>

#include <functional>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "config/run_config.h"
#include "train/loss_scaler.h"

namespace flopmark {

/// Updates parameters in place from their gradients, with LibTorch's fused operators: one call for all that
/// are of one number type.
class Optimizer {
 public:
  virtual ~Optimizer() = default;

  /// One update of the parameters that have a gradient; never waits for the device. With a scaler their
  /// gradients are first divided by its scale; where one is not finite, the update changes nothing but the
  /// scale. Then their total norm is clipped to `clip_norm` where there is one.
  /// Returns, with a scaler, whether the update was left out: 1 or 0 in a float32 scalar on the device;
  /// undefined without a scaler or without gradients.
  torch::Tensor step(std::optional<double> clip_norm, LossScaler* scaler = nullptr);
  /// Lets the gradients go, as Python's set_to_none: backward then keeps what it computed instead of adding
  /// it to zeros, which saves two passes over the gradients.
  void clear_gradients();
  const std::vector<torch::Tensor>& parameters() const { return all_.parameters; }
  /// Momenta, step counters: what an update changes besides the parameters; each tensor once.
  std::vector<torch::Tensor> state() const;
  /// Of an optimizer that has a share of the parameters only: completes a sum of squares before clipping.
  void set_whole_square_sum(std::function<void(torch::Tensor&)> complete) {
    whole_square_sum_ = std::move(complete);
  }

 protected:
  /// Lists of equal length: entry i of each belongs to the same parameter.
  struct Columns {
    std::vector<torch::Tensor> parameters, gradients;
    std::vector<std::vector<torch::Tensor>> state;
  };

  /// `parameters` lie on one device; their state has their number types.
  Optimizer(std::vector<torch::Tensor> parameters, std::vector<std::vector<torch::Tensor>> state);
  /// All in `columns` are of one number type, as the fused operators want it (on a GPU they refuse others).
  /// Does nothing where `overflow`, if there is one, holds 1.
  virtual void update(const Columns& columns, const std::optional<torch::Tensor>& overflow) = 0;

 private:
  void group_by_type();
  void collect_gradients();
  torch::Tensor unscale(const LossScaler& scaler) const;

  Columns all_;                   ///< its gradients stay empty
  std::vector<size_t> group_of_;  ///< of each parameter: its place in now_
  std::vector<Columns> now_;  ///< a group per number type: the parameters that have a gradient in this step
  std::vector<torch::Tensor> gradients_;  ///< of all groups
  std::function<void(torch::Tensor&)> whole_square_sum_;
};

/// What is walked in memory from its first value to its last has no gaps and does not overlap itself.
/// @returns `parameters`. @throws Error 125 naming what to do.
const std::vector<torch::Tensor>& require_dense(const std::vector<torch::Tensor>& parameters);

/// SGD or AdamW with the formulas of torch.optim. @throws Error 200 for an unknown type.
std::unique_ptr<Optimizer> make_optimizer(const OptimizerConfig& config,
                                          std::vector<torch::Tensor> parameters);

}  // namespace flopmark
