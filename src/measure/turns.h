#pragma once

#include "measure/step_loop.h"

namespace flopmark {

/// One turn of a launch that takes turns with another on the same machine.
struct TurnOptions {
  int64_t steps = 1;           ///< timed
  int64_t micro_batches = 1;   ///< gradient accumulation
  int64_t steps_before = 0;    ///< timed steps of earlier turns
  bool discard_first = false;  ///< an untimed step first: the other's turn has left a device's caches cold
  LoopState::Stage stage = LoopState::Stage::timed;
};

/// Runs one turn: the timed steps in a block of their own. Stopped in the discarded step: a block without
/// steps.
/// @throws as run_block.
BlockSamples run_turn(TrainingStep& step, Marker& marker, Clock& clock, const TurnOptions& options,
                      LoopState& state);

/// Adds a later block: its steps follow, its totals add up.
void append(BlockSamples& all, const BlockSamples& more);

}  // namespace flopmark
