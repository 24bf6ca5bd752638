#include "measure/cached_pass.h"

#include "measure/turns.h"

namespace flopmark {

BlockSamples run_cached_pass(TrainingStep& step, Marker& marker, Clock& clock, const BlockOptions& options,
                             LoopState& state) try {
  step.keep_batch();
  return run_turn(step, marker, clock,
                  {.steps = options.steps,
                   .micro_batches = options.micro_batches,
                   .steps_before = options.steps_before,
                   .discard_first = true},
                  state);
} catch (const NanLoss& nan) {
  throw NanLoss(nan.stage, nan.step - options.steps_before, nan.loss, kCachedSteps);
}

}  // namespace flopmark
