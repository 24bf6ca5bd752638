#pragma once

#include <torch/types.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "config/rank_place.h"
#include "config/run_config.h"
#include "data/loader.h"
#include "flopmark/flop_totals.h"
#include "flopmark/model.h"
#include "flops/observe/observer.h"
#include "measure/step.h"
#include "models/autocast.h"
#include "train/gradient_exchange.h"
#include "train/loss_scaler.h"

namespace flopmark {

/// How the step computes; from the config, already checked against the device.
struct StepOptions {
  torch::Device device = torch::kCPU;
  TrainConfig train;
  FlopObserver::Options counting = {};
  LossScaler::Options loss_scaling = {};  ///< fp16-mixed only
};

/// A real training step on LibTorch: loader, autocast, model, autograd, exchange between ranks, loss scaling,
/// clipping, optimizer.
class TorchStep : public TrainingStep {
 public:
  /// `exchange`: with the other ranks of the job.
  TorchStep(std::unique_ptr<TrainableModel> model, std::unique_ptr<Loader> loader, const StepOptions& options,
            std::unique_ptr<GradientExchange> exchange = std::make_unique<GradientExchange>());
  ~TorchStep() override;

  void begin_block(int64_t steps) override;
  void next_batch() override;
  void transfer() override;
  void forward() override;
  void backward() override;
  void update() override;
  BlockFacts end_block() override;
  void keep_batch() override;

  /// One whole untimed step (all micro-batches, none of them short) under the operator observer, without the
  /// exchange between ranks.
  FlopTotals count();
  /// Samples in the last counted step.
  int64_t counted_samples() const;
  /// From now on the loader's workers stand still outside of blocks, at once too.
  void pause_between_blocks();
  /// Batches the loader has ready; absent without workers.
  std::optional<int64_t> queue_depth() const;
  int64_t parameters() const;  ///< number of trainable values, shared ones once
  /// Off: steps compute as before but exchange nothing with other ranks, which drift apart. Outside of
  /// blocks.
  void set_exchange(bool on);
  ExchangeTimes exchange_times() const;     ///< of the last block
  std::string exchange_collective() const;  ///< as in CommunicationSamples; empty for one rank
  /// Everything that steps change: parameters, optimizer state, loss scale. A model's buffers are not known.
  std::vector<torch::Tensor> trained_state() const;
  /// Whether what the model read of the last batch held nothing but zeros; targets (the last of several
  /// tensors) aside, of which zeros are usual. False before the first batch. Waits for the device.
  bool read_only_zeros() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// The device a config names. @throws Error 200: unknown, or not present here.
torch::Device resolve_device(const std::string& name);

/// The GPU of one rank, where this process sees `count` of them: that of its local rank; the only one, where
/// a launcher may have given each process its own. Nothing where there are too few.
std::optional<int64_t> gpu_of_rank(const RankPlace& place, int64_t count);

/// The device of one rank of a job of several, given the config's: with auto and cuda its gpu_of_rank.
/// @throws Error 200: fewer GPUs than ranks on this host, or one GPU named for several ranks.
std::string rank_device(const std::string& name, const RankPlace& place);

/// Parameter dtype and the process-wide switches of a precision (TF32, attention kernels).
/// @throws Error 200: tf32 without a GPU.
torch::Dtype parameter_dtype(const std::string& precision);
void apply_precision(const TrainConfig& train, const torch::Device& device);

/// What the forward of a precision runs under: enabled for the mixed ones.
AutocastOptions autocast_options(const std::string& precision, torch::DeviceType device);
/// Whether gradients of this precision need a LossScaler: fp16's range is too small for them.
bool scales_loss(const std::string& precision);

/// fp32, tf32, bf16 or fp16: the peak row that matmuls run under.
std::string matmul_precision(const std::string& precision);

}  // namespace flopmark
