#pragma once

#include <torch/types.h>

#include <memory>
#include <optional>
#include <vector>

#include "config/run_config.h"

namespace flopmark {

/// Updates parameters in place from their gradients, with LibTorch's fused operators: one call for all of
/// them.
class Optimizer {
 public:
  virtual ~Optimizer() = default;

  /// One update of the parameters that have a gradient; never waits for the device. The total norm of the
  /// gradients is first clipped to `clip_norm` where there is one.
  void step(std::optional<double> clip_norm);
  /// Lets the gradients go, as Python's set_to_none: backward then keeps what it computed instead of adding
  /// it to zeros, which saves two passes over the gradients.
  void clear_gradients();
  const std::vector<torch::Tensor>& parameters() const { return all_.parameters; }

 protected:
  /// Lists of equal length: entry i of each belongs to the same parameter.
  struct Columns {
    std::vector<torch::Tensor> parameters, gradients;
    std::vector<std::vector<torch::Tensor>> state;
  };

  /// `parameters` lie on one device and have one dtype; so has the state, as the fused operators want it.
  Optimizer(std::vector<torch::Tensor> parameters, std::vector<std::vector<torch::Tensor>> state);
  virtual void update(const Columns& columns) = 0;

 private:
  void collect_gradients();

  Columns all_;  ///< its gradients stay empty
  Columns now_;  ///< of the parameters that have a gradient in this step
};

/// SGD or AdamW with the formulas of torch.optim. @throws Error 200 for an unknown type.
std::unique_ptr<Optimizer> make_optimizer(const OptimizerConfig& config,
                                          std::vector<torch::Tensor> parameters);

}  // namespace flopmark
