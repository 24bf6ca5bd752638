#pragma once

#include <memory>
#include <vector>

#include "config/run_config.h"
#include "hardware/nvml.h"
#include "measure/host_marker.h"
#include "measure/samples.h"
#include "measure/step_loop.h"
#include "train/torch_step.h"
#include "worker/channel.h"
#include "worker/control.h"
#include "worker/job.h"
#include "worker/rank_job.h"

namespace flopmark {

/// Which attention ran, told from the operators that were counted: fused, unfused, none. A model from a file
/// may multiply batches of matrices for other reasons than attention; then it is not known: empty.
std::string attention_kernel(const FlopTotals& totals, const ModelShape& shape);

/// A job on the way through one launch: warm-up, timed steps, counted step. What is found lies in samples().
class MeasuredJob {
 public:
  /// Loads data and model. `ranks`: of a job of several, which then agree; null: alone. All arguments outlive
  /// it.
  MeasuredJob(const RunConfig& config, const ModelMaker& maker, LoopState& state, RankJob* ranks = nullptr);
  ~MeasuredJob();

  void warm_up(int64_t least_steps = 0);
  /// With measure.loader both the second pass, too: what ends that one, after timed steps that are whole, is
  /// left in samples().failure.
  void time_steps();
  /// Waits for the front-end's turns, runs them, and returns when it gives no more. Nothing of this process
  /// runs in between: no loader, no sampler, no progress. Conditions are read at the end of each turn, off
  /// its clock.
  void take_turns(Orders& orders, Channel& channel);
  void count_flops();
  /// Of a job of several ranks: brings their samples together.
  void join_ranks();

  LaunchSamples& samples() { return samples_; }

 private:
  void note_exchange();
  void time_exposed_exchange();
  void time_cached_steps();
  TurnSamples take_turn(int64_t steps);
  double usual_step_s() const;

  const RunConfig& config_;
  LoopState& state_;
  RankJob* ranks_;
  torch::Device device_ = torch::kCPU;
  SteadyClock clock_;
  LaunchSamples samples_;
  RankSamples own_;  ///< of a job of several: this rank's
  std::unique_ptr<TorchStep> step_;
  std::unique_ptr<Marker> marker_;
  std::unique_ptr<NvmlDevice> sensors_;
};

}  // namespace flopmark
