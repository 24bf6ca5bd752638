#pragma once

#include <algorithm>
#include <chrono>
#include <memory>
#include <thread>
#include <vector>

#include "data/loader.h"
#include "models/models.h"
#include "train/gradient_exchange.h"
#include "train/torch_step.h"
#include "unit/models/shapes.h"
#include "unit/train/rank_threads.h"

namespace flopmark::test {

inline constexpr int64_t kTextLength = 16;

/// 64 sequences of a text of period 7, each shifted by one.
class ShiftedText : public Dataset {
 public:
  int64_t size() const override { return 64; }
  Batch collate(const std::vector<size_t>& indices) const override {
    const auto count = static_cast<int64_t>(indices.size());
    auto text = torch::empty({count, kTextLength + 1}, torch::kLong);
    for (int64_t row = 0; row < count; ++row) {
      const auto first = static_cast<int64_t>(indices[static_cast<size_t>(row)]);
      text[row] =
          (torch::arange(kTextLength + 1) * (first % 5 + 1) + first).remainder(7).mul(31).add(first % 8);
    }
    return {{text.narrow(1, 0, kTextLength).contiguous(), text.narrow(1, 1, kTextLength).contiguous()},
            count,
            count * kTextLength,
            0};
  }
};

struct Training {
  int64_t ranks = 2;
  int64_t batch = 2, steps = 5;
  TrainConfig train = {};
  ParallelConfig parallel = {};
  ModelShape shape = tiny_llama();
};

struct Trained {
  std::vector<torch::Tensor> parameters;
  std::vector<double> losses;
  ExchangeTimes times;
  std::vector<double> in_backward_s;
};

/// Where a rank is slow.
struct Delays {
  std::chrono::milliseconds before_forward{0}, before_update{0};
};

/// Trains as one rank of `training.ranks`; alone where `group` is null, with the same batch per rank.
inline Trained train(const Training& training, RankGroup* group, int64_t batch, Delays delays = {}) {
  auto model = make_model(training.shape, {torch::kFloat, training.train.seed});
  Trained result;
  result.parameters = model->parameters();
  LoaderOptions options;
  options.batch_size = batch;
  options.workers = 0;
  options.seed = 3;
  if (group != nullptr) {
    options.rank = group->rank();
    options.ranks = group->ranks();
  }
  auto loader = std::make_unique<Loader>(std::make_shared<ShiftedText>(), options);
  auto exchange = group == nullptr
                      ? std::make_unique<GradientExchange>()
                      : make_exchange(*group, training.parallel, training.train, model->parameters());
  TorchStep step(std::move(model), std::move(loader),
                 StepOptions{.device = torch::kCPU, .train = training.train}, std::move(exchange));
  for (int64_t i = 0; i < training.steps; ++i) {
    step.begin_block(1);
    for (int64_t micro = 0; micro < training.train.gradient_accumulation; ++micro) {
      step.next_batch();
      std::this_thread::sleep_for(delays.before_forward);
      step.transfer();
      step.forward();
      step.backward();
    }
    std::this_thread::sleep_for(delays.before_update);
    step.update();
    const BlockFacts facts = step.end_block();
    result.losses.push_back(facts.losses.at(0));
    result.in_backward_s = facts.exchange_in_backward_s;
  }
  result.times = step.exchange_times();
  for (auto& parameter : result.parameters) parameter = parameter.detach().clone();
  return result;
}

/// Every rank's result.
inline std::vector<Trained> train_ranks(const Training& training, int64_t delayed_rank = -1,
                                        Delays delays = {}) {
  std::vector<Trained> all(static_cast<size_t>(training.ranks));
  run_ranks(training.ranks, [&](RankGroup& group) {
    all[static_cast<size_t>(group.rank())] =
        train(training, &group, training.batch, group.rank() == delayed_rank ? delays : Delays{});
  });
  return all;
}

inline double largest_difference(const std::vector<torch::Tensor>& a, const std::vector<torch::Tensor>& b) {
  double largest = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    largest = std::max(largest, (a.at(i) - b.at(i)).abs().max().item<double>());
  }
  return largest;
}

inline double largest_change(const Trained& trained, const Training& training) {
  return largest_difference(trained.parameters,
                            make_model(training.shape, {torch::kFloat, training.train.seed})->parameters());
}

}  // namespace flopmark::test
