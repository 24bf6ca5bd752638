#pragma once

#include <torch/types.h>

#include <atomic>
#include <memory>
#include <vector>

#include "data/loader.h"
#include "models/models.h"
#include "train/torch_step.h"
#include "unit/models/shapes.h"

namespace flopmark::test {

inline constexpr int64_t kLength = 32;

/// Eight sequences of a text of period 7, each shifted by one.
class RepeatingText : public Dataset {
 public:
  int64_t size() const override { return 8; }
  Batch collate(const std::vector<size_t>& indices) const override {
    ++made;
    const auto count = static_cast<int64_t>(indices.size());
    auto text = torch::empty({count, kLength + 1}, torch::kLong);
    for (int64_t row = 0; row < count; ++row) {
      const auto first = static_cast<int64_t>(indices[static_cast<size_t>(row)]);
      text[row] = (torch::arange(kLength + 1) + first).remainder(7).mul(31).add(5);
    }
    return {{text.narrow(1, 0, kLength).contiguous(), text.narrow(1, 1, kLength).contiguous()},
            count,
            count * kLength,
            0};
  }

  mutable std::atomic<int64_t> made{0};
};

struct StepSetup {
  int64_t batch_size = 2;
  TrainConfig train = {};
  int64_t loader_workers = 0;
  bool drop_last = true;
  LossScaler::Options loss_scaling = {};
};

/// A step on tiny LLaMA, and the parameters it trains.
struct Trainer {
  std::vector<torch::Tensor> parameters;
  std::shared_ptr<RepeatingText> text = std::make_shared<RepeatingText>();
  std::unique_ptr<TorchStep> step;
  int64_t micro_batches;

  explicit Trainer(const StepSetup& setup) : micro_batches(setup.train.gradient_accumulation) {
    apply_precision(setup.train, torch::kCPU);
    auto model = make_model(tiny_llama(), {parameter_dtype(setup.train.precision), setup.train.seed});
    parameters = model->parameters();
    LoaderOptions options;
    options.batch_size = setup.batch_size;
    options.workers = setup.loader_workers;
    options.shuffle = false;
    options.drop_last = setup.drop_last;
    auto loader = std::make_unique<Loader>(text, options);
    step = std::make_unique<TorchStep>(
        std::move(model), std::move(loader),
        StepOptions{.device = torch::kCPU, .train = setup.train, .loss_scaling = setup.loss_scaling});
  }

  void micro_batch() {
    step->next_batch();
    step->transfer();
    step->forward();
    step->backward();
  }
  void whole_step() {
    for (int64_t i = 0; i < micro_batches; ++i) {
      micro_batch();
    }
    step->update();
  }
  BlockFacts train(int64_t steps) {
    step->begin_block(steps);
    for (int64_t i = 0; i < steps; ++i) {
      whole_step();
    }
    return step->end_block();
  }
};

}  // namespace flopmark::test
