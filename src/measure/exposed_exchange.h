#pragma once

#include <functional>

#include "measure/step_loop.h"

namespace flopmark {

struct ExposedOptions {
  int64_t steps = 5;  ///< of each of eight runs
  int64_t micro_batches = 1;
  int64_t steps_before = 0;                ///< as BlockOptions
  std::function<void(bool)> set_exchange;  ///< turns the exchange between ranks on and off
};

/// Median step of this rank, seconds.
struct ExposedTimes {
  double with_s = 0, without_s = 0;
};

/// Times steps with and without the exchange between ranks, in eight short runs by turns (with, without,
/// without, with, twice), so that a drift meets both alike; the exchange is on at the end. Steps without it
/// make the ranks drift apart: the caller puts back what was trained. @throws as run_block.
ExposedTimes time_exposed_exchange(TrainingStep& step, Marker& marker, Clock& clock,
                                   const ExposedOptions& options, LoopState& state);

}  // namespace flopmark
