#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <stdexcept>

#include "measure/samples.h"
#include "measure/step.h"
#include "measure/temperature_watch.h"

namespace flopmark {

/// Where a launch is; written by the loop, read by the progress thread and the crash handler.
/// Lock-free, so that a signal handler may read it.
struct LoopState {
  enum class Stage : int { load, warmup, timed, cached, count, save };
  std::atomic<Stage> stage{Stage::load};
  std::atomic<int64_t> step{0};   ///< the step being run, from 1; 0 before the first
  std::atomic<int64_t> steps{0};  ///< planned in this stage; 0 = open-ended
  std::atomic<bool> stop{false};  ///< set from outside: finish the present step and return
};

/// load, warmup, timed, cached (see cached_pass.h), count, save.
const char* stage_name(LoopState::Stage stage);

/// The loss of `step` (from 1) of `stage` is not finite.
struct NanLoss : std::runtime_error {
  NanLoss(LoopState::Stage stage, int64_t step, double loss);
  LoopState::Stage stage;
  int64_t step;
  double loss;
};

/// How many steps, each of how many micro-batches; both at least 1.
struct BlockOptions {
  int64_t steps = 1;
  int64_t micro_batches = 1;  ///< gradient accumulation
  int64_t steps_before = 0;   ///< timed steps of earlier blocks: LoopState and NanLoss count on from there
  LoopState::Stage stage = LoopState::Stage::timed;
};

/// Runs and times up to `steps` steps without synchronizing in between; the device is synchronized before the
/// first and after the last. Between its fences this code does not allocate, print, log, or branch on
/// options, and places one mark per phase and one per step. Sets the stage; after an exception
/// `state` tells the step.
/// @throws NanLoss after the block if a step's loss was not finite; what the step itself throws;
/// std::invalid_argument for options below 1.
BlockSamples run_block(TrainingStep& step, Marker& marker, Clock& clock, const BlockOptions& options,
                       LoopState& state);

/// When warm-up may end. At least `min_steps` steps and `min_s` seconds, whatever the limits say; from then
/// on until the step time is steady and the temperature has settled (see temperature_watch.h), or `max_steps`
/// or `max_s` is reached. Steps may be short and a device warms slowly: while only the temperature moves,
/// `max_steps` does not count.
struct WarmupOptions {
  int64_t min_steps = 10, max_steps = 200;
  double min_s = 0, max_s = 120;  ///< host clock; min_s is 30 on a GPU
  int64_t micro_batches = 1;
  Thermometer* thermometer = nullptr;  ///< not owned; null: no temperature to wait for. Read twice a second.
  /// Of a job of several ranks: called after each step with whether this rank would end; whether all would.
  /// Then all take equally many steps. Null: alone.
  std::function<bool(bool)> all_agree = nullptr;
};

/// Steps until the step time is steady (see warmup_detector.h), synchronizing after each; times are the
/// host's. Sets the stage to `warmup`. At a limit with fewer steps than the detector wants, what there is is
/// judged.
/// @throws NanLoss at once if a loss is not finite; what the step itself throws.
WarmupSamples run_warmup(TrainingStep& step, Marker& marker, Clock& clock, const WarmupOptions& options,
                         LoopState& state);

}  // namespace flopmark
