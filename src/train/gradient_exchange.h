#pragma once

#include <torch/types.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "config/run_config.h"
#include "measure/step.h"
#include "train/exchange_log.h"
#include "train/rank_group.h"

namespace flopmark {

/// Means per step of the last block, of this rank.
struct ExchangeTimes {
  double compute_s = 0, total_s = 0, exposed_s = 0;  ///< see ExchangeLog; exposed: in backward and in update
  int64_t bytes = 0;                                 ///< of the buffers handed to collectives in one step
};

/// What passes between the ranks of a job in a training step, where in the step. This one is that of a rank
/// alone: nothing does. Its calls follow TrainingStep's; whatever waits for others throws PeerLost where they
/// fail.
class GradientExchange {
 public:
  virtual ~GradientExchange() = default;

  /// What the optimizer keeps state of and updates, given the model's parameters.
  virtual std::vector<torch::Tensor> updated(const std::vector<torch::Tensor>& parameters) {
    return parameters;
  }
  /// Makes the sum of squares of own gradients that of the whole model's; null where they are the same.
  virtual std::function<void(torch::Tensor&)> whole_square_sum() { return nullptr; }
  /// By how much gradients and losses of one rank count.
  virtual double share() const { return 1; }

  virtual void begin_block(int64_t /*steps*/) {}
  virtual void begin_step() {}
  virtual void before_forward(bool /*last*/) {}  ///< last: the step's last micro-batch
  /// Runs backward from `loss` with the gradient `start`; after the last micro-batch the parameters'
  /// gradients are those of all ranks.
  virtual void backward(const torch::Tensor& loss, const torch::Tensor& start, bool /*last*/) {
    loss.backward(start);
  }
  virtual void after_update() {}
  virtual void end_step() {}
  /// Makes losses those of all ranks, and adds the times of `steps` finished steps. Off the clock.
  virtual void end_block(int64_t /*steps*/, BlockFacts& /*facts*/) {}

  /// Off: steps compute as before but exchange nothing, so that the ranks drift apart. Not within a block.
  virtual void set_on(bool /*on*/) {}
  virtual ExchangeTimes times() const { return {}; }
  virtual std::string collective() const { return ""; }  ///< as in CommunicationSamples
};

/// The exchange between the ranks of `group`, which is connected and outlives it, for a model with these
/// parameters. `checkpoints`: blocks of the model run forward again in backward.
/// @throws Error 200: zero2 with fp16-mixed.
std::unique_ptr<GradientExchange> make_exchange(RankGroup& group, const ParallelConfig& parallel,
                                                const TrainConfig& train,
                                                const std::vector<torch::Tensor>& parameters);

/// What both kinds of exchange do alike: losses, times.
class RankExchange : public GradientExchange {
 public:
  double share() const override { return 1.0 / static_cast<double>(group_.ranks()); }
  void begin_step() override { log_->begin_step(); }
  void end_step() override { log_->end_step(); }
  void end_block(int64_t steps, BlockFacts& facts) override;
  void set_on(bool on) override { on_ = on; }
  ExchangeTimes times() const override { return times_; }

 protected:
  RankExchange(RankGroup& group, const torch::Device& device)
      : group_(group), log_(std::make_shared<ExchangeLog>(device)) {}
  /// All ranks begin the block together.
  void begin_together(int64_t steps, int64_t collectives);

  RankGroup& group_;
  std::shared_ptr<ExchangeLog> log_;  ///< shared with collectives under way, which may outlive a failure
  bool on_ = true;
  int64_t bytes_ = 0;  ///< of one step

 private:
  ExchangeTimes times_;
};

}  // namespace flopmark
