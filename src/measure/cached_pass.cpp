#include "measure/cached_pass.h"

#include "measure/turns.h"

namespace flopmark {

BlockSamples run_cached_pass(TrainingStep& step, Marker& marker, Clock& clock, const BlockOptions& options,
                             LoopState& state) {
  step.keep_batch();
  return run_turn(step, marker, clock,
                  {.steps = options.steps,
                   .micro_batches = options.micro_batches,
                   .discard_first = true,
                   .stage = LoopState::Stage::cached},
                  state);
}

}  // namespace flopmark
